// Whether processes have run between two samples.

package probe

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"sdm/backend/probe/hold"
	"sdm/backend/probe/snapshot"
)

// runs tell whether a process has run, and sent something, between two samples.
type runs struct {
	// switches are how often the threads have left a processor, by thread ID.
	switches map[int]uint64
	written  uint64 // bytes that the process has written to files and sockets
}

// switchesOfHold is how often a thread that sleeps leaves a processor because it is held once: when it is stopped, and
// when it sleeps again.
const switchesOfHold = 2

// mostSwitches bounds the threads of a process whose switches are read.
const mostSwitches = 1024

// runsOf returns those of a process; nil: they are not known.
func runsOf(pid int) *runs {
	dir := fmt.Sprintf("/proc/%d/", pid)
	tasks, err := os.ReadDir(dir + "task")
	if err != nil || len(tasks) > mostSwitches {
		return nil
	}
	r := &runs{switches: map[int]uint64{}}
	for _, t := range tasks {
		tid, _ := strconv.Atoi(t.Name())
		n, ok := sumOf(dir+"task/"+t.Name()+"/status", "voluntary_ctxt_switches", "nonvoluntary_ctxt_switches")
		if !ok {
			return nil
		}
		r.switches[tid] = n
	}
	var ok bool
	if r.written, ok = sumOf(dir+"io", "wchar"); !ok {
		return nil
	}
	return r
}

// sumOf returns the sum of some of the numbers of a file of lines "name: number".
func sumOf(path string, names ...string) (sum uint64, ok bool) {
	text, err := hold.ReadText(path, nil)
	if err != nil {
		return 0, false
	}
	found := 0
	for line := range strings.Lines(string(text)) {
		if name, value, _ := strings.Cut(line, ":"); slices.Contains(names, name) {
			n, err := strconv.ParseUint(strings.TrimSpace(value), 10, 64)
			if err != nil {
				return 0, false
			}
			sum += n
			found++
		}
	}
	return sum, found == len(names)
}

// slept reports whether since earlier runs, after which the process was held once, no thread but those that
// poll has run, and nothing was sent.
func (r *runs) slept(earlier *runs, poll map[int]bool) bool {
	if r == nil || earlier == nil || len(r.switches) != len(earlier.switches) || r.written != earlier.written {
		return false
	}
	for tid, n := range r.switches {
		before, known := earlier.switches[tid]
		if !known || n != before+switchesOfHold && !poll[tid] {
			return false
		}
	}
	return true
}

// pollsOfGloo is the function of gloo that polls the connections all the time. It wakes other threads when a message is there.
const pollsOfGloo = "_ZN4gloo9transport3tcp4Loop3runEv"

// polling returns the threads that poll the connections of gloo.
func (p *process) polling(s *snapshot.Process) map[int]bool {
	polling := map[int]bool{}
	for i := range s.Threads {
		for _, f := range s.Threads[i].Stack.Frames {
			m := p.module(f.Lookup())
			if m < 0 || !strings.Contains(p.modules[m].Path, "gloo") && !strings.Contains(p.modules[m].Path, "torch") {
				continue
			}
			if name, _, _ := (placed{p, m}).Function(f.Lookup()); name == pollsOfGloo {
				polling[s.Threads[i].TID] = true
			}
		}
	}
	return polling
}
