package master

import (
	"encoding/json"
	"fmt"
	"time"

	"sdm/master/session"
	"sdm/protocol"
	"sdm/protocol/canonical"
	"sdm/protocol/rank"
	"sdm/protocol/stack"
)

// Limits of samples; a thousand samples one hour apart are more than a user needs.
const (
	mostSamples  = 1000
	longestEvery = time.Hour
	defaultEvery = time.Second
)

// sampling takes the stacks of ranks several times, to find out which of them move. It interrupts
// running ranks for each sample and continues them afterwards; front ends see neither. Ranks that
// are stopped remain so, also those that stop for another reason meanwhile.
//
//	interrupt → all stopped → stacks → continue → pause → interrupt …
//
// Answers, events and one timer drive it, all under the master's lock.
type sampling struct {
	m     *Master
	op    *operation
	id    protocol.RequestID
	args  protocol.Args
	plain bool // stacks without samples, as one sample
	asked rank.Set
	wait  time.Duration // of each sample; see until
	every time.Duration
	began time.Duration
	since time.Duration // start of the current sample

	taken   int
	timer   *time.Timer // of the pause, or of the wait for stops; nil: none
	busy    rank.Set    // were running, and are interrupted or about to be
	owed    rank.Set    // of busy: have not stopped yet
	resume  bool        // stops of busy ranks are caused by the interrupt
	then    func()      // called when owed is empty
	stopped []protocol.Group
	cancel  bool // the user has interrupted ranks, which must remain stopped

	last, all *stack.Tree // all merges all samples, and counts threads once for each
	moved     rank.Set
	first     session.Done
	silent    []session.Event // of the first sample: groups without stacks
}

// checkSamples returns a fault if the arguments of samples are invalid.
func checkSamples(a protocol.Args) *protocol.Fault {
	every, err := readEvery(a.Every)
	switch {
	case a.Samples < 0 || a.Samples > mostSamples:
		return usage("stacks", "", "%d samples make no sense; 1 to %d do", a.Samples, mostSamples)
	case err != nil || every < 0 || every > longestEvery:
		return usage("stacks", "1s, 200ms", "%q cannot be the time between samples", protocol.Clip(a.Every))
	case a.Every != "" && a.Samples == 0:
		return usage("stacks", "samples says how many", "a time between samples needs samples")
	}
	return nil
}

func readEvery(text string) (time.Duration, error) {
	if text == "" {
		return defaultEvery, nil
	}
	return time.ParseDuration(text)
}

// sample starts a sampling.
func (m *Master) sample(id protocol.RequestID, ranks rank.Set, args protocol.Args, wait time.Duration) {
	if m.sampling != nil {
		m.refuse(id, "stacks", rank.Set{}, m.now(), &protocol.Fault{Kind: protocol.FaultState, Op: "stacks", Message: "samples are being taken already", Hint: "interrupt ends them"})
		return
	}
	every, _ := readEvery(args.Every) // checked by checkSamples
	plain := args.Samples == 0
	args.Samples = max(args.Samples, 1)
	s := &sampling{m: m, id: id, args: args, plain: plain, asked: ranks, wait: wait, every: every, began: m.now(), first: session.Done{Asked: ranks.Len()}}
	s.op = &operation{command: "stacks", fail: s.abort}
	m.sampling = s
	m.step(s.op, s.begin)
}

// abort ends the sampling after a defect. Ranks that it has stopped remain stopped.
func (s *sampling) abort(f *protocol.Fault) {
	m := s.m
	s.hush()
	m.sampling = nil
	m.late.owe(s.owed)
	s.confess(s.busy.Minus(s.owed))
	m.refuse(s.id, "stacks", s.asked, s.began, f)
}

// The steps of a sample share its wait, so that it ends in time if ranks are silent. These are the
// latest ends of the steps, in tenths of the wait.
const (
	interruptEnds = 3
	stopsEnd      = 4
	lookEnds      = 7
	againEnds     = 8
	resumeEnds    = 10
)

// until returns the wait of a step; 0 has no limit.
func (s *sampling) until(tenths time.Duration) time.Duration {
	if s.wait <= 0 {
		return 0
	}
	return max(s.since+s.wait*tenths/10-s.m.now(), time.Millisecond)
}

// begin interrupts the running ranks.
func (s *sampling) begin() {
	s.timer, s.since = nil, s.m.now()
	if s.cancel || s.m.phase != up {
		s.finish()
		return
	}
	s.busy = s.m.states.In(session.Running).Intersect(s.asked)
	s.owed, s.resume, s.stopped = s.busy, true, nil
	s.m.late.forget(s.busy)
	if s.busy.IsEmpty() {
		s.look()
		return
	}
	s.m.ask(s.op, "interrupt", s.busy, s.until(interruptEnds), protocol.Args{}, func(answers []session.Event, _ session.Done) {
		for _, e := range answers {
			switch e.Group.Kind {
			case protocol.KindResult:
			case protocol.KindMissing: // it may stop after the sample
				s.leave(e.Group.Ranks)
			default: // a rank that cannot be interrupted is not awaited
				s.owed = s.owed.Minus(e.Group.Ranks)
			}
		}
		s.await(s.look)
	})
}

// leave hands interrupted ranks that have not stopped over to late.
func (s *sampling) leave(ranks rank.Set) {
	ranks = ranks.Intersect(s.owed)
	s.busy, s.owed = s.busy.Minus(ranks), s.owed.Minus(ranks)
	s.m.late.owe(ranks)
}

// await calls then when all ranks have stopped, or after the wait of the step.
func (s *sampling) await(then func()) {
	if s.owed.IsEmpty() {
		then()
		return
	}
	s.then = then
	s.after(s.until(stopsEnd), s.goOn)
}

func (s *sampling) goOn() {
	if then := s.then; then != nil {
		s.then = nil
		s.hush()
		s.m.step(s.op, then)
	}
}

// after calls f with the lock held after d; not at all if d is 0, which is no limit. f is not
// called once the sampling has ended, as it does at the end of the session.
func (s *sampling) after(d time.Duration, f func()) {
	if d <= 0 {
		return
	}
	s.timer = time.AfterFunc(d, func() {
		s.m.mu.Lock()
		defer s.m.mu.Unlock()
		if s.m.sampling == s {
			s.m.step(s.op, f)
		}
	})
}

func (s *sampling) hush() {
	if s.timer != nil {
		s.timer.Stop()
		s.timer = nil
	}
}

// look takes one sample.
func (s *sampling) look() {
	wait := s.until(lookEnds)
	s.m.ask(s.op, "stacks", s.asked, wait, protocol.Args{By: s.args.By, AllThreads: s.args.AllThreads}, func(answers []session.Event, done session.Done) {
		var tree *stack.Tree
		for _, e := range answers {
			switch {
			case e.Group.Kind == protocol.KindResult:
				tree = tree.Merge(e.Group.Stack)
			case s.taken == 0:
				s.asked = s.asked.Minus(e.Group.Ranks) // it is not asked again
				e.ID, e.Command = s.id, "stacks"
				if e.Group.Kind == protocol.KindMissing { // the user knows the whole wait
					e.Group.Body = inWait(e.Group.Body, wait, s.wait)
				}
				s.silent = append(s.silent, e)
			}
		}
		if s.taken == 0 {
			done.Asked = s.first.Asked
			s.first = done
		} else {
			s.moved = s.moved.Union(s.last.Moved(tree))
		}
		s.taken++
		s.last, s.all = tree, s.all.Merge(tree)
		if s.taken == s.args.Samples {
			s.lookAgain()
			return
		}
		s.release(s.pause)
	})
}

// inWait replaces the wait of a step by that of the whole sample in the body of a missing group.
func inWait(body []byte, step, whole time.Duration) []byte {
	var m protocol.Missing
	if json.Unmarshal(body, &m) != nil || m.Cause != protocol.NoAnswer(step) {
		return body
	}
	m.Cause = protocol.NoAnswer(whole)
	return canonical.JSON(m)
}

// lookAgain takes the stacks of those ranks that never moved once more: only then are their threads
// counted without those of other ranks.
func (s *sampling) lookAgain() {
	still := s.still()
	if still.IsEmpty() || s.moved.IsEmpty() {
		s.release(s.finish)
		return
	}
	s.m.ask(s.op, "stacks", still, s.until(againEnds), protocol.Args{By: s.args.By, AllThreads: s.args.AllThreads}, func(answers []session.Event, _ session.Done) {
		var tree *stack.Tree
		for _, e := range answers {
			tree = tree.Merge(e.Group.Stack)
		}
		if tree != nil {
			s.last = tree
		}
		s.release(s.finish)
	})
}

// still returns the ranks that were at the same place in all samples.
func (s *sampling) still() rank.Set {
	return s.last.Having(func(stack.Frame) bool { return true }).Minus(s.moved)
}

// release continues the ranks that were interrupted for the sample, unless the user has interrupted
// them.
func (s *sampling) release(then func()) {
	if s.cancel {
		s.confess(s.busy.Minus(s.owed))
		s.finish()
		return
	}
	s.leave(s.owed)
	held := s.busy
	if held.IsEmpty() {
		then()
		return
	}
	s.m.ask(s.op, "continue", held, s.until(resumeEnds), protocol.Args{}, func(answers []session.Event, _ session.Done) {
		s.resume, s.stopped = false, nil
		then()
	})
}

func (s *sampling) pause() {
	if s.cancel {
		s.finish()
		return
	}
	s.after(max(s.every, time.Nanosecond), s.begin)
}

// confess reports the stops of ranks that were withheld from front ends.
func (s *sampling) confess(ranks rank.Set) {
	s.resume = false
	for _, g := range s.stopped {
		if part, ok := g.Narrow(ranks); ok {
			s.busy = s.busy.Minus(part.Ranks)
			s.m.tell(part)
		}
	}
	s.stopped = nil
}

// swallow removes from a group the events that the sampling has caused. A rank that stops for
// another reason or ends is not continued.
func (s *sampling) swallow(g protocol.Group) (rest protocol.Group, some bool) {
	ours := g.Ranks.Intersect(s.busy)
	if ours.IsEmpty() {
		return g, true
	}
	switch {
	case g.Kind == protocol.KindRunning:
	case g.Kind == protocol.KindStopped && s.resume && interrupted(g.Body) && !ours.Intersect(s.owed).IsEmpty():
		ours = ours.Intersect(s.owed)
		if part, ok := g.Narrow(ours); ok {
			s.stopped = append(s.stopped, part)
		}
		s.settle(ours)
	case g.Kind == protocol.KindStopped || g.Kind.IsEnd():
		s.busy = s.busy.Minus(ours)
		s.settle(ours)
		return g, true
	default:
		return g, true
	}
	return g.Narrow(g.Ranks.Minus(ours))
}

func (s *sampling) settle(ranks rank.Set) {
	s.owed = s.owed.Minus(ranks)
	if s.owed.IsEmpty() && s.then != nil {
		s.goOn()
	}
}

func interrupted(body []byte) bool {
	var stop protocol.Stop
	return json.Unmarshal(body, &stop) == nil && stop.Reason == "interrupted"
}

// interruptedBy ends the sampling because of a call that stops ranks: they remain as they are.
func (s *sampling) interruptedBy(ranks rank.Set) {
	if !ranks.Intersects(s.asked) {
		return
	}
	s.cancel = true
	if s.timer != nil && s.then == nil { // in the pause all ranks run
		s.hush()
		s.finish()
	}
}

// looked is the result of stacks without samples.
type looked struct {
	By string `json:"by"`
}

// sampled is the result of stacks with samples.
type sampled struct {
	By      string `json:"by"`
	Samples int    `json:"samples"` // number taken
	Every   string `json:"every"`
	Moved   bool   `json:"moved"`
}

// finish answers the call: one result for the ranks that never moved, with their stacks, and one
// for the others, with all their stacks.
func (s *sampling) finish() {
	m := s.m
	s.hush()
	m.sampling = nil
	by := s.args.By
	if by == "" {
		by = "line"
	}
	reply := func(ranks rank.Set, moved bool, tree *stack.Tree) {
		if ranks.IsEmpty() {
			return
		}
		g := protocol.Group{Kind: protocol.KindResult, Ranks: ranks, Stack: tree,
			Body: canonical.JSON(sampled{by, s.taken, s.every.String(), moved})}
		if s.plain {
			g.Body = canonical.JSON(looked{by})
		}
		m.stream.Push(session.Event{Name: g.Kind.String(), ID: s.id, Command: "stacks", Group: g})
	}
	still := s.still()
	reply(still, false, s.last.Only(still))
	reply(s.moved, true, s.all.Only(s.moved))
	m.stream.Push(s.silent...)
	if s.cancel {
		m.explain(s.id, "stacks", rank.Set{}, fmt.Sprintf("interrupted: %d of %d samples were taken", s.taken, s.args.Samples))
	}
	done := s.first
	done.Took = m.now() - s.began
	if s.taken == 0 {
		done.Lost = s.asked
	}
	m.stream.Push(session.Event{Name: session.DoneName, ID: s.id, Command: "stacks", Done: &done})
}
