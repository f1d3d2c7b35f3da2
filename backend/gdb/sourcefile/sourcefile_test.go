package sourcefile

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
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
			for errors.Is(err, ErrSlow) { // a loaded machine
				got, err = s.Lines(c.file, c.first, c.last)
			}
			if !slices.Equal(got, c.want) || (err != nil) != c.err {
				t.Errorf("got %q, %v", got, err)
			}
		})
	}
}
