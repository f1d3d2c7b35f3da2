// Children of a process, and what a gdb that has ended has left of them.

package inferior

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

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

// Children returns the children of the process that the tracer traces.
func (p *Process) Children(tracer int) []*Process {
	var all []*Process
	for _, pid := range childrenOf(p.pid) {
		if tracerOf(pid) == strconv.Itoa(tracer) {
			all = append(all, Open(pid))
		}
	}
	return all
}

// tracerOf returns the process ID of the tracer of a process, "0" if it has none; "": there is no such process.
func tracerOf(pid int) string {
	status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	return field(string(status), "TracerPid")
}

// The kernel stops each child of a traced process at its first instruction, by a SIGSTOP, until the tracer
// continues it. If the tracer is killed before, the child stays stopped, and a parent that called vfork
// does not return: no signal, and no other debugger, can stop that one.

// childWait is how long a child may take to stop after the end of its tracer.
const childWait = 100 * time.Millisecond

// continueChildren continues the children that a gdb that has ended has left at their first instruction,
// after it has removed their copies of the breakpoints.
func continueChildren(pid int) {
	for until := time.Now().Add(childWait); ; time.Sleep(childWait / 50) {
		anyComing := false
		for _, child := range childrenOf(pid) {
			held, coming := atStart(child)
			anyComing = anyComing || coming
			if !held {
				continue
			}
			p := Open(child)
			if held, _ = atStart(child); held { // no other process has got its id
				_, _ = breakpoints(child, true) // with them it may end by SIGTRAP; otherwise it would never run
				p.Signal(syscall.SIGCONT)
			}
			p.Close()
		}
		if !anyComing || time.Now().After(until) {
			return
		}
	}
}

// atStart reports whether a child without a tracer is stopped at its first instruction (held), and whether it may still
// be on its way there (coming).
func atStart(pid int) (held, coming bool) {
	if tracerOf(pid) != "0" {
		return false, false
	}
	switch state(fmt.Sprintf("/proc/%d/stat", pid)) {
	case 'T':
		// A child inherits the registers of its parent, and with them the number of the call.
		return forks(fmt.Sprintf("/proc/%d", pid)), false
	case 'R', 't':
		return false, isYoung(pid)
	}
	return false, false
}

// isYoung reports whether a process has used less than a tick of processor time.
func isYoung(pid int) bool { return CPUTime(pid) == "0+0" }

// RemoveFromChild removes breakpoints from a process that its tracer holds, or will hold, at its first
// instruction. It does nothing if the process has executed instructions and runs.
func (p *Process) RemoveFromChild() error {
	s := state(fmt.Sprintf("/proc/%d/stat", p.pid))
	if s != 't' && s != 'T' && !(s == 'R' && isYoung(p.pid)) {
		return nil
	}
	_, err := breakpoints(p.pid, true)
	return err
}
