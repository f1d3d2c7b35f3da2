// Package inferior is a process that is debugged, as the kernel shows it: whether it
// lives, its root directory, what is mapped into it, its memory. It works beside gdb,
// for what gdb does not do, does late, or leaves behind.
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

// Process is a process that is not ours to wait for. A pidfd (pidfd_open(2)) makes sure
// that no signal reaches a stranger who has got its number, and tells of its end even
// where gdb does not. Its methods may be called by one goroutine at a time.
type Process struct {
	// FD can be polled for reading once the process has ended; -1: it is gone, or the
	// kernel has no pidfds.
	FD   int
	pid  int
	born uint64 // see Born
	// Reaped says that somebody has waited for the process, so that its group may be
	// another's.
	Reaped bool
}

// Open takes hold of the process that has the number now. Close lets go of it.
func Open(pid int) *Process {
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		fd = -1
	}
	return &Process{pid: pid, FD: fd, born: Born(pid)}
}

// PID is its number.
func (p *Process) PID() int { return p.pid }

// Gone tells whether it has ended.
func (p *Process) Gone() bool {
	fds := []unix.PollFd{{Fd: int32(p.FD), Events: unix.POLLIN}}
	n, err := unix.Poll(fds, 0)
	return p.FD < 0 || err == nil && n > 0
}

// Signal sends a signal if the process still lives.
func (p *Process) Signal(sig syscall.Signal) {
	if p.FD >= 0 {
		unix.PidfdSendSignal(p.FD, sig, nil, 0)
	}
}

// SignalGroup reaches the group that a held target leads. It is there at least
// as long as the target has not been reaped.
func (p *Process) SignalGroup(sig syscall.Signal) {
	if p.Reaped || p.FD < 0 || unix.PidfdSendSignal(p.FD, 0, nil, 0) != nil {
		return
	}
	if group, err := unix.Getpgid(p.pid); err == nil && group == p.pid {
		unix.Kill(-p.pid, sig)
	}
	p.Signal(sig)
}

// Dead tells whether all its threads have ended, though perhaps nobody has reaped them: until
// its tracer has, Gone does not know (proc(5), /proc/PID/task/TID/stat: state Z or X). A process
// that cannot be seen is not called dead.
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

// Frozen tells whether it is stopped by a signal such as SIGSTOP (proc(5), /proc/PID/stat:
// state T).
func (p *Process) Frozen() bool { return state(fmt.Sprintf("/proc/%d/stat", p.pid)) == 'T' }

// AwaitFrozen waits until a process is stopped by a signal that is on its way, or has ended.
func AwaitFrozen(pid int) error {
	for wait := time.Millisecond; wait < time.Second; wait *= 2 {
		if s := state(fmt.Sprintf("/proc/%d/stat", pid)); s == 'T' || s == 'Z' || s == 0 {
			return nil
		}
		time.Sleep(wait)
	}
	return fmt.Errorf("process %d does not stop", pid)
}

// state reads the state off a stat file of proc(5); 0: there is none.
func state(file string) byte {
	b, _ := os.ReadFile(file)
	i := bytes.LastIndexByte(b, ')') // the name before it may hold anything
	if i < 0 || len(b) < i+3 {
		return 0
	}
	return b[i+2]
}

// Close lets go of the process; it may be called again.
func (p *Process) Close() {
	if p.FD >= 0 {
		unix.Close(p.FD)
		p.FD = -1
	}
}
