// Threads that a tracer holds, and the children that it holds with them.

package inferior

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// forking are the numbers of the system calls that make a process (amd64: clone, fork, vfork, clone3; arm64: clone,
// clone3).
var forking = []string{"56", "57", "58", "435", "220"}

// Held is what a look at the threads has shown that stand in a stop of their tracer (proc(5), /proc/PID/stat: state t).
type Held struct {
	// Threads are these, and how often each has run: twice the same is that they have stood there in between. Where
	// some stand in the making of a process, it is about these alone. "" is none.
	Threads string
	Forks   bool // they make a process
	All     bool // no thread runs, and none is to get a SIGSTOP of its tracer's, which would take it back by SIGCONT, and ours with it
}

// Held looks at the threads.
func (p *Process) Held() Held {
	var all, forked []string
	pends := false
	tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*", p.pid))
	for _, task := range tasks {
		if state(task+"/stat") != 't' {
			continue
		}
		b, _ := os.ReadFile(task + "/status")
		status := string(b)
		thread := field(status, "Pid") + ":" + field(status, "voluntary_ctxt_switches") + "+" + field(status, "nonvoluntary_ctxt_switches")
		all = append(all, thread)
		pends = pends || pendingIn(status, syscall.SIGSTOP)
		call, _ := os.ReadFile(task + "/syscall")
		if number, _, _ := strings.Cut(string(call), " "); slices.Contains(forking, number) {
			forked = append(forked, thread)
		}
	}
	h := Held{Threads: strings.Join(all, " "), Forks: forked != nil, All: len(all) == len(tasks) && !pends}
	if h.Forks {
		h.Threads = strings.Join(forked, " ")
	}
	return h
}

// Children are those of its children that a tracer has.
func (p *Process) Children(tracer int) []*Process {
	var all []*Process
	lists, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", p.pid))
	for _, list := range lists {
		b, _ := os.ReadFile(list)
		for _, text := range strings.Fields(string(b)) {
			pid, _ := strconv.Atoi(text)
			status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
			if field(string(status), "TracerPid") == strconv.Itoa(tracer) {
				all = append(all, Open(pid))
			}
		}
	}
	return all
}

// GoOn lets processes run whose tracer has ended: what it held at their first instruction, the kernel stops for good.
func GoOn(all []*Process) {
	for _, p := range all {
		p.Signal(syscall.SIGCONT)
		p.Close()
	}
}

// CPUTime is the processor time that a process has used, in ticks, as text.
func CPUTime(pid int) string { return statField(pid, 14) + "+" + statField(pid, 15) }
