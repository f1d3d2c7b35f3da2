// Writing to a unix socket, and waking nobody in vain.

package overlay

import (
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"syscall"
)

// socketOut is a connected unix socket that is only written to. It is watched while
// a Write waits for room, and otherwise not at all: Linux tells whoever watches a
// unix socket that it has room each time that the other side has read a packet, and
// Go's poller watches its sockets for everything, so that each packet would wake its
// sender once more, which often takes the processor from the very process that is at
// work on the packet.
//
// One goroutine at a time may write; Close may be called by anyone.
type socketOut struct {
	fd    int
	epoll int
	file  *os.File // of epoll, which Go's poller watches in place of fd
	raw   syscall.RawConn
	once  func(epoll uintptr) bool // calls try; made once, as in attempt
	try   func(fd uintptr) bool    // of the write that is under way
	close func() error
}

// newSocketOut takes over a connected unix socket, also when it fails.
func newSocketOut(fd int) (*socketOut, error) {
	o := &socketOut{fd: fd}
	o.once = func(uintptr) bool { return o.try(uintptr(o.fd)) }
	o.close = sync.OnceValue(o.closeAll)
	err := syscall.SetNonblock(fd, true)
	if err == nil {
		err = o.newEpoll()
	}
	if err != nil {
		o.close()
		return nil, err
	}
	return o, nil
}

func (o *socketOut) newEpoll() error {
	epoll, err := syscall.EpollCreate1(syscall.EPOLL_CLOEXEC)
	if err != nil {
		return fmt.Errorf("epoll: %w", err)
	}
	// Only a descriptor that does not block is waited for by the runtime.
	if err := syscall.SetNonblock(epoll, true); err != nil {
		syscall.Close(epoll)
		return fmt.Errorf("epoll: %w", err)
	}
	o.epoll, o.file = epoll, os.NewFile(uintptr(epoll), "epoll")
	o.raw, err = o.file.SyscallConn()
	return err
}

// Write returns when all is written.
func (o *socketOut) Write(p []byte) (int, error) {
	done := 0
	var failed error
	err := o.wait(func(fd uintptr) bool {
		for done < len(p) && failed == nil {
			n, errno := send(fd, p[done:])
			done += n
			switch errno {
			case 0:
			case syscall.EAGAIN:
				failed = o.arm()
				return failed != nil
			default:
				failed = errno
			}
		}
		return true
	})
	return done, errors.Join(err, failed)
}

// arm has the next room told, once.
func (o *socketOut) arm() error {
	e := syscall.EpollEvent{Events: syscall.EPOLLOUT | syscall.EPOLLONESHOT}
	err := syscall.EpollCtl(o.epoll, syscall.EPOLL_CTL_MOD, o.fd, &e)
	if err == syscall.ENOENT {
		err = syscall.EpollCtl(o.epoll, syscall.EPOLL_CTL_ADD, o.fd, &e)
	}
	if err != nil {
		return fmt.Errorf("epoll: %w", err)
	}
	return nil
}

// wait tries until it is well, each time that there is room.
func (o *socketOut) wait(try func(fd uintptr) bool) error {
	o.try = try
	if o.raw.Read(o.once) != nil {
		return net.ErrClosed // nothing else can go wrong
	}
	return nil
}

func (o *socketOut) Close() error { return o.close() }

// closeAll ends who waits before it closes the socket, as its number may be
// somebody else's then.
func (o *socketOut) closeAll() error {
	if o.file != nil {
		o.file.Close()
	}
	return syscall.Close(o.fd)
}

// SyscallConn is for nonblocking, which never waits for room.
func (o *socketOut) SyscallConn() (syscall.RawConn, error) { return rawOut{o}, nil }

type rawOut struct{ *socketOut }

func (r rawOut) Control(f func(fd uintptr)) error {
	return r.raw.Control(func(uintptr) { f(uintptr(r.fd)) })
}

func (r rawOut) Read(func(fd uintptr) bool) error { return errors.ErrUnsupported }

func (r rawOut) Write(f func(fd uintptr) bool) error { return r.wait(f) }
