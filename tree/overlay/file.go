// Links over descriptors: socket pairs, inherited descriptors, standard input
// and output.

package overlay

import (
	"fmt"
	"io"
	"os"
	"syscall"
	"time"
)

// FromFiles returns a link that reads from in and writes to out, such as two pipes,
// standard input and output behind ssh, or the ends of two socket pairs. It owns
// both, also when it fails, and makes them non-blocking for all processes that
// share them.
func FromFiles(in, out *os.File, peer string) (Link, error) {
	p, err := newFilePair(in, out)
	if err != nil {
		return nil, err
	}
	return NewStream(p, peer), nil
}

// filePair reads from one descriptor and writes to another.
type filePair struct {
	in     *os.File
	out    *os.File
	reader io.Reader
	try    func([]byte) (int, error)
}

var _ io.ReadWriteCloser = (*filePair)(nil)

func newFilePair(in, out *os.File) (*filePair, error) {
	r, err := pollable(in)
	if err != nil {
		out.Close()
		return nil, err
	}
	w, err := pollable(out)
	if err != nil {
		r.Close()
		return nil, err
	}
	return &filePair{in: r, out: w, reader: reading(r), try: nonblocking(w)}, nil
}

func (p *filePair) Read(b []byte) (int, error)     { return p.reader.Read(b) }
func (p *filePair) Write(b []byte) (int, error)    { return p.out.Write(b) }
func (p *filePair) tryWrite(b []byte) (int, error) { return p.try(b) }

func (p *filePair) Close() error {
	err := p.out.Close()
	if other := p.in.Close(); err == nil {
		err = other
	}
	return err
}

// pollable returns a copy of f whose Close ends a blocked Read and Write.
func pollable(f *os.File) (*os.File, error) {
	defer f.Close()
	fd, err := duplicate(f)
	if err != nil {
		return nil, fmt.Errorf("use %s as a link: %w", f.Name(), err)
	}
	err = syscall.SetNonblock(fd, true)
	again := os.NewFile(uintptr(fd), f.Name())
	if err == nil {
		err = again.SetDeadline(time.Time{}) // fails if the file cannot be polled
	}
	if err != nil {
		again.Close()
		return nil, fmt.Errorf("use %s as a link: %w; it must be a pipe or a socket", f.Name(), err)
	}
	return again, nil
}

// duplicate returns a new descriptor for f.
func duplicate(f *os.File) (int, error) {
	fd, _, err := syscall.Syscall(syscall.SYS_FCNTL, f.Fd(), syscall.F_DUPFD_CLOEXEC, 0)
	if err != 0 {
		return 0, err
	}
	return int(fd), nil
}
