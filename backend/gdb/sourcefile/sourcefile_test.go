package sourcefile

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"
)

func TestFiles(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "a.c")
	if err := os.WriteFile(file, []byte("one\ntwo\n\nfour \xff\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	pipe := filepath.Join(dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	s := New()
	defer s.Close(context.Background())
	for _, c := range []struct {
		name        string
		file        string
		first, last int
		want        []string
		err         bool
	}{
		{"one line", file, 2, 2, []string{"two"}, false},
		{"all, and more than there is", file, -3, 99, []string{"one", "two", "", "four \ufffd"}, false},
		{"behind the end", file, 5, 9, nil, false},
		{"no such file", filepath.Join(dir, "nix"), 1, 1, nil, true},
		{"a directory", dir, 1, 1, nil, true},
		{"a pipe does not hang", pipe, 1, 1, nil, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := s.Lines(c.file, c.first, c.last)
			for errors.Is(err, ErrSlow) { // on a loaded machine
				got, err = s.Lines(c.file, c.first, c.last)
			}
			if !slices.Equal(got, c.want) || (err != nil) != c.err {
				t.Errorf("got %q, %v", got, err)
			}
		})
	}
}

func TestNewer(t *testing.T) {
	dir := t.TempDir()
	at := func(name string, age time.Duration) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte("text\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		then := time.Now().Add(-age)
		if err := os.Chtimes(path, then, then); err != nil {
			t.Fatal(err)
		}
		return path
	}
	source, earlier, later := at("source", time.Hour), at("earlier", 2*time.Hour), at("later", 0)
	s := New()
	defer s.Close(context.Background())
	for object, want := range map[string]bool{earlier: true, later: false, filepath.Join(dir, "none"): false} {
		if got := s.Newer(source, object); got != want {
			t.Errorf("than %s: %v", object, got)
		}
	}
	if s.Newer(filepath.Join(dir, "none"), earlier) {
		t.Error("a source that is not there is newer")
	}
	if !s.NewerOf(dir)("/source", "/earlier") {
		t.Error("not newer below a root")
	}
}
