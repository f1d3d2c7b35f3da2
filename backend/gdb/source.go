// Lines of source files.

package gdb

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

// sources reads source files and keeps them. It is used by the loop, which must
// not hang on a file server that does: each file is read by a goroutine of its
// own, for which the loop waits a moment, once; what comes later serves the next
// question. close waits for those that are still reading.
type sources struct {
	files map[string]*sourceFile
}

// sourceFile is a file that has been read or is being read.
type sourceFile struct {
	arrived chan sourceText // of one element; nil once it has been taken
	text    sourceText
	asked   time.Time
}

type sourceText struct {
	lines []string
	err   error
}

const (
	// moment is how long the loop waits for a file: on a node that is busy with its
	// job even one that is at hand may take a while.
	moment = 500 * time.Millisecond
	// fresh is how long a file is believed not to have changed.
	fresh = 5 * time.Second
	// mostSource bounds what is read of one file, in bytes; mostFiles how many are
	// kept: then all are forgotten.
	mostSource = 8 << 20
	mostFiles  = 64
)

var errSlowFile = errors.New("the file could not be read in time")

func newSources() *sources { return &sources{files: map[string]*sourceFile{}} }

// of reads for a rank with a root directory of its own: what it sees goes before
// our own files. "" has none.
func (s *sources) of(root string) lineReader {
	if root == "" {
		return s.lines
	}
	return func(file string, first, last int) ([]string, error) {
		if text, err := s.lines(root+file, first, last); err == nil {
			return text, nil
		}
		return s.lines(file, first, last)
	}
}

// lines gives lines first to last, as far as there are any. It is a lineReader.
func (s *sources) lines(file string, first, last int) ([]string, error) {
	f := s.files[file]
	if f == nil || f.arrived == nil && time.Since(f.asked) > fresh {
		f = s.open(file)
	}
	if f.arrived != nil {
		select {
		case f.text = <-f.arrived:
			f.arrived = nil
		case <-time.After(moment - time.Since(f.asked)):
			return nil, errSlowFile
		}
	}
	if f.text.err != nil {
		return nil, f.text.err
	}
	first, last = max(first, 1), min(last, len(f.text.lines))
	if first > last {
		return nil, nil
	}
	return f.text.lines[first-1 : last], nil
}

func (s *sources) open(file string) *sourceFile {
	if len(s.files) >= mostFiles {
		for name, f := range s.files {
			if f.arrived == nil {
				delete(s.files, name)
			}
		}
	}
	f := &sourceFile{arrived: make(chan sourceText, 1), asked: time.Now()}
	s.files[file] = f
	go func() { f.arrived <- readSource(file) }()
	return f
}

func readSource(file string) sourceText {
	f, err := os.OpenFile(file, os.O_RDONLY|syscall.O_NONBLOCK, 0) // a pipe would block for ever
	if err != nil {
		var path *os.PathError
		if errors.As(err, &path) {
			err = path.Err
		}
		return sourceText{err: err}
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return sourceText{err: errors.New("it is no regular file")}
	}
	b, err := io.ReadAll(io.LimitReader(f, mostSource))
	if err != nil {
		return sourceText{err: err}
	}
	b = bytes.TrimSuffix(bytes.ToValidUTF8(b, []byte("\ufffd")), []byte("\n"))
	return sourceText{lines: strings.Split(string(b), "\n")}
}

// close waits until nobody reads any more, or ctx is over.
func (s *sources) close(ctx context.Context) {
	for _, f := range s.files {
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
