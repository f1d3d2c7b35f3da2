package master

import (
	"time"

	"sdm/master/sampling"
	"sdm/master/session"
	"sdm/protocol"
	"sdm/protocol/rank"
)

// sample takes the stacks of ranks of which some run, or takes them several times.
func (m *Master) sample(id protocol.RequestID, ranks rank.Set, args protocol.Args, wait time.Duration) {
	m.sampleStep(func() []sampling.Output {
		out, busy := m.sampler.Begin(m.now(), sampling.Call{ID: id, Ranks: ranks, Args: args, Wait: wait}, m.states.In(session.Running))
		if busy != nil {
			m.refuse(id, "stacks", rank.Set{}, m.now(), busy)
		}
		return out
	})
}

// sampleStep executes a step of the sampler. If it panics, the call gets the fault.
func (m *Master) sampleStep(do func() []sampling.Output) {
	o := &operation{command: "stacks", fail: func(f *protocol.Fault) { m.carrySamples(m.sampler.Abort(m.now(), f)) }}
	m.step(o, func() { m.carrySamples(do()) })
}

// carrySamples does what the sampler asks for.
func (m *Master) carrySamples(out []sampling.Output) {
	for _, o := range out {
		switch o := o.(type) {
		case sampling.Ask:
			op := &operation{command: "stacks", fail: func(f *protocol.Fault) { m.carrySamples(o.Fail(m.now(), f)) }}
			m.ask(op, o.Command, o.Ranks, o.Wait, o.Args, func(answers []session.Event, done session.Done) {
				m.carrySamples(o.Then(m.now(), answers, done))
			})
		case sampling.Timer:
			m.startSampleTimer(o)
		case sampling.Tell:
			m.tell(o.Group)
		case sampling.Answer:
			m.stream.Push(o.Event)
		}
	}
}

// filterSamples removes from an event what samples have caused; some is false if nothing is left.
func (m *Master) filterSamples(g protocol.Group) (rest protocol.Group, some bool) {
	rest, some = g, true
	m.sampleStep(func() (out []sampling.Output) {
		rest, some, out = m.sampler.Filter(m.now(), g)
		return out
	})
	return rest, some
}

// startSampleTimer replaces the timer of the sampler. A timer that is over when the session has
// ended ends the samples.
func (m *Master) startSampleTimer(t sampling.Timer) {
	m.stopSampleTimer()
	m.sampleTimer = time.AfterFunc(t.After, func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.sampleStep(func() []sampling.Output {
			if m.phase != up {
				return m.sampler.End(m.now())
			}
			return m.sampler.Wake(m.now(), t.Number, m.states.In(session.Running))
		})
	})
}

func (m *Master) stopSampleTimer() {
	if m.sampleTimer != nil {
		m.sampleTimer.Stop()
	}
}
