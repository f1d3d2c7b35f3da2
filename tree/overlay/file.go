// Links over descriptors: socket pairs, inherited descriptors, standard input
// and output.

package overlay

import (
	"fmt"
	"io"
	"net"
	"os"
	"syscall"
	"time"
)

// FromFile makes a link of a descriptor that carries bytes both ways, such as one
// end of a socket pair. It takes f over, also when it fails.
func FromFile(f *os.File, peer string) (Link, error) {
	defer f.Close()
	conn, err := fromFile(f)
	if err != nil {
		return nil, fmt.Errorf("use %s as a link: %w; it is to be a connected socket", f.Name(), err)
	}
	return NewStream(conn, peer), nil
}

// fromFile copies the descriptor.
func fromFile(f *os.File) (io.ReadWriteCloser, error) {
	fd, err := duplicate(f)
	if err != nil {
		return nil, err
	}
	name, err := syscall.Getsockname(fd)
	if _, unix := name.(*syscall.SockaddrUnix); unix && err == nil {
		return newPairEnd(fd)
	}
	syscall.Close(fd)
	return net.FileConn(f)
}

// FromPipes makes a link of two pipes: what is read from in and written to out,
// such as standard input and output behind ssh. It takes both over, also when it
// fails, and makes them non-blocking for everybody who shares them.
func FromPipes(in, out *os.File, peer string) (Link, error) {
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
	return NewStream(&filePair{in: r, out: w}, peer), nil
}

// pollable gives a copy of f whose Close ends a Read and a Write that wait.
func pollable(f *os.File) (*os.File, error) {
	defer f.Close()
	fd, err := duplicate(f)
	if err != nil {
		return nil, fmt.Errorf("use %s as a link: %w", f.Name(), err)
	}
	err = syscall.SetNonblock(fd, true)
	again := os.NewFile(uintptr(fd), f.Name())
	if err == nil {
		err = again.SetDeadline(time.Time{}) // refused where there is no poller
	}
	if err != nil {
		again.Close()
		return nil, fmt.Errorf("use %s as a link: %w; it is to be a pipe or a socket", f.Name(), err)
	}
	return again, nil
}

// duplicate gives a descriptor of our own.
func duplicate(f *os.File) (int, error) {
	fd, _, err := syscall.Syscall(syscall.SYS_FCNTL, f.Fd(), syscall.F_DUPFD_CLOEXEC, 0)
	if err != 0 {
		return 0, err
	}
	return int(fd), nil
}

// filePair reads from one file and writes to another.
type filePair struct{ in, out *os.File }

var _ io.ReadWriteCloser = (*filePair)(nil)

func (p *filePair) Read(b []byte) (int, error)  { return p.in.Read(b) }
func (p *filePair) Write(b []byte) (int, error) { return p.out.Write(b) }

// SyscallConn is the writing side's, for writes that do not wait.
func (p *filePair) SyscallConn() (syscall.RawConn, error) { return p.out.SyscallConn() }

func (p *filePair) Close() error {
	err := p.out.Close()
	if other := p.in.Close(); err == nil {
		err = other
	}
	return err
}
