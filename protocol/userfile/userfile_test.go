package userfile

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

var errOver = errors.New("the time is over")

// soon is a context that ends well within a test, with errOver.
func soon(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeoutCause(t.Context(), 50*time.Millisecond, errOver)
	t.Cleanup(cancel)
	return ctx
}

func fifo(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, []byte("0123456789"), 0o600); err != nil {
		t.Fatal(err)
	}
	if b, err := Read(t.Context(), path, 10); string(b) != "0123456789" || err != nil {
		t.Errorf("%q, %v", b, err)
	}
	if _, err := Read(t.Context(), path, 9); err == nil || err.Error() != path+": longer than 9 bytes" {
		t.Error(err)
	}
	if _, err := Read(t.Context(), path+"x", 9); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	if _, err := Read(t.Context(), filepath.Dir(path), 9); !errors.Is(err, syscall.EISDIR) {
		t.Error(err)
	}
	over, cancel := context.WithCancelCause(t.Context())
	cancel(errOver)
	if _, err := Read(over, path, 10); !errors.Is(err, errOver) {
		t.Error(err)
	}
}

// A file without an end takes a bounded amount of memory.
func TestReadWithoutEnd(t *testing.T) {
	if _, err := Read(t.Context(), "/dev/zero", MaxText); err == nil || err.Error() != "/dev/zero: longer than 16 MiB" {
		t.Error(err)
	}
}

// A pipe is read when its writer comes; until then, and while its writer is silent, reading ends with the context.
func TestReadOfAPipe(t *testing.T) {
	path := fifo(t)
	if _, err := Read(soon(t), path, 10); !errors.Is(err, errOver) || !strings.Contains(err.Error(), path) {
		t.Errorf("no writer: %v", err)
	}
	type result struct {
		b   []byte
		err error
	}
	got := make(chan result, 1)
	go func() {
		b, err := Read(t.Context(), path, 10)
		got <- result{b, err}
	}()
	w, err := os.OpenFile(path, os.O_WRONLY, 0) // waits for the reader
	if err != nil {
		t.Fatal(err)
	}
	w.WriteString("late")
	w.Close()
	if r := <-got; string(r.b) != "late" || r.err != nil {
		t.Errorf("%q, %v", r.b, r.err)
	}
	if w, err = os.OpenFile(path, os.O_RDWR, 0); err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	w.WriteString("half")
	if b, err := Read(soon(t), path, 10); !errors.Is(err, errOver) {
		t.Errorf("silent writer: %q, %v", b, err)
	}
}

// A pipe for another process has its writer, or is given up.
func TestOpenFor(t *testing.T) {
	path := fifo(t)
	if _, err := OpenFor(soon(t), path); !errors.Is(err, errOver) {
		t.Error(err)
	}
	w, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	f, err := OpenFor(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
}

// Close ends a pending Read.
func TestCloseOfAPipe(t *testing.T) {
	f, err := Open(t.Context(), fifo(t))
	if err != nil {
		t.Fatal(err)
	}
	read := make(chan error, 1)
	go func() {
		_, err := f.Read(make([]byte, 1))
		read <- err
	}()
	f.Close()
	select {
	case err := <-read:
		if err == nil {
			t.Error("it has read a byte")
		}
	case <-time.After(10 * time.Second):
		t.Error("it reads still")
	}
}
