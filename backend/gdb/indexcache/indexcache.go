// Package indexcache keeps the indexes that gdbs make of programs, so that the next gdb need not
// read all symbols again (GDB manual, Index Files Speed Up GDB).
//
// gdb gives an index its final name before it has written the end of it (seen by strace with 13.1,
// 16.3 and 18.1). Another gdb that maps it then reads beyond its end and crashes, and if the first
// one is killed in between, each later gdb crashes. So every gdb has a directory of its own, with
// links to the indexes of the cache; the indexes that it adds are moved to the cache after its end.
package indexcache

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// maxBytes bounds the size of the directory when a server starts, in bytes; the indexes that
	// were used last are kept. An index has about a twentieth of the size of its program's debug
	// information.
	maxBytes = 256 << 20
	// spare is how much of the file system must be free, in bytes: on a diskless node it is
	// memory.
	spare = 4 * maxBytes
	// maxFiles bounds how many files are read from a directory.
	maxFiles = 10_000
	// maxLinks bounds how many indexes a gdb sees, those that were used last: each costs its start
	// and its end some 20 µs. A program has one, and one for each library of its own.
	maxLinks = 48
)

// Cache is the cache of a node as one server uses it. Its methods may be called on a nil Cache,
// which holds nothing; Borrow, Return and Close do I/O and must not be called at the same time.
type Cache struct {
	dir   string   // with the indexes, common to all servers of the user
	own   string   // subdirectory of dir with the directories of the gdbs of this server
	lock  *os.File // of own; held until the process ends
	names []string // of the indexes that gdbs get, the least recently used one first
}

// Parse reads the value of --index-cache: "off", for which dir is "", an absolute path, or "auto"
// (or nothing): a directory of the user below the one for temporary files, which is local to the
// node.
func Parse(text string) (dir string, err error) {
	switch {
	case text == "off":
		return "", nil
	case text == "auto" || text == "":
		return filepath.Join(os.TempDir(), "sdm-"+strconv.Itoa(os.Getuid()), "index-cache"), nil
	case !filepath.IsAbs(text) || strings.ContainsAny(text, "\n\x00"):
		return "", fmt.Errorf("%q: give auto, off, or the absolute path of a directory", text)
	}
	return filepath.Clean(text), nil
}

// Open makes the directory if it is not there, and removes old indexes and what servers that were
// killed have left. The error says why it cannot be used: gdb would trust files that other users
// have put there.
func Open(dir string) (*Cache, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	for _, d := range []string{filepath.Dir(dir), dir} {
		if err := checkOwner(d, d == dir); err != nil {
			return nil, err
		}
	}
	var fs unix.Statfs_t
	if err := unix.Statfs(dir, &fs); err != nil {
		return nil, err
	}
	if free := int64(fs.Bavail) * fs.Bsize; free < spare {
		return nil, fmt.Errorf("%s has only %d MiB left", dir, free>>20)
	}
	files, err := trim(dir, maxBytes)
	if err != nil {
		return nil, err
	}
	if err := removeLeft(dir); err != nil {
		return nil, err
	}
	c := &Cache{dir: dir}
	for _, f := range files {
		if f.isNamed() {
			c.names = append(c.names, f.name)
		}
	}
	return c, c.makeOwn()
}

// makeOwn makes and locks the directory of this server. Another server that starts now may remove it
// before it is locked, as one of a server that has ended.
func (c *Cache) makeOwn() error {
	for range 10 {
		own, err := os.MkdirTemp(c.dir, lent)
		if err != nil {
			return err
		}
		c.own = own
		if c.lock, err = lock(own); err == nil {
			if _, err = os.Lstat(own); err == nil {
				return nil
			}
			c.lock.Close()
		}
	}
	return fmt.Errorf("other servers remove what is made in %s", c.dir)
}

// lent begins the names of the directories of servers.
const lent = "server-"

// lock locks a directory until the file is closed, or the process ends; it does not wait.
func lock(dir string) (*os.File, error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		f.Close()
		return nil, &os.PathError{Op: "lock", Path: dir, Err: err}
	}
	return f, nil
}

// removeLeft removes the directories of servers that have ended without closing theirs.
func removeLeft(dir string) error {
	names, err := filepath.Glob(filepath.Join(dir, lent+"*"))
	if err != nil {
		return err
	}
	for _, name := range names {
		f, err := lock(name)
		if err != nil { // in use, or gone
			continue
		}
		err = os.RemoveAll(name)
		f.Close()
		if err != nil {
			return err
		}
	}
	return nil
}

// Dir returns the directory for one gdb of this server; "" if there is no cache. It does no I/O.
func (c *Cache) Dir(gdb int32) string {
	if c == nil {
		return ""
	}
	return filepath.Join(c.own, strconv.Itoa(int(gdb)))
}

// Borrow makes the directory of a gdb that is about to read symbols for the first time, with links to indexes. If
// that fails, this gdb reads the symbols itself.
func (c *Cache) Borrow(gdb int32) {
	if c == nil {
		return
	}
	dir := c.Dir(gdb)
	if os.Mkdir(dir, 0o700) != nil {
		return
	}
	for _, name := range c.names[max(0, len(c.names)-maxLinks):] {
		os.Link(filepath.Join(c.dir, name), filepath.Join(dir, name))
	}
}

// Return moves the complete indexes that a gdb has added to the cache, and removes its directory. The
// gdb must have ended; one that was killed may have left an incomplete index.
func (c *Cache) Return(gdb int32) {
	if c == nil {
		return
	}
	dir := c.Dir(gdb)
	if files, err := indexes(dir); err == nil {
		for _, f := range files {
			path := filepath.Join(dir, f.name)
			if f.links != 1 || !f.isNamed() || !isComplete(path) || os.Rename(path, filepath.Join(c.dir, f.name)) != nil {
				continue
			}
			if !slices.Contains(c.names, f.name) { // of two gdbs that made the same, the last one counts
				c.names = append(c.names, f.name)
			}
		}
	}
	os.RemoveAll(dir)
}

// Close removes the directories of this server.
func (c *Cache) Close() error {
	if c == nil {
		return nil
	}
	defer c.lock.Close()
	return os.RemoveAll(c.own)
}

// checkOwner refuses a directory that others may write to. A parent directory may belong to root, if
// other users cannot replace the directory in it.
func checkOwner(dir string, itself bool) error {
	info, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case !ok || !info.IsDir():
		return fmt.Errorf("%s is no directory", dir)
	case int(st.Uid) != os.Getuid() && (itself || st.Uid != 0):
		return fmt.Errorf("%s belongs to another user", dir)
	case info.Mode().Perm()&0o022 != 0 && (itself || info.Mode()&os.ModeSticky == 0):
		return fmt.Errorf("others may write to %s", dir)
	}
	return nil
}

// indexName ends the names of gdb's indexes, and is part of the names of incomplete ones. Other files in
// the directory are not touched.
const indexName = ".gdb-index"

// file is an index, maybe an incomplete one.
type file struct {
	name  string
	size  int64 // in bytes
	links uint64
	used  time.Time
}

// isNamed reports whether gdb has given the index its final name.
func (f file) isNamed() bool { return strings.HasSuffix(f.name, indexName) }

// indexes returns the indexes in a directory, the least recently used one first. A file that another
// process has removed is no error.
func indexes(dir string) ([]file, error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	entries, err := f.ReadDir(maxFiles)
	if err != nil && err != io.EOF {
		return nil, err
	}
	var files []file
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || !strings.Contains(e.Name(), indexName) || !info.Mode().IsRegular() {
			continue
		}
		f := file{e.Name(), info.Size(), 0, info.ModTime()}
		if st, ok := info.Sys().(*syscall.Stat_t); ok {
			f.links, f.used = uint64(st.Nlink), later(f.used, time.Unix(st.Atim.Unix()))
		}
		files = append(files, f)
	}
	slices.SortFunc(files, func(a, b file) int { return cmp.Or(a.used.Compare(b.used), strings.Compare(a.name, b.name)) })
	return files, nil
}

// trim removes the least recently used indexes until the rest has at most most bytes, and returns the rest in the order
// of indexes.
func trim(dir string, most int64) ([]file, error) {
	files, err := indexes(dir)
	if err != nil {
		return nil, err
	}
	var total int64
	for _, f := range files {
		total += f.size
	}
	for len(files) > 0 && total > most {
		if err := os.Remove(filepath.Join(dir, files[0].name)); err != nil && !errors.Is(err, os.ErrNotExist) {
			return nil, err
		}
		total -= files[0].size
		files = files[1:]
	}
	return files, nil
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
