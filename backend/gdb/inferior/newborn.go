// Children that a gdb that has ended has left stopped at their first instruction.

package inferior

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// The kernel stops each child of a traced process at its first instruction, by a SIGSTOP, until the tracer
// continues it. If the tracer is killed before, the child stays stopped, and a parent that called vfork
// does not return: no signal, and no other debugger, can stop that one.

// newbornWait is how long a child may take to stop after the end of its tracer.
const newbornWait = 100 * time.Millisecond

// continueNewborn continues the children that a gdb that has ended has left at their first instruction,
// after it has removed the breakpoints, of which they have copies.
func continueNewborn(pid int) {
	for until := time.Now().Add(newbornWait); ; time.Sleep(newbornWait / 50) {
		young := false
		for _, child := range childrenOf(pid) {
			switch newborn(child) {
			case running:
				young = true
			case stopped:
				p := Open(child)
				if newborn(child) == stopped { // another process has not got its id
					_, _ = breakpoints(child, true) // it ends by SIGTRAP at worst, and would not run otherwise
					p.Signal(syscall.SIGCONT)
				}
				p.Close()
			}
		}
		if !young || time.Now().After(until) {
			return
		}
	}
}

// childState is what a child does that has not returned from the system call that created it.
type childState int

const (
	other   childState = iota // it has returned, or has ended, or is traced
	running                   // it may still be on its way to its stop
	stopped
)

// newborn returns the state of a child.
func newborn(pid int) childState {
	status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if field(string(status), "TracerPid") != "0" {
		return other
	}
	switch state(fmt.Sprintf("/proc/%d/stat", pid)) {
	case 'T':
		// A child inherits the registers of its parent, and with them the number of the call.
		call, _ := os.ReadFile(fmt.Sprintf("/proc/%d/syscall", pid))
		if number, _, _ := strings.Cut(string(call), " "); slices.Contains(forking, number) {
			return stopped
		}
	case 'R', 't':
		if isYoung(pid) {
			return running
		}
	}
	return other
}

// isYoung reports whether a process has used less than a tick of processor time.
func isYoung(pid int) bool { return CPUTime(pid) == "0+0" }

// waits reports whether a process executes no instructions, or has not begun to.
func (p *Process) waits() bool {
	s := state(fmt.Sprintf("/proc/%d/stat", p.pid))
	return s == 't' || s == 'T' || s == 'R' && isYoung(p.pid)
}

// childrenOf returns the children of all threads of a process (proc(5), /proc/PID/task/TID/children).
func childrenOf(pid int) []int {
	var all []int
	lists, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, list := range lists {
		b, _ := os.ReadFile(list)
		for _, text := range strings.Fields(string(b)) {
			if child, err := strconv.Atoi(text); err == nil {
				all = append(all, child)
			}
		}
	}
	return all
}
