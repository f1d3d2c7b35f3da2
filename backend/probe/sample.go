// Stacks of processes.

package probe

import (
	"io/fs"
	"maps"
	"slices"
	"time"

	"sdm/backend/probe/internal/hold"
	"sdm/backend/probe/internal/snapshot"
	"sdm/protocol"
	"sdm/protocol/stack"
)

// sample is the stacks of one process at one time.
type sample struct {
	err     error // nothing could be read
	threads [][]stack.Frame
	waits   *waits // nil: there are no threads
	unknown string // why its interpreter of Python is not known; "": it is known, or there is none
	signs   *signs // nil: they were not asked for
	mpi     string // version of its library of MPI; "": not known, or there is none
	lock    string // the innermost Python frame of the thread that holds the GIL; "": none does
}

// view is how stacks are shown.
type view struct {
	by  string // granularity: function, line or address
	all bool   // helper threads of runtimes are not folded
}

// cost is what samples cost the processes.
type cost struct {
	threads int           // that were read; twice if a process was read twice
	held    time.Duration // of the process that was held longest at a time
}

// maxTakes is how often a process is read at most if its Python frames are inconsistent.
const maxTakes = 3

// take stops all threads of processes at the same time, copies their stacks, resumes them and follows the
// copied stacks. Result i is that of pids[i]. The caller calls unload when it has answered.
func (c *cache) take(pids []int, v view) []sample {
	c.cost = cost{}
	c.host.renew()
	return c.takeMore(pids, v)
}

// takeMore is take for further processes, shortly after that of others.
func (c *cache) takeMore(pids []int, v view) []sample {
	out := make([]sample, len(pids))
	again := make([]int, len(pids)) // indices of the processes that are to be read
	for i := range again {
		again[i] = i
	}
	for n := 1; len(again) > 0; n++ {
		again = c.takeOnce(pids, again, out, v)
		if n == maxTakes {
			break
		}
	}
	return out
}

// takeOnce reads the processes pids[i] for each i of which, and stores the results in out. It returns the
// indices of those whose Python frames are inconsistent.
func (c *cache) takeOnce(pids, which []int, out []sample, v view) (inconsistent []int) {
	var known []*process
	var index []int // of the known ones in pids
	for _, i := range which {
		p, err := c.looked(pids[i])
		if out[i] = (sample{err: err}); err == nil {
			p.state, p.host, p.runs = p.stateNow(), &c.host, nil // the state will change when it is held
			if p.mayUseTorch() {
				p.runs = runsOf(pids[i])
			}
			known, index = append(known, p), append(index, i)
		}
	}
	held := c.hold(known)
	for i := range held {
		c.cost.threads += len(held[i].Threads)
		c.cost.held = max(c.cost.held, held[i].Held)
		known[i].tracer, known[i].state = held[i].Tracer, known[i].stateHeld(&held[i])
		bad := known[i].defect
		if bad == nil {
			bad, _ = protocol.Guard("stacks", func() {
				if !known[i].python.name(&held[i]) {
					inconsistent = append(inconsistent, index[i])
				}
				out[index[i]] = c.sample(known[i], &held[i], v)
			})
		}
		if bad != nil {
			out[index[i]] = sample{err: bad}
			c.forget(known[i].id)
		}
	}
	return inconsistent
}

// looked is look whose panic is an error: what it reads is memory of the process.
func (c *cache) looked(pid int) (p *process, err error) {
	if bad, _ := protocol.Guard("stacks", func() { p, err = c.look(pid) }); bad != nil {
		c.forget(pid)
		return nil, bad
	}
	return p, err
}

// hold stops processes, copies their stacks and the state of Python, and resumes them. Everything else is done
// while they run: to follow the stacks, to name frames, and to find out what calls of MPI wait for.
func (c *cache) hold(known []*process) []hold.Process {
	pids, lasting := make([]int, len(known)), make([]int, len(known))
	for i, p := range known {
		if pids[i] = p.pid; !p.tracer.Passing {
			lasting[i] = p.tracer.TID
		}
	}
	limits := hold.Defaults
	if c.hurried {
		limits.Others = 0
	}
	return hold.Together(pids, limits, hold.Steps{
		StackEnd: func(i int, sp uint64) (end uint64) {
			known[i].guarded(func() { end = known[i].stackEnd(sp) })
			return end
		},
		Held: func(i int, held *hold.Process) {
			known[i].guarded(func() {
				known[i].python.copy(held)
				known[i].copyFutexes(held)
			})
		},
		Known:   c.known,
		Lasting: lasting,
		Buffer:  &c.buffer,
	})
}

// guarded calls a function while the process is held: it must be resumed whatever happens. A panic is its defect.
func (p *process) guarded(do func()) {
	if bad, _ := protocol.Guard("stacks", do); bad != nil {
		p.defect = bad
	}
}

// sample returns the stacks of a process that was held. If its mappings have changed since they were
// read, they are read again, and the stacks are followed once more.
func (c *cache) sample(p *process, held *hold.Process, v view) (s sample) {
	shot := p.snapshot(held)
	if !p.fresh && p.isOutdated(shot) {
		if now, err := c.read(p.id); err == nil {
			if p.python != nil && now.python != nil {
				now.python.shot = p.python.shot
			}
			now.state, now.runs, now.host, now.futexes, now.tracer = p.state, p.runs, p.host, p.futexes, p.tracer
			c.keep(now)
			p, shot = now, now.snapshot(held)
		}
	}
	if refused(shot) {
		s.err = fs.ErrPermission
		return s
	}
	p.calls, p.torch = p.blockedCalls(shot, c.explain), p.torchCalls(shot, held)
	equal := map[string][]stack.Frame{}
	for t := range shot.Threads {
		s.threads = append(s.threads, p.framesOnce(&shot.Threads[t], v, equal))
	}
	if len(s.threads) == 0 {
		s.err = errNoMemory
	} else {
		s.waits = p.waitsOf(shot, held, s.threads)
		if c.progress {
			s.signs = p.signsOf(shot, held, s.waits, s.threads, c.value)
		}
	}
	s.mpi = p.number.version
	if p.python != nil {
		s.unknown, s.lock = p.python.why, p.python.lock()
	}
	return s
}

// isOutdated reports whether the mappings that were read do not explain the stacks: one was cut or leads
// through memory of no module, or a module on it is not where it was.
func (p *process) isOutdated(s *snapshot.Process) bool {
	used := map[int]bool{}
	for i := range s.Threads {
		t := &s.Threads[i]
		if t.Stack.Cut != "" {
			return true
		}
		for _, f := range t.Stack.Frames {
			m := p.module(f.Lookup())
			if m < 0 && !f.Signal {
				return true
			}
			used[m] = true
		}
	}
	delete(used, -1)
	return !p.areInPlace(slices.Sorted(maps.Keys(used)))
}
