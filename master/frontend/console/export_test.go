package console

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// A file appears whole or not at all, keeps its mode, and is written in place where another could not replace it.
func TestWriteFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "x")
	for _, mode := range []os.FileMode{0o640, 0} {
		if err := writeFile(path, "text\n", mode); err != nil {
			t.Fatal(err)
		}
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o640 || info.Size() != 5 {
			t.Fatal(info, err)
		}
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink("x", link); err != nil {
		t.Fatal(err)
	}
	if err := writeFile(link, "through the link\n", 0); err != nil {
		t.Fatal(err)
	}
	if b, _ := os.ReadFile(path); string(b) != "through the link\n" {
		t.Errorf("%q", b)
	}
	if err := writeFile("/dev/full", "x", 0); !errors.Is(err, syscall.ENOSPC) {
		t.Error(err)
	}
	if err := writeFile(filepath.Join(dir, "none", "x"), "x", 0); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, ".*")); len(left) != 0 {
		t.Error(left)
	}
}

// A file for which there is no room does not appear, and one that was there is as before. The limit of the process's files
// stands for a full disk.
func TestWriteFileWithoutRoom(t *testing.T) {
	var old syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &old); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "x")
	if err := os.WriteFile(path, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	little := syscall.Rlimit{Cur: 100, Max: old.Max}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &little); err != nil {
		t.Fatal(err)
	}
	defer syscall.Setrlimit(syscall.RLIMIT_FSIZE, &old)
	text := string(make([]byte, 1000))
	for _, name := range []string{path, path + "-new"} {
		if err := writeFile(name, text, 0); !errors.Is(err, syscall.EFBIG) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if b, err := os.ReadFile(path); string(b) != "old" {
		t.Errorf("%q, %v", b, err)
	}
	if _, err := os.Stat(path + "-new"); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}
