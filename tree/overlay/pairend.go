// One end of a socket pair, which nobody is woken for in vain.

package overlay

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"syscall"
)

// pairEnd is a connected unix socket that is watched for what somebody waits for,
// and for nothing else. Linux tells whoever watches one for room whenever the
// other side has read a packet, and Go's poller watches its sockets for everything:
// each packet woke its sender once more, which often took the processor from the
// very process that was at work on the packet.
//
// One goroutine at a time may read, and one write; Close may be called by anyone.
type pairEnd struct {
	fd      int
	content *watch // for something to read
	room    *watch // for room, where a Write waits
	reader  io.Reader
	close   func() error
}

// newPairEnd takes over a connected unix socket, also when it fails.
func newPairEnd(fd int) (*pairEnd, error) {
	e := &pairEnd{fd: fd}
	e.close = sync.OnceValue(e.closeAll)
	err := syscall.SetNonblock(fd, true)
	if err == nil {
		e.content, err = newWatch(fd)
	}
	if err == nil {
		e.room, err = newWatch(fd)
	}
	if err == nil {
		err = e.content.arm(syscall.EPOLLIN | syscall.EPOLLRDHUP)
	}
	if err != nil {
		e.Close()
		return nil, err
	}
	e.reader = reading(e)
	return e, nil
}

func (e *pairEnd) Read(p []byte) (int, error) { return e.reader.Read(p) }

// Write returns when all is written.
func (e *pairEnd) Write(p []byte) (int, error) {
	done := 0
	var failed error
	err := e.room.wait(func(fd uintptr) bool {
		for done < len(p) && failed == nil {
			n, errno := send(fd, p[done:])
			done += n
			switch errno {
			case 0:
			case syscall.EAGAIN:
				failed = e.room.arm(syscall.EPOLLOUT | syscall.EPOLLONESHOT)
				return failed != nil
			default:
				failed = errno
			}
		}
		return true
	})
	return done, errors.Join(err, failed)
}

func (e *pairEnd) Close() error { return e.close() }

// closeAll ends those who wait before it closes the socket, as its number may be
// somebody else's then.
func (e *pairEnd) closeAll() error {
	e.content.close()
	e.room.close()
	return syscall.Close(e.fd)
}

// SyscallConn is for reading and nonblocking; the latter never waits for room.
func (e *pairEnd) SyscallConn() (syscall.RawConn, error) { return rawEnd{e}, nil }

type rawEnd struct{ end *pairEnd }

func (r rawEnd) Control(f func(fd uintptr)) error {
	return r.end.content.raw.Control(func(uintptr) { f(uintptr(r.end.fd)) })
}

func (r rawEnd) Read(f func(fd uintptr) bool) error { return r.end.content.wait(f) }

func (r rawEnd) Write(f func(fd uintptr) bool) error { return r.end.room.wait(f) }

// watch is an epoll that Go's poller watches in place of the descriptor in it.
type watch struct {
	fd    int
	epoll int
	file  *os.File // of epoll
	raw   syscall.RawConn
	once  func(epoll uintptr) bool // calls try; made once, as in attempt
	try   func(fd uintptr) bool    // of the wait that is under way
}

func newWatch(fd int) (*watch, error) {
	epoll, err := syscall.EpollCreate1(syscall.EPOLL_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("epoll: %w", err)
	}
	// Only a descriptor that does not block is waited for by the runtime.
	if err := syscall.SetNonblock(epoll, true); err != nil {
		syscall.Close(epoll)
		return nil, fmt.Errorf("epoll: %w", err)
	}
	w := &watch{fd: fd, epoll: epoll, file: os.NewFile(uintptr(epoll), "epoll")}
	w.once = func(uintptr) bool { return w.try(uintptr(w.fd)) }
	if w.raw, err = w.file.SyscallConn(); err != nil {
		w.file.Close()
		return nil, err
	}
	return w, nil
}

// arm says what is watched for.
func (w *watch) arm(mask uint32) error {
	e := syscall.EpollEvent{Events: mask}
	err := syscall.EpollCtl(w.epoll, syscall.EPOLL_CTL_MOD, w.fd, &e)
	if err == syscall.ENOENT {
		err = syscall.EpollCtl(w.epoll, syscall.EPOLL_CTL_ADD, w.fd, &e)
	}
	if err != nil {
		return fmt.Errorf("epoll: %w", err)
	}
	return nil
}

// wait tries until it is well, each time that the descriptor has become ready.
func (w *watch) wait(try func(fd uintptr) bool) error {
	w.try = try
	if w.raw.Read(w.once) != nil {
		return net.ErrClosed // nothing else can go wrong
	}
	return nil
}

// close ends a wait and returns when it has ended. It may be called on nil.
func (w *watch) close() {
	if w != nil {
		w.file.Close()
	}
}
