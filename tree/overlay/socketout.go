// Writing to a Unix socket without needless wake-ups.

package overlay

import (
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"syscall"
)

// socketOut is a connected Unix socket that is only written to. It is polled only
// while a Write waits for room. Linux notifies a poller of a Unix socket each time
// the other side has read a packet, and Go's poller watches all events of its
// sockets, so each packet would wake its sender again, and often take the processor
// from the process that handles the packet.
//
// One goroutine at a time may write; Close may be called by any goroutine.
type socketOut struct {
	fd    int
	epoll int
	file  *os.File // of epoll, which Go's poller watches in place of fd
	raw   syscall.RawConn
	once  func(epoll uintptr) bool // calls try; made once, as in attempt
	try   func(fd uintptr) bool    // the current write
	close func() error
}

// newSocketOut returns a socketOut for a connected Unix socket. It owns the
// descriptor, also when it fails.
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
	// The runtime polls non-blocking descriptors only.
	if err := syscall.SetNonblock(epoll, true); err != nil {
		syscall.Close(epoll)
		return fmt.Errorf("epoll: %w", err)
	}
	o.epoll, o.file = epoll, os.NewFile(uintptr(epoll), "epoll")
	o.raw, err = o.file.SyscallConn()
	return err
}

// Write returns when everything is written.
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

// arm requests one notification when there is room.
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

// wait calls try until it returns true, each time there is room.
func (o *socketOut) wait(try func(fd uintptr) bool) error {
	o.try = try
	if o.raw.Read(o.once) != nil {
		return net.ErrClosed // the only possible error
	}
	return nil
}

func (o *socketOut) Close() error { return o.close() }

// closeAll ends a blocked Write before it closes the socket, because the descriptor
// number may be reused afterwards.
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
