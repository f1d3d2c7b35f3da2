// Answers of the call.

package sampling

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"sdm/master/session"
	"sdm/protocol"
	"sdm/protocol/canonical"
	"sdm/protocol/rank"
)

// plainResult is the result of stacks without samples.
type plainResult struct {
	By string `json:"by"`
}

// sampledResult is the result of stacks with samples.
type sampledResult struct {
	By      string `json:"by"`
	Samples int    `json:"samples"` // number that have these ranks
	Every   string `json:"every"`
	Moved   bool   `json:"moved"`
}

// finish answers the call: one result for the ranks that never moved, and one for the others. Both
// have all their stacks, with a thread for each sample in which it was there. Ranks that are missing in
// some samples are in separate results.
func (s *samples) finish(now time.Duration) []Output {
	s.of.remove(s)
	out := s.of.schedule(now)
	if s.answered {
		return out
	}
	return append(out, s.results(now)...)
}

// results are the answers with the samples that have been taken.
func (s *samples) results(now time.Duration) (out []Output) {
	for _, n := range slices.Backward(slices.Sorted(maps.Keys(s.found.tally))) {
		ranks := s.found.tally[n]
		out = append(out, s.result(ranks.Minus(s.found.moved), n, false)...)
		out = append(out, s.result(ranks.Intersect(s.found.moved), n, true)...)
	}
	for _, e := range s.silent {
		out = append(out, Answer{e})
	}
	if s.cancel {
		note := protocol.Note{Text: fmt.Sprintf("interrupted: %d of %d samples were taken", s.taken, s.args.Samples)}
		out = append(out, s.answer(protocol.Group{Kind: protocol.KindNote, Body: canonical.JSON(note)}))
	}
	done := s.first
	switch done.Cancelled = s.cancelled; {
	case s.cancelled && s.taken == 0:
		done.Missing = s.asked
		body := canonical.JSON(protocol.Missing{Cause: protocol.Cancelled})
		out = append(out, s.answer(protocol.Group{Kind: protocol.KindMissing, Ranks: s.asked, Body: body}))
	case s.taken == 0:
		done.Lost = s.asked
	}
	return append(out, s.done(now, done))
}

// result makes the answer of some ranks that n samples have; of none there is none.
func (s *samples) result(ranks rank.Set, n int, moved bool) []Output {
	if ranks.IsEmpty() {
		return nil
	}
	by := cmp.Or(s.args.By, "line")
	body := canonical.JSON(sampledResult{by, n, s.every.String(), moved})
	if s.plain {
		body = canonical.JSON(plainResult{by})
	}
	g := s.found.group(ranks)
	g.Body = body
	return []Output{s.answer(g)}
}

// abort answers the call with a fault.
func (s *samples) abort(now time.Duration, f *protocol.Fault) []Output {
	s.of.remove(s)
	out := s.of.schedule(now)
	s.handToLate(s.owed)
	if !s.resume { // those that run already are known to run
		s.busy = s.busy.Intersect(s.of.late.going)
		s.of.late.going = s.of.late.going.Minus(s.busy)
	}
	out = append(out, s.reportStops(s.busy)...)
	if s.answered {
		return out
	}
	out = append(out, s.answer(protocol.Group{Kind: protocol.KindFault, Ranks: s.asked, Body: canonical.JSON(f)}))
	n := s.asked.Len()
	return append(out, s.done(now, session.Done{Asked: n, Answered: n, Faults: n}))
}

func (s *samples) answer(g protocol.Group) Output {
	return Answer{session.Event{Name: g.Kind.String(), ID: s.id, Command: command, Group: g}}
}

func (s *samples) done(now time.Duration, d session.Done) Output {
	d.Took = now - s.began
	return Answer{session.Event{Name: session.DoneName, ID: s.id, Command: command, Done: &d}}
}
