// Package userfile reads and writes files that a person names. Such a file may be anything: a pipe to which
// nobody writes, a device without end, a core file. Reading takes a bounded amount of memory and ends
// with a context. What is written appears whole or not at all.
package userfile

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// MaxText bounds a file of text that a person has written, in bytes: a few hundred thousand lines.
const MaxText = 16 << 20

// Read returns the content of a file, and an error if that is longer than most bytes. The error names
// the file; it wraps the cause of ctx if that has ended first.
func Read(ctx context.Context, path string, most int64) ([]byte, error) {
	f, err := Open(ctx, path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, most+1))
	if err != nil {
		return nil, err
	}
	if int64(len(b)) > most {
		return nil, fmt.Errorf("%s: longer than %s", path, Size(most))
	}
	return b, nil
}

// Size returns a number of bytes as text.
func Size(n int64) string {
	if n >= 1<<20 && n%(1<<20) == 0 {
		return fmt.Sprintf("%d MiB", n>>20)
	}
	return fmt.Sprintf("%d bytes", n)
}

// File is an open file. Its methods are for one goroutine, but Close may be called at any time.
type File struct {
	f     *os.File
	over  func() error // the error once the context has ended
	fresh bool         // a pipe that has not been read: it may have no writer yet
	ended atomic.Bool
	stop  func() bool // ends the watch over ctx
}

// Open opens a file to read. Until the file is closed, a pending Read ends with ctx, even for a named
// pipe that has no writer yet. A file system that does not answer is given up with ctx when the file
// is opened: then a goroutine of Open remains until it answers.
func Open(ctx context.Context, path string) (*File, error) {
	opened, err := open(ctx, path, syscall.O_NONBLOCK) // opening a pipe does not wait for a writer
	if err != nil {
		return nil, err
	}
	f := &File{f: opened, over: func() error { return notRead(ctx, path) }}
	info, err := f.f.Stat()
	switch {
	case err != nil:
		f.f.Close()
		return nil, err
	case info.IsDir():
		f.f.Close()
		return nil, &fs.PathError{Op: "read", Path: path, Err: syscall.EISDIR}
	}
	f.fresh = info.Mode()&fs.ModeNamedPipe != 0
	f.stop = context.AfterFunc(ctx, func() {
		f.ended.Store(true)
		_ = f.f.SetReadDeadline(time.Unix(1, 0)) // not supported by files whose Read does not wait
	})
	return f, nil
}

// OpenFor opens a file that another process is to read. As that would, it waits for the writer of a
// named pipe, until ctx ends; see Open.
func OpenFor(ctx context.Context, path string) (*os.File, error) { return open(ctx, path, 0) }

// open opens a file unless ctx ends first.
func open(ctx context.Context, path string, flag int) (*os.File, error) {
	type opened struct {
		f   *os.File
		err error
	}
	done := make(chan opened, 1)
	go func() {
		f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOCTTY|flag, 0) // a terminal does not become ours
		done <- opened{f, err}
	}()
	select {
	case got := <-done:
		return got.f, got.err
	case <-ctx.Done():
		go func() {
			if late := <-done; late.err == nil {
				late.f.Close()
			}
		}()
		return nil, notRead(ctx, path)
	}
}

func notRead(ctx context.Context, path string) error {
	return fmt.Errorf("%s is not read to its end: %w", path, context.Cause(ctx))
}

// Read implements io.Reader.
func (f *File) Read(b []byte) (int, error) {
	if f.fresh && !f.ended.Load() {
		if err := f.awaitWriter(); err != nil {
			return 0, f.explained(err)
		}
		f.fresh = false
	}
	if f.ended.Load() {
		return 0, f.over()
	}
	n, err := f.f.Read(b)
	return n, f.explained(err)
}

// explained returns the error of a Read.
func (f *File) explained(err error) error {
	if err != nil && f.ended.Load() && errors.Is(err, os.ErrDeadlineExceeded) {
		return f.over()
	}
	return err
}

// awaitWriter waits until a pipe has data or its writer has gone. Before the first writer comes, a
// Read would return the end of the file (pipe(7)).
func (f *File) awaitWriter() error {
	raw, err := f.f.SyscallConn()
	if err != nil {
		return err
	}
	return raw.Read(func(fd uintptr) bool {
		poll := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		n, err := unix.Poll(poll, 0)
		return err == nil && n > 0
	})
}

// Close ends a pending Read.
func (f *File) Close() error {
	f.stop()
	return f.f.Close()
}
