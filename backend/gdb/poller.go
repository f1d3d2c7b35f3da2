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
	rested time.Time // when it may linger again
	vain   int       // times in a row that it has lingered in vain, up to maxDoublings

	mu       sync.Mutex
	deadline time.Time // of until
	woken    bool      // the file has a deadline in the past instead
}

const (
	// lingerFor is how long a wait that is expected to be short asks again and again
	// before it sleeps. A processor without work falls asleep, and to wake it takes
	// 20 to 40 µs on a virtual machine, of the 80 that gdb needs to evaluate an
	// expression. Linux does the same in its own idle loop where it can
	// (guest-haltpoll); whoever has work for this processor goes first.
	lingerFor = 200 * time.Microsecond
	// restTimes is how many times as long as it has lingered in vain it does not after that, and
	// twice as many after each further time in a row, up to maxDoublings: gdbs that need
	// long, or ranks that compute on this processor and are let go first, for milliseconds each
	// time, are soon known.
	restTimes    = 8
	maxDoublings = 7
)

// ready is one descriptor that can be read or, where asked for, written.
type ready struct {
	slot     int32 // as given to add
	stream   stream
	writable bool
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
// called. soon is said when it will not take long, as far as one can know.
func (p *poller) wait(into []ready, soon bool) ([]ready, error) {
	into = into[:0]
	n := 0
	if soon {
		n = p.linger()
	}
	if n == 0 {
		var err error
		if n, err = p.sleep(); err != nil {
			return into, err
		}
	}
	p.awake()
	for _, e := range p.events[:n] {
		into = append(into, ready{slot: e.Fd, stream: stream(e.Pad), writable: e.Events&unix.EPOLLOUT != 0})
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

// linger is sleep without sleeping; it gives up after lingerFor. It keeps other
// goroutines of this processor waiting as long.
func (p *poller) linger() int {
	began := time.Now()
	if began.Before(p.rested) {
		return 0
	}
	now := began
	for end := began.Add(lingerFor); now.Before(end); now = time.Now() {
		if n, err := epoll(p.fd, p.events[:]); n > 0 || err != nil {
			p.vain = 0
			return n // an error is found again by sleep
		}
		yield()
	}
	p.rested = now.Add(now.Sub(began) * restTimes << p.vain)
	p.vain = min(p.vain+1, maxDoublings)
	return 0
}

func (p *poller) close() { p.file.Close() }
