// What a debugger that did not come to its end has left of an attach.

package inferior

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// Undo releases a process whose debugger is gone, however that has ended: it takes the
// debugger's breakpoints out, and the process runs on. stopped tells that it was stopped by a
// signal before it was attached to: then it stays as it is. halted tells that we have stopped it since. A process
// that another debugger has by now is left to that, but for our own stop.
func (p *Process) Undo(stopped, halted bool) error {
	traced := p.keepsTracer()
	if p.Gone() || traced && !halted {
		return nil
	}
	var err error
	if !traced {
		err = Mend(p.pid)
	}
	if !stopped {
		// SIGCONT removes a SIGSTOP that is still pending, too (signal(7)).
		p.Signal(syscall.SIGCONT)
	}
	return err
}

// Settle releases a process from which its debugger has detached: gdb 13.1 leaves a SIGSTOP behind
// where it is told to detach while it attaches, or attaches to several at a time.
func (p *Process) Settle(stopped bool) {
	if stopped || p.Gone() || p.traced() {
		return
	}
	// Twice: between the two, a signal that was taken from the queue has stopped the process.
	for range 2 {
		if p.stopping() {
			p.Signal(syscall.SIGCONT)
			return
		}
	}
}

// tracerTime is how long a debugger that was killed may take to let go, in milliseconds: a gdb in a wrapper ends after the
// wrapper.
const tracerTime = 500

// keepsTracer tells whether some thread has a tracer that does not go.
func (p *Process) keepsTracer() bool {
	for range tracerTime / 10 {
		if !p.traced() {
			return false
		}
		if p.FD < 0 || p.End(10) {
			break
		}
	}
	return p.traced()
}

// traced tells whether some thread has a tracer.
func (p *Process) traced() bool {
	for _, s := range p.statuses() {
		if tracer := field(s, "TracerPid"); tracer != "" && tracer != "0" {
			return true
		}
	}
	return false
}

// stopping tells whether the process is stopped by a signal, or will be as soon as a thread
// takes a pending one.
func (p *Process) stopping() bool {
	const stop = 1 << (syscall.SIGSTOP - 1)
	for _, s := range p.statuses() {
		if strings.HasPrefix(field(s, "State"), "T") {
			return true
		}
		for _, set := range []string{"SigPnd", "ShdPnd"} {
			if bits, err := strconv.ParseUint(field(s, set), 16, 64); err == nil && bits&stop != 0 {
				return true
			}
		}
	}
	return false
}

// statuses are the status files of all threads (proc(5)).
func (p *Process) statuses() []string {
	files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/status", p.pid))
	var all []string
	for _, f := range files {
		if b, err := os.ReadFile(f); err == nil {
			all = append(all, string(b))
		}
	}
	return all
}

// field gives a field of a status file.
func field(status, name string) string {
	for line := range strings.Lines(status) {
		if text, ok := strings.CutPrefix(line, name+":"); ok {
			return strings.TrimSpace(text)
		}
	}
	return ""
}

// Born tells when a process was started, in ticks since the machine was: with its number that names
// it for as long as the machine runs (proc(5), /proc/PID/stat, starttime). 0: there is none.
func Born(pid int) uint64 {
	ticks, _ := strconv.ParseUint(statField(pid, 22), 10, 64) // "" is 0
	return ticks
}

// End waits until the process has ended, at most for ms milliseconds; it tells whether it has.
func (p *Process) End(ms int) bool {
	if p.FD < 0 {
		return true
	}
	for {
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(p.FD), Events: unix.POLLIN}}, ms)
		if err != unix.EINTR {
			return err == nil && n > 0
		}
	}
}
