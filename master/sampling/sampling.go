// Package sampling takes the stacks of ranks that run: it stops them for each sample, asks for
// their stacks and continues them, and decides which events the user does not see.
package sampling

import (
	"time"

	"sdm/master/session"
	"sdm/protocol"
	"sdm/protocol/rank"
)

// command is the command that takes samples.
const command = "stacks"

// Sampler takes samples for one call at a time. It is pure: time is an argument, and what is to be
// done is returned, to be done in order. The zero value is ready for use.
type Sampler struct {
	current *samples // nil: none are being taken
	late    late
	timer   int // number of the last Timer; earlier ones have no effect
}

// Output is something to be done: Ask, Timer, Report or Answer.
type Output interface{ output() }

// Ask is a request to ranks. Then is called once with all answers; Fail is called instead if the
// answers cannot be processed.
type Ask struct {
	Command string
	Ranks   rank.Set
	Wait    time.Duration // 0: no limit
	Args    protocol.Args
	Then    func(now time.Duration, answers []session.Event, done session.Done) []Output
	Fail    func(now time.Duration, f *protocol.Fault) []Output
}

// Timer asks for a call of Wake after some time. It replaces earlier ones.
type Timer struct {
	Number int
	After  time.Duration
}

// Report is an event of ranks that was withheld.
type Report struct{ Group protocol.Group }

// Answer is an event for the front ends that answers the call.
type Answer struct{ Event session.Event }

func (Ask) output()    {}
func (Timer) output()  {}
func (Report) output() {}
func (Answer) output() {}

// Call is a call that takes samples.
type Call struct {
	ID    protocol.RequestID
	Ranks rank.Set
	Args  protocol.Args // which Check has accepted
	Wait  time.Duration // of each sample; 0: no limit
}

// Begin takes the samples of a call; running are the ranks that run. The fault says that samples of
// another call are being taken.
func (s *Sampler) Begin(now time.Duration, c Call, running rank.Set) ([]Output, *protocol.Fault) {
	if s.current != nil {
		return nil, &protocol.Fault{Kind: protocol.FaultState, Op: command, Message: "samples are being taken already", Hint: "interrupt ends them"}
	}
	s.current = newSamples(s, now, c)
	return s.current.begin(now, running), nil
}

// Filter removes from an event of ranks what samples have caused; some is false if nothing is left.
// A rank that stops for another reason or ends is not continued.
func (s *Sampler) Filter(now time.Duration, g protocol.Group) (rest protocol.Group, some bool, out []Output) {
	if g, some, out = s.filterLate(g); !some || s.current == nil {
		return g, some, out
	}
	g, some, more := s.current.filter(now, g)
	return g, some, append(out, more...)
}

// Wake must be called when a Timer is over; running are the ranks that run.
func (s *Sampler) Wake(now time.Duration, number int, running rank.Set) []Output {
	if s.current == nil || number != s.timer {
		return nil
	}
	return s.current.wake(now, running)
}

// Interrupt must be called before ranks are stopped for the user. It ends the samples of these
// ranks, which remain as they are.
func (s *Sampler) Interrupt(now time.Duration, ranks rank.Set) []Output {
	s.late.forget(ranks)
	if s.current == nil || !ranks.Intersects(s.current.asked) {
		return nil
	}
	return s.current.interrupt(now)
}

// Cancel answers the call with the samples that have been taken, if it is the one with this number. Its ranks run on.
func (s *Sampler) Cancel(now time.Duration, id protocol.RequestID) (out []Output, found bool) {
	if s.current == nil || s.current.id != id || s.current.answered {
		return nil, false
	}
	return s.current.giveUp(now), true
}

// End answers the call with the samples that have been taken. It must be called when the session
// has ended.
func (s *Sampler) End(now time.Duration) []Output {
	if s.current == nil {
		return nil
	}
	return s.current.finish(now)
}

// Abort answers the call with a fault, after a defect. Ranks that have been stopped remain stopped.
func (s *Sampler) Abort(now time.Duration, f *protocol.Fault) []Output {
	if s.current == nil {
		return nil
	}
	return s.current.abort(now, f)
}

// startTimer makes a Timer; there is none without a time.
func (s *Sampler) startTimer(after time.Duration) []Output {
	s.stopTimer()
	if after <= 0 {
		return nil
	}
	return []Output{Timer{s.timer, after}}
}

func (s *Sampler) stopTimer() { s.timer++ }
