// The samples of one call.

package sampling

import (
	"encoding/json"
	"time"

	"sdm/master/session"
	"sdm/protocol"
	"sdm/protocol/canonical"
	"sdm/protocol/rank"
)

// samples are the samples of one call. Running ranks are interrupted for each sample and continued
// afterwards. Ranks that are stopped remain so, also those that stop for another reason meanwhile.
//
//	interrupt → all stopped → stacks → continue → pause → interrupt …
type samples struct {
	of    *Sampler
	id    protocol.RequestID
	args  protocol.Args
	plain bool // stacks without samples, as one sample
	asked rank.Set
	wait  time.Duration // of each sample; see until
	every time.Duration
	began time.Duration
	since time.Duration // start of the current sample
	due   time.Duration // of the next one

	taken    int
	busy     rank.Set // were running, and are interrupted or about to be
	theirs   rank.Set // were running, and are interrupted for the user: they are not continued
	owed     rank.Set // of both: have not stopped yet
	resume   bool     // stops of busy ranks are caused by the interrupt
	awaiting bool     // owed are awaited
	stopped  []protocol.Group
	cancel   bool // the user has interrupted ranks, which must remain stopped

	cancelled bool // the call was cancelled; the ranks run on
	answered  bool // in the midst of a sample, which is completed without an answer

	found  found
	first  session.Done
	silent []session.Event // groups without stacks
}

func newSamples(of *Sampler, now time.Duration, c Call) *samples {
	every, _ := readEvery(c.Args.Every) // see Check
	s := &samples{of: of, id: c.ID, args: c.Args, plain: c.Args.Samples == 0, asked: c.Ranks, wait: c.Wait,
		every: every, began: now, due: now, first: session.Done{Asked: c.Ranks.Len()}}
	s.args.Samples = max(c.Args.Samples, 1)
	return s
}

// The steps of a sample share its wait, so that it ends in time if ranks are silent. These are the
// latest ends of the steps, in tenths of the wait.
const (
	interruptEnd = 3
	stopsEnd     = 4
	stacksEnd    = 8
	resumeEnd    = 10
)

// until returns the wait of a step; 0 has no limit.
func (s *samples) until(now, tenths time.Duration) time.Duration {
	if s.wait <= 0 {
		return 0
	}
	return max(s.since+s.wait*tenths/10-now, time.Millisecond)
}

// ask makes a request. Its answers are ignored if the samples have ended meanwhile.
func (s *samples) ask(name string, ranks rank.Set, wait time.Duration, a protocol.Args,
	then func(time.Duration, []session.Event, session.Done) []Output) []Output {
	return []Output{Ask{
		Command: name, Ranks: ranks, Wait: wait, Args: a,
		Then: func(now time.Duration, answers []session.Event, done session.Done) []Output {
			if s.of.current != s {
				return nil
			}
			return then(now, answers, done)
		},
		Fail: func(now time.Duration, f *protocol.Fault) []Output {
			if s.of.current != s {
				return nil
			}
			return s.abort(now, f)
		},
	}}
}

// begin interrupts the running ranks.
func (s *samples) begin(now time.Duration, running rank.Set) []Output {
	s.since = now
	s.theirs = running.Intersect(s.asked).Intersect(s.of.users)
	s.busy = running.Intersect(s.asked).Minus(s.theirs)
	s.owed, s.resume, s.stopped = s.busy.Union(s.theirs), true, nil
	s.of.late.forget(s.busy)
	if s.busy.IsEmpty() {
		return s.interrupted(now, nil, session.Done{})
	}
	return s.ask("interrupt", s.busy, s.until(now, interruptEnd), protocol.Args{}, s.interrupted)
}

// interrupted waits for the stops, or until the step ends.
func (s *samples) interrupted(now time.Duration, answers []session.Event, _ session.Done) []Output {
	for _, e := range answers {
		switch e.Group.Kind {
		case protocol.KindResult:
		case protocol.KindMissing: // it may stop after the sample
			s.handToLate(e.Group.Ranks)
		default: // a rank that cannot be interrupted is not awaited
			s.owed = s.owed.Minus(e.Group.Ranks)
		}
	}
	if s.owed.IsEmpty() {
		return s.takeStacks(now)
	}
	s.awaiting = true
	return s.of.startTimer(s.until(now, stopsEnd))
}

// handToLate hands interrupted ranks that have not stopped over to late, unless the user wants them to
// stop.
func (s *samples) handToLate(ranks rank.Set) {
	s.theirs = s.theirs.Minus(ranks)
	ranks = ranks.Intersect(s.owed)
	s.owed = s.owed.Minus(ranks)
	ranks = ranks.Intersect(s.busy)
	s.busy = s.busy.Minus(ranks)
	if !s.cancel {
		s.of.late.owe(ranks)
	}
}

// endWait ends the wait for stops.
func (s *samples) endWait(now time.Duration) []Output {
	s.awaiting = false
	s.of.stopTimer()
	return s.takeStacks(now)
}

// takeStacks takes one sample.
func (s *samples) takeStacks(now time.Duration) []Output {
	wait := s.until(now, stacksEnd)
	a := protocol.Args{By: s.args.By, AllThreads: s.args.AllThreads, Children: s.args.Children, Explain: s.args.Explain}
	if !s.plain {
		a.Samples = s.taken + 1
	}
	return s.ask("stacks", s.asked, wait, a, func(now time.Duration, answers []session.Event, done session.Done) []Output {
		if s.taken == 0 {
			done.Asked = s.first.Asked
			s.first = done
		}
		s.enter(answers, wait)
		s.taken++
		return s.release(now)
	})
}

// enter adds a sample. A rank that has failed, or was silent in the first one, is not asked again.
func (s *samples) enter(answers []session.Event, wait time.Duration) {
	var results []protocol.Group
	for _, e := range answers {
		switch {
		case e.Group.Kind == protocol.KindResult:
			results = append(results, e.Group)
		case s.taken == 0 || e.Group.Kind != protocol.KindMissing:
			s.asked = s.asked.Minus(e.Group.Ranks)
			e.ID, e.Command = s.id, command
			if e.Group.Kind == protocol.KindMissing { // the user knows the whole wait
				e.Group.Body = inWait(e.Group.Body, wait, s.wait)
			}
			s.silent = append(s.silent, e)
		}
	}
	s.found.add(results, s.taken == 0)
}

// inWait replaces the wait of a step by the wait of the whole sample, in the body of a missing
// group.
func inWait(body []byte, step, whole time.Duration) []byte {
	var m protocol.Missing
	if json.Unmarshal(body, &m) != nil || m.Cause != protocol.NoAnswer(step) {
		return body
	}
	m.Cause = protocol.NoAnswer(whole)
	return canonical.JSON(m)
}

// release continues the ranks that were interrupted for the sample, unless the user has interrupted
// them.
func (s *samples) release(now time.Duration) []Output {
	if s.cancel {
		return append(s.reportStops(s.busy.Minus(s.owed)), s.finish(now)...)
	}
	s.handToLate(s.owed)
	if s.busy.IsEmpty() {
		return s.next(now)
	}
	s.resume = false
	ranks := s.busy
	s.of.late.resume(ranks)
	return s.ask("continue", ranks, s.until(now, resumeEnd), protocol.Args{},
		func(now time.Duration, answers []session.Event, _ session.Done) []Output {
			out := s.of.resumed(now, ranks, s.stopped, answers)
			s.busy, s.stopped = rank.Set{}, nil
			return append(out, s.next(now)...)
		})
}

// failedToContinue reports the stops of ranks that could not be continued, and withdraws them from
// the samples. A rank that is not stopped any more has been continued by the user, or has ended.
func (s *Sampler) failedToContinue(now time.Duration, stops []protocol.Group, answers []session.Event) (out []Output) {
	for _, e := range answers {
		var f protocol.Fault
		if e.Group.Kind != protocol.KindFault || json.Unmarshal(e.Group.Body, &f) == nil && f.Kind == protocol.FaultState {
			continue
		}
		for _, g := range stops {
			part, ok := g.Narrow(e.Group.Ranks)
			if !ok {
				continue
			}
			out = append(out, Report{part})
			if s.current != nil {
				s.current.forget(part.Ranks)
				out = append(out, s.current.removeOwed(now, part.Ranks)...)
			}
		}
	}
	return out
}

// next waits for the next sample, or ends after the last.
func (s *samples) next(now time.Duration) []Output {
	if s.cancel || s.cancelled || s.taken == s.args.Samples {
		return s.finish(now)
	}
	s.due = now + s.every
	s.of.current = nil
	s.of.parked = append(s.of.parked, s)
	return s.of.schedule(now)
}

// reportStops reports the stops of ranks that were withheld.
func (s *samples) reportStops(ranks rank.Set) (out []Output) {
	s.resume = false
	for _, g := range s.stopped {
		if part, ok := g.Narrow(ranks); ok {
			s.busy = s.busy.Minus(part.Ranks)
			out = append(out, Report{part})
		}
	}
	s.stopped = nil
	return out
}

// filter removes from a group the events that the samples have caused.
func (s *samples) filter(now time.Duration, g protocol.Group) (rest protocol.Group, some bool, out []Output) {
	if theirs := g.Ranks.Intersect(s.theirs); !theirs.IsEmpty() && (g.Kind == protocol.KindStopped || g.Kind.IsEnd()) {
		s.theirs = s.theirs.Minus(theirs)
		defer func() { out = append(out, s.removeOwed(now, theirs)...) }()
	}
	ours := g.Ranks.Intersect(s.busy)
	if ours.IsEmpty() {
		return g, true, nil
	}
	switch {
	case g.Kind == protocol.KindRunning && s.resume: // the user has continued them
		s.forget(ours)
		out = s.removeOwed(now, ours)
	case g.Kind == protocol.KindStopped && s.resume && ours.Intersects(s.owed) && isInterrupt(g.Body):
		ours = ours.Intersect(s.owed)
		if part, ok := g.Narrow(ours); ok {
			s.stopped = append(s.stopped, part)
		}
		out = s.removeOwed(now, ours)
	case g.Kind == protocol.KindStopped || g.Kind.IsEnd():
		s.forget(ours)
		return g, true, s.removeOwed(now, ours)
	default:
		return g, true, nil
	}
	rest, some = g.Narrow(g.Ranks.Minus(ours))
	return rest, some, out
}

// forget withdraws ranks from the samples, with the stops that were withheld.
func (s *samples) forget(ranks rank.Set) {
	s.busy, s.stopped = s.busy.Minus(ranks), without(s.stopped, ranks)
}

// without removes ranks from groups.
func without(groups []protocol.Group, ranks rank.Set) (rest []protocol.Group) {
	for _, g := range groups {
		if part, ok := g.Narrow(g.Ranks.Minus(ranks)); ok {
			rest = append(rest, part)
		}
	}
	return rest
}

// removeOwed removes ranks that have stopped or ended from those that are awaited.
func (s *samples) removeOwed(now time.Duration, ranks rank.Set) []Output {
	s.owed = s.owed.Minus(ranks)
	if s.owed.IsEmpty() && s.awaiting {
		return s.endWait(now)
	}
	return nil
}

// isInterrupt reports whether the body of a stop says that it was requested.
func isInterrupt(body []byte) bool {
	var stop protocol.Stop
	return json.Unmarshal(body, &stop) == nil && stop.Reason == "interrupted"
}

// giveUp answers the call at once. Ranks that were interrupted for a sample are continued.
func (s *samples) giveUp(now time.Duration) []Output {
	s.cancelled = true
	if s.of.current != s {
		return s.finish(now)
	}
	out := s.results(now)
	s.answered = true
	return out
}

// interrupt ends the samples for a call that stops ranks.
func (s *samples) interrupt(now time.Duration) []Output {
	s.cancel = true
	if s.of.current != s {
		return s.finish(now)
	}
	return nil
}
