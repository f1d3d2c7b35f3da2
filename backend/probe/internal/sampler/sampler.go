// Package sampler takes samples of running processes: their stacks, and what they wait for.
package sampler

import (
	"time"

	"sdm/backend/probe/internal/expression"
	"sdm/backend/probe/internal/hold"
	"sdm/protocol"
	"sdm/protocol/stack"
)

// Sampler takes samples. One goroutine uses it at a time.
type Sampler struct {
	known
	buffer  hold.Buffer
	host    host
	started []int // the processes of the families that were read last
}

// New returns a sampler. debugFiles is the directory of separate debug files; "": they are not read.
func New(debugFiles string) *Sampler { return &Sampler{known: newKnown(debugFiles)} }

// Options say what samples tell.
type Options struct {
	By         string           // granularity of the stacks: function, line or address
	AllThreads bool             // helper threads of runtimes are not folded
	Explain    bool             // texts of calls of MPI say where the arguments were found
	Progress   bool             // samples have signs
	Value      *expression.Expr // its value is among the signs; nil: none is
	Registers  []hold.Known     // of threads that a debugger has stopped; see hold.Steps
	Hurried    bool             // other tracers are not waited for
}

// Sample is what was found out about one process at one time.
type Sample struct {
	Err     error           // nothing could be read
	Threads [][]stack.Frame // their stacks, outermost frame first
	Waits   *Waits          // nil: there are no threads
	Signs   *Signs          // nil: they were not asked for
	Unknown string          // why its interpreter of Python is not known; "": it is known, or there is none
	MPI     string          // version of its library of MPI; "": not known, or there is none
	Lock    string          // the innermost Python frame of the thread that holds the GIL; "": none does
}

// Cost is what samples cost the processes.
type Cost struct {
	Threads int           // that were read; twice if a process was read twice
	Held    time.Duration // of the process that was held longest at a time
}

// Add adds the cost of further samples.
func (c *Cost) Add(d Cost) { c.Threads, c.Held = c.Threads+d.Threads, max(c.Held, d.Held) }

// Result is the samples of processes, in their order.
type Result struct {
	Samples []Sample
	Cost
}

// maxTakes is how often a process is read at most if its Python frames are inconsistent.
const maxTakes = 3

// Take stops all threads of processes at the same time, copies their stacks, resumes them and follows the copied
// stacks. The caller calls Unload when it has answered.
func (s *Sampler) Take(pids []int, o Options) Result {
	s.host.renew()
	return s.takeMore(pids, o)
}

// takeMore is Take for further processes, shortly after others.
func (s *Sampler) takeMore(pids []int, o Options) Result {
	out := Result{Samples: make([]Sample, len(pids))}
	again := make([]int, len(pids)) // indices of the processes that are to be read
	for i := range again {
		again[i] = i
	}
	for n := 0; len(again) > 0 && n < maxTakes; n++ {
		again = s.takeOnce(pids, again, &out, o)
	}
	return out
}

// takeOnce reads the processes pids[i] for each i of which, and stores the results in out. It returns the indices of
// the processes whose Python frames are inconsistent.
func (s *Sampler) takeOnce(pids, which []int, out *Result, o Options) (inconsistent []int) {
	var readings []*reading
	var index []int // of the readings in pids
	for _, i := range which {
		r, err := s.begin(pids[i], &o)
		if out.Samples[i] = (Sample{Err: err}); err == nil {
			readings, index = append(readings, r), append(index, i)
		}
	}
	s.hold(readings, &o)
	for n, r := range readings {
		i := index[n]
		out.Add(Cost{len(r.held.Threads), r.held.Held})
		bad := r.defect
		if bad == nil {
			bad, _ = protocol.Guard("stacks", func() {
				if !r.interpreter.name(r.held) {
					inconsistent = append(inconsistent, i)
				}
				out.Samples[i] = s.sample(r)
			})
		}
		if bad != nil {
			out.Samples[i] = Sample{Err: bad}
			s.Forget(r.id)
		}
	}
	return inconsistent
}

// begin looks at a process before it is held. What is read is memory of the process, so a panic is an error.
func (s *Sampler) begin(pid int, o *Options) (r *reading, err error) {
	bad, _ := protocol.Guard("stacks", func() {
		var p *process
		if p, err = s.look(pid); err == nil {
			r = newReading(p, o, &s.host)
		}
	})
	if bad != nil {
		s.Forget(pid)
		return nil, bad
	}
	return r, err
}

// hold stops processes, copies their stacks and the state of Python, and resumes them. Everything else is done
// while they run: to follow the stacks, to name frames, and to find out what calls of MPI wait for.
func (s *Sampler) hold(readings []*reading, o *Options) {
	pids, lasting := make([]int, len(readings)), make([]int, len(readings))
	for i, r := range readings {
		if pids[i] = r.pid; !r.tracer.Passing {
			lasting[i] = r.tracer.TID
		}
	}
	limits := hold.Defaults
	if o.Hurried {
		limits.Others = 0
	}
	held := hold.Together(pids, limits, hold.Steps{
		StackEnd: func(i int, sp uint64) (end uint64) {
			readings[i].guarded(func() { end = readings[i].stackEnd(sp) })
			return end
		},
		Held:    func(i int, held *hold.Process) { readings[i].guarded(func() { readings[i].copy(held) }) },
		Known:   o.Registers,
		Lasting: lasting,
		Buffer:  &s.buffer,
	})
	for i, r := range readings {
		r.resumed(&held[i])
	}
}

// sample returns the sample of a process that was held. If its mappings have changed since they were read, they are
// read again.
func (s *Sampler) sample(r *reading) Sample {
	r.shoot()
	if !r.fresh && r.isOutdated() {
		if now, err := s.read(r.id); err == nil {
			s.keep(now)
			r.replace(now)
			r.shoot()
		}
	}
	return r.sample()
}

// Rest drops the memory that only samples use. What they have found is kept.
func (s *Sampler) Rest() {
	s.buffer = hold.Buffer{}
	s.rest()
}
