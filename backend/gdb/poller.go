// Waiting for many descriptors in one goroutine.

package gdb

import (
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// poller waits for descriptors to become ready. It is an epoll of our own that
// Go's runtime waits for like for any file: one goroutine is woken once for all
// of the gdbs that have written meanwhile, where a reader each would be woken
// one by one. wait belongs to one goroutine; the other methods to whoever may
// touch what is watched, and wake to all.
type poller struct {
	file   *os.File
	raw    syscall.RawConn
	fd     int
	bell   int         // eventfd that wake rings
	rung   atomic.Bool // it has been rung and not been heard yet
	events [256]unix.EpollEvent
}

// ready is one descriptor that can be read or, where asked for, written.
type ready struct {
	slot     int32 // as given to add
	stream   stream
	writable bool
}

// stream says which of a gdb's descriptors is ready.
type stream int32

const (
	streamBell   stream = iota
	streamOutput        // gdb's stdout
	streamErrors        // gdb's stderr
	streamInput         // gdb's stdin has room
	streamEnd           // gdb has ended
	streamTarget        // its target has ended
)

func newPoller() (*poller, error) {
	fd, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("epoll: %w", err)
	}
	bell, err := unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	if err != nil {
		unix.Close(fd)
		return nil, fmt.Errorf("eventfd: %w", err)
	}
	// Only a descriptor that does not block is waited for by the runtime.
	if err := unix.SetNonblock(fd, true); err != nil {
		unix.Close(fd)
		unix.Close(bell)
		return nil, fmt.Errorf("epoll: %w", err)
	}
	p := &poller{file: os.NewFile(uintptr(fd), "epoll"), fd: fd, bell: bell}
	if p.raw, err = p.file.SyscallConn(); err == nil {
		err = p.add(bell, 0, streamBell)
	}
	if err != nil {
		p.close()
		return nil, fmt.Errorf("epoll: %w", err)
	}
	return p, nil
}

// add begins to watch a descriptor: for room where it is gdb's input, for
// something to read otherwise.
func (p *poller) add(fd int, slot int32, s stream) error {
	mask := uint32(unix.EPOLLIN)
	if s == streamInput {
		mask = unix.EPOLLOUT
	}
	return unix.EpollCtl(p.fd, unix.EPOLL_CTL_ADD, fd, &unix.EpollEvent{Events: mask, Fd: slot, Pad: int32(s)})
}

// remove ends it; a closed descriptor is gone by itself.
func (p *poller) remove(fd int) { unix.EpollCtl(p.fd, unix.EPOLL_CTL_DEL, fd, nil) }

// until ends waits, the present one too, at a time; zero is never. It fails
// only on a closed poller, as wait does.
func (p *poller) until(deadline time.Time) { _ = p.file.SetReadDeadline(deadline) }

// wait gives what is ready, or nothing when the time of until has come.
func (p *poller) wait(into []ready) ([]ready, error) {
	into = into[:0]
	var n int
	var failed error
	err := p.raw.Read(func(uintptr) bool {
		n, failed = epoll(p.fd, p.events[:])
		return n > 0 || failed != nil && failed != unix.EINTR
	})
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return into, nil
	case err != nil:
		return into, err
	case failed != nil:
		return into, failed
	}
	for _, e := range p.events[:max(n, 0)] {
		if stream(e.Pad) == streamBell {
			p.hear()
			continue
		}
		into = append(into, ready{slot: e.Fd, stream: stream(e.Pad), writable: e.Events&unix.EPOLLOUT != 0})
	}
	return into, nil
}

// wake ends a wait of now or later. Any goroutine may call it.
func (p *poller) wake() {
	if p.rung.CompareAndSwap(false, true) {
		one := [8]byte{1}
		write(p.bell, one[:])
	}
}

func (p *poller) hear() {
	var b [8]byte
	read(p.bell, b[:])
	p.rung.Store(false)
}

func (p *poller) close() {
	p.file.Close()
	unix.Close(p.bell)
}
