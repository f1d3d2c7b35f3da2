// Whether processes have run between two samples.

package sampler

import (
	"strings"

	"sdm/backend/probe/internal/hold"
	"sdm/backend/probe/internal/proc"
	"sdm/backend/probe/internal/snapshot"
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

// maxSwitches bounds the threads of a process whose switches are read.
const maxSwitches = 1024

// runsOf returns the runs of a process; nil: they are not known.
func runsOf(pid int) *runs {
	tids := hold.Threads(pid)
	if len(tids) > maxSwitches {
		return nil
	}
	r := &runs{switches: map[int]uint64{}}
	for _, tid := range tids {
		s := proc.StatusOf(pid, tid)
		if s.State == "" {
			return nil
		}
		r.switches[tid] = s.Switches
	}
	moved := hold.TransferOf(pid)
	if moved == (hold.Transfer{}) {
		return nil
	}
	r.written = moved.Written
	return r
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

// pollsOfGloo is the function of gloo that polls the connections all the time. It wakes other threads when a message is
// there.
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
