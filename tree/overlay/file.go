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

// SocketPair makes a socket pair: a link for us and the other end as a file for
// a process that we start (exec.Cmd.ExtraFiles), which uses FromFile. The caller
// closes the file once that process has started.
func SocketPair(peer string) (Link, *os.File, error) {
	ends, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("make a socket pair: %w", err)
	}
	ours, theirs := os.NewFile(uintptr(ends[0]), "socket pair"), os.NewFile(uintptr(ends[1]), "socket pair")
	link, err := FromFile(ours, peer)
	if err != nil {
		theirs.Close()
		return nil, nil, err
	}
	return link, theirs, nil
}

// FromFile makes a link of an inherited descriptor that carries bytes both ways,
// such as one end of a socket pair. It takes f over, also when it fails.
func FromFile(f *os.File, peer string) (Link, error) {
	defer f.Close()
	conn, err := net.FileConn(f) // makes a non-blocking copy of the descriptor
	if err != nil {
		return nil, fmt.Errorf("use %s as a link: %w; it is to be a connected socket", f.Name(), err)
	}
	return NewStream(conn, peer), nil
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
	fd, err := syscall.Dup(int(f.Fd()))
	if err != nil {
		return nil, fmt.Errorf("use %s as a link: %w", f.Name(), err)
	}
	syscall.CloseOnExec(fd)
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
