// Package sampling takes the stacks of ranks that run: it stops them for each sample, asks for
// their stacks and continues them, and decides which events the user does not see.
package sampling

import (
	"fmt"
	"slices"
	"time"

	"sdm/master/session"
	"sdm/protocol"
	"sdm/protocol/rank"
)

// command is the command that takes samples.
const command = "stacks"

// Sampler takes samples for some calls, and one sample at a time, since two could not tell whose stop is
// whose. It is pure: time is an argument, and what is to be done is returned, to be done in order. The
// zero value is ready for use.
type Sampler struct {
	current *samples   // takes a sample; nil: none is being taken
	parked  []*samples // wait for their next sample, or for their first
	late    late
	users   rank.Set // the user has interrupted them, and they have not stopped yet
	timer   int      // number of the last Timer; earlier ones have no effect
}

// maxCalls bounds the calls for which samples are taken.
const maxCalls = 16

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

// Begin takes the samples of a call; running are the ranks that run. The fault says that samples are
// taken for too many calls.
func (s *Sampler) Begin(now time.Duration, c Call, running rank.Set) ([]Output, *protocol.Fault) {
	if len(s.parked) >= maxCalls {
		return nil, &protocol.Fault{
			Kind: protocol.FaultState, Op: command, Hint: "interrupt ends them",
			Message: fmt.Sprintf("samples are being taken for %d requests already", maxCalls),
		}
	}
	call := newSamples(s, now, c)
	if s.current != nil {
		s.parked = append(s.parked, call)
		return nil, nil
	}
	return s.begin(now, call, running), nil
}

// begin takes a sample.
func (s *Sampler) begin(now time.Duration, call *samples, running rank.Set) []Output {
	s.stopTimer()
	s.current = call
	return call.begin(now, running)
}

// schedule waits for the next sample of some call.
func (s *Sampler) schedule(now time.Duration) []Output {
	if s.current != nil {
		return nil
	}
	if len(s.parked) == 0 {
		s.stopTimer()
		return nil
	}
	return s.startTimer(max(s.parked[s.next()].due-now, time.Nanosecond))
}

// next returns the index of the call whose sample is next.
func (s *Sampler) next() (first int) {
	for i, p := range s.parked {
		if p.due < s.parked[first].due {
			first = i
		}
	}
	return first
}

// remove takes out a call that has ended.
func (s *Sampler) remove(call *samples) {
	if s.current == call {
		s.current = nil
		s.stopTimer()
	}
	s.parked = slices.DeleteFunc(s.parked, func(p *samples) bool { return p == call })
}

// Filter removes from an event of ranks what samples have caused; some is false if nothing is left.
// A rank that stops for another reason or ends is not continued.
func (s *Sampler) Filter(now time.Duration, g protocol.Group) (rest protocol.Group, some bool, out []Output) {
	if rest, some, out = s.filterLate(g); some && s.current != nil {
		var more []Output
		rest, some, more = s.current.filter(now, rest)
		out = append(out, more...)
	}
	if some && (rest.Kind == protocol.KindStopped || rest.Kind.IsEnd()) {
		s.users = s.users.Minus(rest.Ranks)
	}
	return rest, some, out
}

// Wake must be called when a Timer is over; running are the ranks that run.
func (s *Sampler) Wake(now time.Duration, number int, running rank.Set) []Output {
	switch {
	case number != s.timer:
		return nil
	case s.current != nil:
		return s.current.endWait(now)
	case len(s.parked) == 0:
		return nil
	}
	first := s.next()
	call := s.parked[first]
	s.parked = slices.Delete(s.parked, first, first+1)
	return s.begin(now, call, running)
}

// Interrupt must be called before ranks are stopped for the user. It ends the samples of these
// ranks, which remain as they are. Calls without a sample yet get one.
func (s *Sampler) Interrupt(now time.Duration, ranks rank.Set) (out []Output) {
	s.late.forget(ranks)
	s.users = s.users.Union(ranks)
	for _, p := range slices.Clone(s.parked) {
		if p.taken > 0 && ranks.Intersects(p.asked) {
			out = append(out, p.interrupt(now)...)
		}
	}
	if s.current != nil && ranks.Intersects(s.current.asked) {
		out = append(out, s.current.interrupt(now)...)
	}
	return out
}

// Resume must be called before ranks are resumed for the user.
func (s *Sampler) Resume(ranks rank.Set) { s.users = s.users.Minus(ranks) }

// Cancel answers the call with this number with the samples that have been taken. Its ranks run on.
func (s *Sampler) Cancel(now time.Duration, id protocol.RequestID) (out []Output, found bool) {
	for _, call := range s.calls() {
		if call.id == id && !call.answered {
			return call.giveUp(now), true
		}
	}
	return nil, false
}

// calls returns the calls for which samples are taken.
func (s *Sampler) calls() []*samples {
	all := slices.Clone(s.parked)
	if s.current != nil {
		all = append(all, s.current)
	}
	return all
}

// End answers the calls with the samples that have been taken. It must be called when the session
// has ended.
func (s *Sampler) End(now time.Duration) (out []Output) {
	for _, call := range s.calls() {
		s.remove(call)
		out = append(out, call.results(now)...)
	}
	return out
}

// Abort answers the calls with a fault, after a defect. Ranks that have been stopped remain stopped.
func (s *Sampler) Abort(now time.Duration, f *protocol.Fault) (out []Output) {
	for _, call := range s.calls() {
		out = append(out, call.abort(now, f)...)
	}
	return out
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
