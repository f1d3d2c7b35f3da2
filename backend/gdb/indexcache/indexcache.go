// Package indexcache manages the directory where gdbs keep indexes of programs, so that the next
// gdb need not read all symbols again (GDB manual, Index Files Speed Up GDB).
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
	// mostBytes bounds the size of the directory when a server starts, in bytes; the indexes that
	// were used last are kept. An index has about a twentieth of the size of its program's debug
	// information.
	mostBytes = 256 << 20
	// spare is how much of the file system must be free, in bytes: on a diskless node it is
	// memory.
	spare = 4 * mostBytes
	// mostFiles bounds how many files are read from the directory.
	mostFiles = 10_000
)

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

// Open makes the directory if it is not there, and removes old indexes. The error says why it
// cannot be used: gdb would trust files that other users have put there.
func Open(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	for _, d := range []string{filepath.Dir(dir), dir} {
		if err := isOurs(d, d == dir); err != nil {
			return err
		}
	}
	var fs unix.Statfs_t
	if err := unix.Statfs(dir, &fs); err != nil {
		return err
	}
	if free := int64(fs.Bavail) * fs.Bsize; free < spare {
		return fmt.Errorf("%s has only %d MiB left", dir, free>>20)
	}
	return trim(dir, mostBytes)
}

// isOurs refuses a directory that others may write to. A parent directory may belong to root, if
// other users cannot replace the directory in it.
func isOurs(dir string, itself bool) error {
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

// indexName is in the names of gdb's indexes, complete or not. Other files are not touched,
// whatever directory a user names.
const indexName = ".gdb-index"

// trim removes the least recently used indexes until the rest has at most most bytes. A file that
// another process has removed is no error.
func trim(dir string, most int64) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer f.Close()
	entries, err := f.ReadDir(mostFiles)
	if err != nil && err != io.EOF {
		return err
	}
	type file struct {
		name string
		size int64
		used time.Time
	}
	var files []file
	var total int64
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || !strings.Contains(e.Name(), indexName) || !info.Mode().IsRegular() {
			continue
		}
		used := info.ModTime()
		if st, ok := info.Sys().(*syscall.Stat_t); ok {
			used = later(used, time.Unix(st.Atim.Unix()))
		}
		files = append(files, file{e.Name(), info.Size(), used})
		total += info.Size()
	}
	slices.SortFunc(files, func(a, b file) int { return cmp.Or(a.used.Compare(b.used), strings.Compare(a.name, b.name)) })
	for _, old := range files {
		if total <= most {
			break
		}
		if err := os.Remove(filepath.Join(dir, old.name)); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
		total -= old.size
	}
	return nil
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
