// Waiting for many descriptors in one goroutine.

package gdb

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// poller waits for descriptors to become ready. It is an epoll instance that Go's
// runtime polls like any file: one goroutine is woken once for all gdbs that have
// written, instead of one reader for each. wake is for any goroutine, all else for the one
// that calls wait.
type poller struct {
	file   *os.File
	raw    syscall.RawConn
	fd     int
	events [256]unix.EpollEvent

	mu       sync.Mutex
	deadline time.Time // set by until
	woken    bool      // the deadline of file is in the past instead
}

// ready is a descriptor that can be read or, for gdb's input, written.
type ready struct {
	number int32 // as given to add
	stream stream
}

// stream tells which of a gdb's descriptors is ready.
type stream int32

const (
	streamOutput stream = iota // gdb's stdout
	streamErrors               // gdb's stderr
	streamInput                // gdb's stdin has room
	streamEnd                  // gdb has ended
	streamTarget               // its target has ended
)

func newPoller() (*poller, error) {
	fd, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("epoll: %w", err)
	}
	// The runtime polls only a non-blocking descriptor.
	if err := unix.SetNonblock(fd, true); err != nil {
		unix.Close(fd)
		return nil, fmt.Errorf("epoll: %w", err)
	}
	p := &poller{file: os.NewFile(uintptr(fd), "epoll"), fd: fd}
	if p.raw, err = p.file.SyscallConn(); err != nil {
		p.close()
		return nil, fmt.Errorf("epoll: %w", err)
	}
	return p, nil
}

// add starts watching a descriptor: for room if it is gdb's input, otherwise for input.
func (p *poller) add(fd int, number int32, s stream) error {
	mask := uint32(unix.EPOLLIN)
	if s == streamInput {
		mask = unix.EPOLLOUT
	}
	return unix.EpollCtl(p.fd, unix.EPOLL_CTL_ADD, fd, &unix.EpollEvent{Events: mask, Fd: number, Pad: int32(s)})
}

// remove stops watching it; closing a descriptor does so, too.
func (p *poller) remove(fd int) { unix.EpollCtl(p.fd, unix.EPOLL_CTL_DEL, fd, nil) }

// until sets the time at which waits end, also the present one; zero: never. Like wait
// it fails only on a closed poller.
func (p *poller) until(deadline time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.deadline = deadline
	if !p.woken {
		_ = p.file.SetReadDeadline(deadline)
	}
}

// wake ends the present or next wait. Any goroutine may call it.
func (p *poller) wake() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.woken {
		p.woken = true
		_ = p.file.SetReadDeadline(time.Unix(0, 1)) // long ago
	}
}

// awake resets wake.
func (p *poller) awake() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.woken {
		p.woken = false
		_ = p.file.SetReadDeadline(p.deadline)
	}
}

// wait returns the ready descriptors; none after the time of until or after wake.
func (p *poller) wait(into []ready) ([]ready, error) {
	into = into[:0]
	n, err := p.sleep()
	if err != nil {
		return into, err
	}
	p.awake()
	for _, e := range p.events[:n] {
		into = append(into, ready{number: e.Fd, stream: stream(e.Pad)})
	}
	return into, nil
}

// sleep waits for the first event, and returns the number of events.
func (p *poller) sleep() (n int, err error) {
	var failed error
	err = p.raw.Read(func(uintptr) bool {
		n, failed = epoll(p.fd, p.events[:])
		return n > 0 || failed != nil && failed != unix.EINTR
	})
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return 0, nil
	case err != nil:
		return 0, err
	case failed != nil:
		return 0, failed
	}
	return n, nil
}

func (p *poller) close() { p.file.Close() }
