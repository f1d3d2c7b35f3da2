package indexcache

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

func TestRefused(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	open := filepath.Join(dir, "open")
	link := filepath.Join(dir, "link")
	inOpen := filepath.Join(open, "cache")
	for _, err := range []error{
		os.WriteFile(file, nil, 0o600), os.Mkdir(open, 0o700), os.Chmod(open, 0o777), os.Mkdir(inOpen, 0o700), os.Symlink(dir, link),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct{ name, dir, want string }{
		{"a file", file, "not a directory"},
		{"open to others", open, "others may write"},
		{"in one that is", inOpen, "others may write"},
		{"a link", link, "is no directory"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := Open(c.dir); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

func TestParse(t *testing.T) {
	t.Setenv("TMPDIR", "/node/tmp")
	for text, want := range map[string]string{
		"off": "", "/a/b/": "/a/b", "auto": "/node/tmp/sdm-" + strconv.Itoa(os.Getuid()) + "/index-cache",
	} {
		if got, err := Parse(text); got != want || err != nil {
			t.Errorf("%s: %q, %v, want %q", text, got, err, want)
		}
	}
	for _, text := range []string{"cache", "/tmp/a\nb", "on"} {
		if got, err := Parse(text); err == nil {
			t.Errorf("%q is taken for %q", text, got)
		}
	}
}

// TestCacheIsTrimmed checks that the least recently used indexes are removed, and no more than
// necessary.
func TestCacheIsTrimmed(t *testing.T) {
	dir := t.TempDir()
	now := time.Now()
	for i, name := range []string{"newest.gdb-index", "oldest.gdb-index", "middle.gdb-index-Xy1", "other"} {
		path := filepath.Join(dir, name)
		used := now.Add(-time.Duration([]int{1, 3, 2, 9}[i]) * time.Hour)
		if err := os.WriteFile(path, make([]byte, 1000), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, used, used); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "directory.gdb-index"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		most int64
		want []string
	}{
		{3000, []string{"directory.gdb-index", "middle.gdb-index-Xy1", "newest.gdb-index", "oldest.gdb-index", "other"}},
		{2500, []string{"directory.gdb-index", "middle.gdb-index-Xy1", "newest.gdb-index", "other"}},
		{999, []string{"directory.gdb-index", "other"}},
	} {
		if _, err := trim(dir, c.most); err != nil {
			t.Fatal(err)
		}
		var have []string
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			have = append(have, e.Name())
		}
		if !slices.Equal(have, c.want) {
			t.Errorf("for %d bytes: %v, want %v", c.most, have, c.want)
		}
	}
}

// A directory that cannot be read is an error, an empty one is not.
func TestTrimReportsErrors(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if _, err := trim(dir, 0); err != nil {
		t.Errorf("an empty directory: %v", err)
	}
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := trim(file, 0); err == nil {
		t.Error("a file is read as a directory")
	}
}

// small returns an index with the names b and aa, in a table of four slots, and from version 9 on
// the name of the main function.
func small(version uint32) []byte {
	at := uint32(24)
	if version >= 9 {
		at += 4
	}
	words := []uint32{version, at, at, at, at, at + 32}
	if version >= 9 {
		words = append(words, at+32+8)
	}
	words = append(words, 0, 0, 11, 8, 8, 0, 0, 0) // the names at 11 and 8 after two vectors of 4 bytes
	if version >= 9 {
		words = append(words, 0x1d, 13)
	}
	words = append(words, 0, 0)
	var b []byte
	for _, w := range words {
		b = binary.LittleEndian.AppendUint32(b, w)
	}
	b = append(b, "aa\x00b\x00"...)
	if version >= 9 {
		b = append(b, "main\x00"...)
	}
	return b
}

// A cut index is never complete, wherever it is cut.
func TestComplete(t *testing.T) {
	for version := uint32(firstVersion); version <= lastVersion; version++ {
		whole := small(version)
		for n := range len(whole) + 1 {
			if err := check(bytes.NewReader(whole[:n]), int64(n)); (err == nil) != (n == len(whole)) {
				t.Errorf("version %d, %d of %d bytes: %v", version, n, len(whole), err)
			}
		}
		if longer := append(slices.Clone(whole), 'c', 0); check(bytes.NewReader(longer), int64(len(longer))) == nil {
			t.Errorf("version %d: more than its names", version)
		}
	}
	for _, version := range []uint32{0, firstVersion - 1, lastVersion + 1} {
		if b := small(version); check(bytes.NewReader(b), int64(len(b))) == nil {
			t.Errorf("version %d is known", version)
		}
	}
}

func FuzzComplete(f *testing.F) {
	for version := uint32(firstVersion); version <= lastVersion; version++ {
		f.Add(small(version), uint16(50))
	}
	f.Fuzz(func(t *testing.T, b []byte, cut uint16) {
		if int(cut) >= len(b) || check(bytes.NewReader(b), int64(len(b))) != nil {
			return
		}
		if check(bytes.NewReader(b[:cut]), int64(cut)) == nil {
			t.Errorf("complete with %d and with %d bytes", len(b), cut)
		}
	})
}

// TestOnlyCompleteIndexesAreShared checks that a gdb has the indexes of the cache, that no other sees
// what it adds before its end, and that nothing comes from one that was killed.
func TestOnlyCompleteIndexesAreShared(t *testing.T) {
	dir := t.TempDir()
	open := func() *Cache {
		c, err := Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	write := func(c *Cache, gdb int32, name string, index []byte) {
		if err := os.WriteFile(filepath.Join(c.Dir(gdb), name), index, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	check := func(dir string, want ...string) {
		t.Helper()
		files, err := filepath.Glob(filepath.Join(dir, "*index*"))
		if err != nil {
			t.Fatal(err)
		}
		for i, f := range files {
			files[i] = filepath.Base(f)
		}
		if !slices.Equal(files, want) {
			t.Errorf("%v, want %v", files, want)
		}
	}
	a, b := open(), open()
	a.Borrow(1)
	write(a, 1, "one.gdb-index", small(8))
	write(a, 1, "two.gdb-index-xyZ", small(8))
	b.Borrow(1)
	check(b.Dir(1))
	a.Return(1)
	check(dir, "one.gdb-index")
	a.Borrow(2)
	check(a.Dir(2), "one.gdb-index")
	b.Borrow(2)
	write(b, 2, "three.gdb-index", small(8)[:60])
	b.Return(2)
	check(dir, "one.gdb-index")
	if err := a.Close(); err != nil {
		t.Error(err)
	}
	b.lock.Close() // as when its process is killed
	c := open()
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	if left, err := filepath.Glob(filepath.Join(dir, lent+"*")); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
	var none *Cache
	none.Borrow(1)
	none.Return(1)
	if none.Dir(1) != "" || none.Close() != nil {
		t.Error("no cache has a directory")
	}
}
