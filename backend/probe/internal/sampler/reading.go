// One process in one sample.

package sampler

import (
	"io/fs"
	"maps"
	"slices"

	"sdm/backend/probe/internal/hold"
	"sdm/backend/probe/internal/kernelcall"
	"sdm/backend/probe/internal/snapshot"
	"sdm/protocol"
	"sdm/protocol/stack"
	"sdm/protocol/wait"
)

// reading is what one sample finds out about one process. Its fields are set in the order in which they stand here.
type reading struct {
	*process
	options *Options
	host    *host

	// Before the process is held.
	state wait.State
	runs  *runs // nil without torch

	// While it is held.
	interpreter *pythonCopy     // nil: none is known
	futexes     map[int]*futex  // for which threads wait, by thread ID
	defect      *protocol.Fault // of a panic; nil: none

	// When it runs again.
	held     *hold.Process
	stopped  map[int]*hold.Thread // the threads of held, by thread ID
	shot     *snapshot.Process
	calls    map[int]blocked   // of MPI, by thread ID
	messages uint64            // hash of what MPI counts of messages; 0: not known, or not asked for
	torch    map[int]torchCall // of torch.distributed, by thread ID
}

// newReading begins a reading of a process that is to be held.
func newReading(p *process, o *Options, h *host) *reading {
	r := &reading{process: p, options: o, host: h, state: p.stateNow()}
	if p.mayUseTorch() {
		r.runs = runsOf(p.id)
	}
	return r
}

// guarded calls a function while the process is held: it must be resumed whatever happens. A panic is the defect.
func (r *reading) guarded(do func()) {
	if bad, _ := protocol.Guard("stacks", do); bad != nil {
		r.defect = bad
	}
}

// copy copies what changes as soon as the process runs.
func (r *reading) copy(held *hold.Process) {
	r.interpreter = r.python.copy(held)
	r.futexes = copyFutexes(held)
}

// resumed says that the process runs again.
func (r *reading) resumed(held *hold.Process) {
	r.held, r.tracer = held, held.Tracer
	r.stopped = make(map[int]*hold.Thread, len(held.Threads))
	for i := range held.Threads {
		r.stopped[held.Threads[i].TID] = &held.Threads[i]
	}
	r.state = stateHeld(r.state, r.pid, held)
}

// stateHeld returns the state of a process that was held, by the one before. pid is the ID of its first thread. Another
// sampler that held it at that time, or had just let it go, makes it seem traced or running.
func stateHeld(before wait.State, pid int, held *hold.Process) wait.State {
	i := slices.IndexFunc(held.Threads, func(t hold.Thread) bool { return t.TID == pid && t.Why == "" })
	if i < 0 || before != wait.Traced && before != wait.Running {
		return before
	}
	switch t := &held.Threads[i]; {
	case t.StoppedBy != 0:
		return wait.Stopped
	case t.Call.Number != kernelcall.None:
		return wait.Sleeping
	}
	return wait.Running
}

// shoot follows the copied stacks.
func (r *reading) shoot() { r.shot = r.snapshot(r.held) }

// isOutdated reports whether the mappings that were read do not explain the stacks: one was cut or leads
// through memory of no module, or a module on it is not where it was.
func (r *reading) isOutdated() bool {
	used := map[int]bool{}
	for i := range r.shot.Threads {
		t := &r.shot.Threads[i]
		if t.Stack.Cut != "" {
			return true
		}
		for _, f := range t.Stack.Frames {
			m := r.module(f.Lookup())
			if m < 0 && !f.Signal {
				return true
			}
			used[m] = true
		}
	}
	delete(used, -1)
	return !r.areInPlace(slices.Sorted(maps.Keys(used)))
}

// replace has the process be read by mappings that were read later.
func (r *reading) replace(now *process) {
	now.tracer = r.tracer
	if now.python == nil {
		r.interpreter = nil
	}
	r.process = now
}

// sample returns what the reading tells.
func (r *reading) sample() (s Sample) {
	if refused(r.shot) {
		return Sample{Err: fs.ErrPermission}
	}
	r.calls, r.torch = r.blockedCalls(), r.torchCalls()
	equal := map[string][]stack.Frame{}
	for t := range r.shot.Threads {
		s.Threads = append(s.Threads, r.framesOnce(&r.shot.Threads[t], equal))
	}
	if len(s.Threads) == 0 {
		s.Err = ErrEnded
	} else {
		s.Waits = r.waits(s.Threads)
		if r.options.Progress {
			s.Signs = r.signs(s.Waits, s.Threads)
		}
	}
	s.MPI = r.number.version
	if r.python != nil {
		s.Unknown, s.Lock = r.python.why, r.interpreter.lock()
	}
	return s
}
