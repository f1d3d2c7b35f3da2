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

// poller waits for descriptors to become ready. It is an epoll of our own that
// Go's runtime waits for like for any file: one goroutine is woken once for all
// of the gdbs that have written meanwhile, where a reader each would be woken
// one by one. wait belongs to one goroutine; add and remove to whoever may
// touch what is watched, and until and wake to all.
type poller struct {
	file   *os.File
	raw    syscall.RawConn
	fd     int
	events [256]unix.EpollEvent

	mu       sync.Mutex
	deadline time.Time // of until
	woken    bool      // the file has a deadline in the past instead
}

// ready is one descriptor that can be read or, where asked for, written.
type ready struct {
	slot   int32 // as given to add
	stream stream
}

// stream says which of a gdb's descriptors is ready.
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
	// Only a descriptor that does not block is waited for by the runtime.
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
func (p *poller) until(deadline time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.deadline = deadline
	if !p.woken {
		_ = p.file.SetReadDeadline(deadline)
	}
}

// wake ends a wait of now or later. Any goroutine may call it.
func (p *poller) wake() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.woken {
		p.woken = true
		_ = p.file.SetReadDeadline(time.Unix(0, 1)) // long ago
	}
}

// awake takes note of wake.
func (p *poller) awake() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.woken {
		p.woken = false
		_ = p.file.SetReadDeadline(p.deadline)
	}
}

// wait gives what is ready, or nothing when the time of until has come or wake was
// called.
func (p *poller) wait(into []ready) ([]ready, error) {
	into = into[:0]
	n, err := p.sleep()
	if err != nil {
		return into, err
	}
	p.awake()
	for _, e := range p.events[:n] {
		into = append(into, ready{slot: e.Fd, stream: stream(e.Pad)})
	}
	return into, nil
}

// sleep waits for the first event, and gives how many there are.
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
