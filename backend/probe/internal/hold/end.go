// Ends of processes that are not our children.

package hold

import (
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// Handle refers to one process, even after its process ID is used again. Several goroutines may use it.
type Handle struct {
	pid    int
	file   *os.File // pidfd; nil: the kernel has none
	start  uint64   // without pidfd: when the process was started, in clock ticks after boot
	closed chan struct{}
	once   sync.Once
}

// OpenProcess returns a handle of a process, to be closed; fs.ErrNotExist: it has ended.
func OpenProcess(pid int) (*Handle, error) {
	h := &Handle{pid: pid, closed: make(chan struct{})}
	alive := true
	if fd, err := unix.PidfdOpen(pid, 0); err == nil {
		_ = unix.SetNonblock(fd, true) // so that Wait does not occupy a thread; if this fails, it does
		h.file = os.NewFile(uintptr(fd), "pidfd")
	} else {
		h.start, alive = startOf(pid)
	}
	if !alive || h.file != nil && h.Over() {
		h.Close()
		return nil, fs.ErrNotExist
	}
	return h, nil
}

// exitCode is the index of the field exit_code of proc(5), stat, in what statOf returns. The kernel shows it to
// users that may trace the process.
const exitCode = 52 - 3

// statOf returns the third field and later ones of the file stat of a process; nil: there is none.
func statOf(pid int) []string {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return nil
	}
	return strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
}

// startOf returns when a process was started. alive is false if it has ended, even if its parent has not
// waited for it. A process whose first thread has ended is alive while other threads run (proc(5), stat).
func startOf(pid int) (ticks uint64, alive bool) {
	fields := statOf(pid)
	if len(fields) < 20 {
		return 0, false
	}
	ticks, err := strconv.ParseUint(fields[19], 10, 64)
	over := strings.Contains("ZXx", fields[0]) && (fields[17] == "0" || fields[17] == "1")
	return ticks, err == nil && !over
}

// Over reports whether the process has ended.
func (h *Handle) Over() bool {
	if h.file != nil {
		if c, err := h.file.SyscallConn(); err == nil {
			over := false
			if c.Control(func(fd uintptr) { over = hasEnded(fd) }) == nil {
				return over
			}
		}
	}
	start, alive := startOf(h.pid)
	return !alive || start != h.start
}

// hasEnded polls a pidfd, which is readable when its process has ended (pidfd_open(2)).
func hasEnded(fd uintptr) bool {
	p := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
	n, err := unix.Poll(p, 0)
	return err == nil && n > 0
}

// pollEnd is the interval at which Wait looks for the process in kernels without pidfd (before 5.3).
const pollEnd = time.Second / 2

// Wait waits for the end of the process. It returns false if the handle was closed.
func (h *Handle) Wait() (ended bool) {
	if h.file != nil {
		if c, err := h.file.SyscallConn(); err == nil {
			switch err := c.Read(hasEnded); {
			case err == nil:
				return true
			case h.isClosed():
				return false
			}
		}
	}
	tick := time.NewTicker(pollEnd)
	defer tick.Stop()
	for !h.Over() {
		select {
		case <-h.closed:
			return false
		case <-tick.C:
		}
	}
	return true
}

func (h *Handle) isClosed() bool {
	select {
	case <-h.closed:
		return true
	default:
		return false
	}
}

// Close releases the handle and makes Wait return. It may be called several times.
func (h *Handle) Close() {
	h.once.Do(func() {
		close(h.closed)
		if h.file != nil {
			h.file.Close()
		}
	})
}
