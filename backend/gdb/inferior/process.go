// Package inferior provides what the kernel shows of a process that is debugged: whether it lives,
// its root directory, its mappings, its memory. It complements gdb, for what gdb does not do, does
// late, or leaves behind.
package inferior

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Process is a process that is not a child of this one. A pidfd (pidfd_open(2)) makes sure that no
// signal reaches another process that has got its id, and reports its end even if gdb does not.
// One goroutine at a time may call its methods.
type Process struct {
	// FD can be polled for reading once the process has ended; -1: it has ended, or the kernel has
	// no pidfds.
	FD   int
	pid  int
	born uint64 // see StartTime
	// Reaped reports that the parent has waited for the process, so that another process group may
	// have its id.
	Reaped bool
}

// Open opens the process that has the id now. Close releases it.
func Open(pid int) *Process {
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		fd = -1
	}
	return &Process{pid: pid, FD: fd, born: StartTime(pid)}
}

// PID returns the process id.
func (p *Process) PID() int { return p.pid }

// Gone reports whether the process has ended.
func (p *Process) Gone() bool {
	fds := []unix.PollFd{{Fd: int32(p.FD), Events: unix.POLLIN}}
	n, err := unix.Poll(fds, 0)
	return p.FD < 0 || err == nil && n > 0
}

// Signal sends a signal to the process unless it has ended.
func (p *Process) Signal(sig syscall.Signal) {
	if p.FD >= 0 {
		unix.PidfdSendSignal(p.FD, sig, nil, 0)
	}
}

// SignalGroup sends a signal to the process group that a held target leads. The group exists at
// least until the parent has waited for the target.
func (p *Process) SignalGroup(sig syscall.Signal) {
	if p.Reaped || p.FD < 0 || unix.PidfdSendSignal(p.FD, 0, nil, 0) != nil {
		return
	}
	if group, err := unix.Getpgid(p.pid); err == nil && group == p.pid {
		unix.Kill(-p.pid, sig)
	}
	p.Signal(sig)
}

// Dead reports whether all threads have ended, even if the process has not been waited for: Gone
// reports the end only after the tracer has waited for it (proc(5), /proc/PID/task/TID/stat: state
// Z or X). It is false for a process that cannot be inspected.
func (p *Process) Dead() bool {
	tasks := fmt.Sprintf("/proc/%d/task", p.pid)
	all, err := os.ReadDir(tasks)
	if err != nil {
		return false
	}
	for _, t := range all {
		if s := state(filepath.Join(tasks, t.Name(), "stat")); s != 'Z' && s != 'X' {
			return false
		}
	}
	return len(all) > 0
}

// Frozen reports whether the process is stopped by a signal such as SIGSTOP (proc(5),
// /proc/PID/stat: state T).
func (p *Process) Frozen() bool { return state(fmt.Sprintf("/proc/%d/stat", p.pid)) == 'T' }

// AwaitFrozen waits until a process is stopped by a signal that has been sent, or has ended. It returns
// an error if that takes longer than about a second.
func AwaitFrozen(pid int) error {
	for wait := time.Millisecond; wait < time.Second; wait *= 2 {
		if s := state(fmt.Sprintf("/proc/%d/stat", pid)); s == 'T' || s == 'Z' || s == 0 {
			return nil
		}
		time.Sleep(wait)
	}
	return fmt.Errorf("process %d does not stop", pid)
}

// state returns the state in a stat file of proc(5); 0 if there is none.
func state(file string) byte {
	b, _ := os.ReadFile(file)
	i := bytes.LastIndexByte(b, ')') // the name before it may contain any character
	if i < 0 || len(b) < i+3 {
		return 0
	}
	return b[i+2]
}

// Close releases the process; it may be called again.
func (p *Process) Close() {
	if p.FD >= 0 {
		unix.Close(p.FD)
		p.FD = -1
	}
}
