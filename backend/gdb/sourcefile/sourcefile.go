// Package sourcefile reads lines of source files for a caller that must not block on a file server
// that hangs.
package sourcefile

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"syscall"
	"time"
)

// Files reads source files and keeps them. Each file is read by a goroutine of its own. The caller
// waits for it once, for a short time; a file that is read later serves the next call. Close waits
// for files that are still being read. One goroutine may use a Files.
type Files struct {
	files   map[string]*file
	objects map[string]*file // files that sources were compiled into: only their times
}

// file is a file that has been read or is being read.
type file struct {
	arrived chan text // capacity 1; nil once the text has been received
	text    text
	asked   time.Time
}

type text struct {
	lines    []string
	modified time.Time
	err      error
}

const (
	// readWait is how long a caller waits for a file: on a node that is busy with its job even a
	// local file may take a while.
	readWait = 500 * time.Millisecond
	// maxAge is how long a file is used without reading it again.
	maxAge = 5 * time.Second
	// maxSource bounds what is read of one file, in bytes. maxFiles bounds how many files are
	// kept; at that number all that have been read are dropped.
	maxSource = 8 << 20
	maxFiles  = 64
)

// ErrSlow means that a file was not read within half a second.
var ErrSlow = errors.New("the file could not be read in time")

// New returns a Files without files.
func New() *Files { return &Files{files: map[string]*file{}, objects: map[string]*file{}} }

// Reader returns lines first to last of a file, those that exist.
type Reader func(file string, first, last int) ([]string, error)

// Of returns a Reader for a process with root directory root: its files have precedence over the
// files that this process sees. "": the process has no root directory of its own.
func (s *Files) Of(root string) Reader {
	if root == "" {
		return s.Lines
	}
	return func(file string, first, last int) ([]string, error) {
		if text, err := s.Lines(root+file, first, last); err == nil {
			return text, nil
		}
		return s.Lines(file, first, last)
	}
}

// Lines returns lines first to last, counted from 1, as far as they exist; none if first is greater than
// the number of lines. Errors are ErrSlow, and errors of opening and reading.
func (s *Files) Lines(name string, first, last int) ([]string, error) {
	f := ask(s.files, name, read)
	if err := f.await(); err != nil {
		return nil, err
	}
	first, last = max(first, 1), min(last, len(f.text.lines))
	if first > last {
		return nil, nil
	}
	return f.text.lines[first-1 : last], nil
}

// Newer reports whether a source file was changed after the program or library that it was
// compiled into. It is false if that is not known in time.
func (s *Files) Newer(source, object string) bool {
	from, into := ask(s.files, source, read), ask(s.objects, object, stat)
	if from.await() != nil || into.await() != nil {
		return false
	}
	return from.text.modified.After(into.text.modified)
}

// NewerOf returns Newer for a process with root directory root.
func (s *Files) NewerOf(root string) func(source, object string) bool {
	return func(source, object string) bool {
		if root != "" {
			object = root + object
			if ask(s.files, root+source, read).await() == nil {
				source = root + source
			}
		}
		return s.Newer(source, object)
	}
}

// ask returns a file that is being read or was read recently; otherwise it starts to read it.
func ask(files map[string]*file, name string, read func(string) text) *file {
	if f := files[name]; f != nil && (f.arrived != nil || time.Since(f.asked) <= maxAge) {
		return f
	}
	if len(files) >= maxFiles {
		for known, f := range files {
			if f.arrived == nil {
				delete(files, known)
			}
		}
	}
	f := &file{arrived: make(chan text, 1), asked: time.Now()}
	files[name] = f
	go func() { f.arrived <- read(name) }()
	return f
}

// await waits until the file has been read, at most until readWait after the start.
func (f *file) await() error {
	if f.arrived == nil {
		return f.text.err
	}
	select {
	case f.text = <-f.arrived:
		f.arrived = nil
		return f.text.err
	case <-time.After(readWait - time.Since(f.asked)):
		return ErrSlow
	}
}

func stat(name string) text {
	info, err := os.Stat(name)
	if err != nil {
		return text{err: err}
	}
	return text{modified: info.ModTime()}
}

func read(name string) text {
	// O_NONBLOCK: opening a FIFO must not block
	f, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		var path *os.PathError
		if errors.As(err, &path) {
			err = path.Err
		}
		return text{err: err}
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return text{err: errors.New("it is no regular file")}
	}
	b, err := io.ReadAll(io.LimitReader(f, maxSource))
	if err != nil {
		return text{err: err}
	}
	b = bytes.TrimSuffix(bytes.ToValidUTF8(b, []byte("\ufffd")), []byte("\n"))
	return text{lines: strings.Split(string(b), "\n"), modified: info.ModTime()}
}

// Close waits until no file is being read any more, or ctx ends.
func (s *Files) Close(ctx context.Context) {
	for _, files := range []map[string]*file{s.files, s.objects} {
		for _, f := range files {
			if f.arrived == nil {
				continue
			}
			select {
			case <-f.arrived:
			case <-ctx.Done():
				return
			}
		}
	}
}
