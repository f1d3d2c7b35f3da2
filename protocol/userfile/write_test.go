package userfile

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// A file appears whole or not at all, keeps its mode, and is written in place where another could not replace it.
func TestReplace(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "x")
	for _, mode := range []os.FileMode{0o640, 0} {
		if err := Replace(path, "text\n", mode); err != nil {
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
	if err := Replace(link, "through the link\n", 0); err != nil {
		t.Fatal(err)
	}
	if b, _ := os.ReadFile(path); string(b) != "through the link\n" {
		t.Errorf("%q", b)
	}
	if err := Replace("/dev/full", "x", 0); !errors.Is(err, syscall.ENOSPC) {
		t.Error(err)
	}
	if err := Replace(filepath.Join(dir, "none", "x"), "x", 0); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, ".*")); len(left) != 0 {
		t.Error(left)
	}
}

// A file for which there is no room does not appear, and one that was there is as before. The limit of the process's files
// stands for a full disk.
func TestReplaceWithoutRoom(t *testing.T) {
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
		if err := Replace(name, text, 0); !errors.Is(err, syscall.EFBIG) {
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

func TestCreate(t *testing.T) {
	dir := t.TempDir()
	write := func(text string) func(io.Writer) error {
		return func(w io.Writer) error { _, err := io.WriteString(w, text); return err }
	}
	for i, c := range []struct{ path, want string }{
		{"hang-1.5", "hang-1.5"}, {"hang-1.5", "hang-1.5-2"}, {"hang-1.5", "hang-1.5-3"}, {"x.html", "x.html"}, {"x.html", "x-2.html"},
	} {
		got, err := Create(filepath.Join(dir, c.path), 0, write(fmt.Sprint(i)))
		if err != nil || got != filepath.Join(dir, c.want) {
			t.Errorf("Create %s: %s, %v; want %s", c.path, got, err, c.want)
		}
		if b, _ := os.ReadFile(got); string(b) != fmt.Sprint(i) {
			t.Errorf("%s contains %q", got, b)
		}
	}
	full := errors.New("disk full")
	if _, err := Create(filepath.Join(dir, "y"), 0, func(io.Writer) error { return full }); !errors.Is(err, full) {
		t.Errorf("a failed write: %v", err)
	}
	if _, err := Create(filepath.Join(dir, "none", "y"), 0, write("")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no directory: %v", err)
	}
	left, _ := filepath.Glob(filepath.Join(dir, "*"))
	hidden, _ := filepath.Glob(filepath.Join(dir, ".*"))
	if len(left) != 5 || len(hidden) != 0 {
		t.Errorf("in the directory: %v %v", left, hidden)
	}
	// Where there are no hard links, the name is reserved, and a taken one is not replaced.
	if err := publish(filepath.Join(dir, "absent"), filepath.Join(dir, "x.html")); !os.IsExist(err) {
		t.Errorf("a taken name: %v", err)
	}
}

// Only the owner reads a file, whatever the umask is, unless another mode is given.
func TestCreateModes(t *testing.T) {
	dir, write := t.TempDir(), func(w io.Writer) error { return nil }
	shared, err := Create(filepath.Join(dir, "shared"), 0o640, write)
	if err != nil {
		t.Fatal(err)
	}
	own, err := Create(filepath.Join(dir, "own"), 0, write)
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]os.FileMode{shared: 0o640, own: 0o600} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v", path, info.Mode(), err)
		}
	}
}
