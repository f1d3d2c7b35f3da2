// Execution of what package sampling asks for.

package master

import (
	"time"

	"sdm/master/sampling"
	"sdm/master/session"
	"sdm/protocol"
	"sdm/protocol/rank"
)

// sampler executes the outputs of a sampling.Sampler. The master's lock guards it.
type sampler struct {
	m     *Master
	s     sampling.Sampler
	timer *time.Timer // nil: none has been started
}

// sample takes the stacks of ranks of which some run, or takes them several times.
func (x *sampler) sample(id protocol.RequestID, ranks rank.Set, args protocol.Args, wait time.Duration) {
	x.step(func() []sampling.Output {
		c := sampling.Call{ID: id, Ranks: ranks, Args: args, Wait: wait}
		out, busy := x.s.Begin(x.m.now(), c, x.m.states.In(session.Running))
		if busy != nil {
			x.m.refuse(id, "stacks", rank.Set{}, x.m.now(), busy)
		}
		return out
	})
}

// interrupt must be called before ranks are stopped for the user.
func (x *sampler) interrupt(ranks rank.Set) {
	x.step(func() []sampling.Output { return x.s.Interrupt(x.m.now(), ranks) })
}

// resume must be called before ranks are resumed for the user.
func (x *sampler) resume(ranks rank.Set) { x.s.Resume(ranks) }

// cancel answers the call with a number, and lets its ranks run on.
func (x *sampler) cancel(id protocol.RequestID) (found bool) {
	x.step(func() (out []sampling.Output) {
		out, found = x.s.Cancel(x.m.now(), id)
		return out
	})
	return found
}

// filter removes from an event what samples have caused; some is false if nothing is left.
func (x *sampler) filter(g protocol.Group) (rest protocol.Group, some bool) {
	rest, some = g, true
	x.step(func() (out []sampling.Output) {
		rest, some, out = x.s.Filter(x.m.now(), g)
		return out
	})
	return rest, some
}

// end answers the call, after the session has ended.
func (x *sampler) end() {
	if x.timer != nil {
		x.timer.Stop()
	}
	x.step(func() []sampling.Output { return x.s.End(x.m.now()) })
}

// step executes a step. If it panics, the call gets the fault.
func (x *sampler) step(do func() []sampling.Output) {
	o := &operation{command: "stacks", fail: func(f *protocol.Fault) { x.execute(x.s.Abort(x.m.now(), f)) }}
	x.m.step(o, func() { x.execute(do()) })
}

func (x *sampler) execute(out []sampling.Output) {
	for _, o := range out {
		switch o := o.(type) {
		case sampling.Ask:
			x.ask(o)
		case sampling.Timer:
			x.startTimer(o)
		case sampling.Report:
			x.m.report(o.Group)
		case sampling.Answer:
			x.m.push(o.Event)
		}
	}
}

func (x *sampler) ask(a sampling.Ask) {
	o := &operation{command: "stacks", fail: func(f *protocol.Fault) { x.execute(a.Fail(x.m.now(), f)) }}
	x.m.ask(o, a.Command, a.Ranks, a.Wait, a.Args, func(answers []session.Event, done session.Done) {
		x.execute(a.Then(x.m.now(), answers, done))
	})
}

// startTimer replaces the timer. One that is over when the session has ended ends the samples.
func (x *sampler) startTimer(t sampling.Timer) {
	if x.timer != nil {
		x.timer.Stop()
	}
	x.timer = time.AfterFunc(t.After, func() {
		x.m.mu.Lock()
		defer x.m.mu.Unlock()
		x.step(func() []sampling.Output {
			if x.m.phase != up {
				return x.s.End(x.m.now())
			}
			return x.s.Wake(x.m.now(), t.Number, x.m.states.In(session.Running))
		})
	})
}
