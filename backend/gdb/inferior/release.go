// Releasing a process from a debugger that has not detached in order.

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

// Undo releases a process whose debugger has ended in any way: it removes what the debugger has left (see
// clear) and continues the process. stopped reports that the process was stopped by a signal before it
// was attached to: then it stays stopped. halted reports that sdm has stopped it since.
// If another debugger traces the process by now, Undo only undoes sdm's own stop.
func (p *Process) Undo(stopped, halted bool) error {
	traced := p.keepsTracer()
	if p.Gone() || traced && !halted {
		return nil
	}
	var err error
	if !traced {
		if err = p.clear(); p.Gone() {
			return nil
		}
	}
	if !stopped {
		// SIGCONT also removes a pending SIGSTOP (signal(7)).
		p.Signal(syscall.SIGCONT)
	}
	return err
}

// ContinueDetached continues a process from which its debugger has detached, unless it was stopped by a
// signal before the attach: gdb 13.1 leaves a SIGSTOP if it is told to detach while it attaches, or if it
// attaches to several processes at a time.
func (p *Process) ContinueDetached(stopped bool) {
	if stopped || p.Gone() || p.traced() {
		return
	}
	// It checks twice: between the checks a signal that was no longer pending may have stopped the
	// process.
	for range 2 {
		if p.stopping() {
			p.Signal(syscall.SIGCONT)
			return
		}
	}
}

// tracerTime is how long a debugger that was killed may take to detach, in milliseconds: a gdb in
// a wrapper ends after the wrapper.
const tracerTime = 500

// keepsTracer reports whether a thread still has a tracer after tracerTime.
func (p *Process) keepsTracer() bool {
	for range tracerTime / 10 {
		if !p.traced() {
			return false
		}
		if p.FD < 0 || p.AwaitEnd(10) {
			break
		}
	}
	return p.traced()
}

// traced reports whether a thread has a tracer.
func (p *Process) traced() bool {
	for _, s := range p.statuses() {
		if tracer := field(s, "TracerPid"); tracer != "" && tracer != "0" {
			return true
		}
	}
	return false
}

// stopping reports whether the process is stopped by a signal, or will be when a thread takes a
// pending one.
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

// statuses returns the status files of all threads (proc(5)).
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

// field returns a field of a status file.
func field(status, name string) string {
	for line := range strings.Lines(status) {
		if text, ok := strings.CutPrefix(line, name+":"); ok {
			return strings.TrimSpace(text)
		}
	}
	return ""
}

// StartTime returns the start time of a process, in ticks since boot. With the process id it identifies
// the process until the next boot (proc(5), /proc/PID/stat, starttime). 0: there is no such process.
func StartTime(pid int) uint64 {
	ticks, _ := strconv.ParseUint(statField(pid, 22), 10, 64) // "" is 0
	return ticks
}

// AwaitEnd waits until the process has ended, for ms milliseconds at most, and reports whether it has.
func (p *Process) AwaitEnd(ms int) bool {
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
