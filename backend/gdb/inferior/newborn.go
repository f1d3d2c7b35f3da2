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
		anyYoung := false
		for _, child := range childrenOf(pid) {
			held, young := newborn(child)
			anyYoung = anyYoung || young
			if !held {
				continue
			}
			p := Open(child)
			if held, _ = newborn(child); held { // no other process has got its id
				_, _ = breakpoints(child, true) // with them it may end by SIGTRAP; otherwise it would never run
				p.Signal(syscall.SIGCONT)
			}
			p.Close()
		}
		if !anyYoung || time.Now().After(until) {
			return
		}
	}
}

// newborn reports whether a child that nobody traces is stopped at its first instruction, and whether it is so young that
// it may still be on its way there.
func newborn(pid int) (held, young bool) {
	status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if field(string(status), "TracerPid") != "0" {
		return false, false
	}
	switch state(fmt.Sprintf("/proc/%d/stat", pid)) {
	case 'T':
		// A child inherits the registers of its parent, and with them the number of the call.
		call, _ := os.ReadFile(fmt.Sprintf("/proc/%d/syscall", pid))
		number, _, _ := strings.Cut(string(call), " ")
		return slices.Contains(forking, number), false
	case 'R', 't':
		return false, isYoung(pid)
	}
	return false, false
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
