package indexcache

import (
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
			if err := Open(c.dir); err == nil || !strings.Contains(err.Error(), c.want) {
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
		if err := trim(dir, c.most); err != nil {
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
	if err := trim(dir, 0); err != nil {
		t.Errorf("an empty directory: %v", err)
	}
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := trim(file, 0); err == nil {
		t.Error("a file is read as a directory")
	}
}
