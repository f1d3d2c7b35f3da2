// Ranks that stop after the sample for which they were interrupted.

package sampling

import (
	"time"

	"sdm/master/session"
	"sdm/protocol"
	"sdm/protocol/rank"
)

// lateWait is how long ranks that stop late may take to continue.
const lateWait = 10 * time.Second

// late are ranks that have not done yet what a sample wants of them. Those that did not stop while it was
// taken, because their server or their gdb was silent, are continued when they stop, and the user sees
// neither.
type late struct {
	owed  rank.Set // have not stopped yet
	going rank.Set // are being continued, and do not run yet
}

// owe adds ranks whose stop is not awaited any more.
func (l *late) owe(ranks rank.Set) { l.owed = l.owed.Union(ranks) }

// resume adds ranks that are being continued.
func (l *late) resume(ranks rank.Set) { l.going = l.going.Union(ranks) }

// forget removes ranks that the user wants to stop.
func (l *late) forget(ranks rank.Set) { l.owed = l.owed.Minus(ranks) }

// filterLate removes from a group the events that earlier samples have caused. A rank that stops
// for another reason or ends is removed from late.
func (s *Sampler) filterLate(g protocol.Group) (rest protocol.Group, some bool, out []Output) {
	l := &s.late
	switch {
	case g.Kind == protocol.KindRunning && g.Ranks.Intersects(l.going):
		rest, some = g.Narrow(g.Ranks.Minus(l.going))
		l.going = l.going.Minus(g.Ranks)
		return rest, some, nil
	case g.Kind == protocol.KindStopped && g.Ranks.Intersects(l.owed) && isInterrupt(g.Body):
		part, _ := g.Narrow(g.Ranks.Intersect(l.owed))
		l.owed = l.owed.Minus(part.Ranks)
		rest, some = g.Narrow(g.Ranks.Minus(part.Ranks))
		return rest, some, s.resume(part)
	case g.Kind == protocol.KindStopped || g.Kind.IsEnd():
		l.owed, l.going = l.owed.Minus(g.Ranks), l.going.Minus(g.Ranks)
	}
	return g, true, nil
}

// resume continues ranks that have stopped late. If that fails, their stop is reported.
func (s *Sampler) resume(stop protocol.Group) []Output {
	s.late.resume(stop.Ranks)
	return []Output{Ask{
		Command: "continue", Ranks: stop.Ranks, Wait: lateWait,
		Then: func(now time.Duration, answers []session.Event, _ session.Done) []Output {
			return s.resumed(now, stop.Ranks, []protocol.Group{stop}, answers)
		},
		Fail: func(time.Duration, *protocol.Fault) []Output {
			s.late.going = s.late.going.Minus(stop.Ranks)
			return nil
		},
	}}
}

// resumed processes the answers of ranks that are being continued; stops are the stops that the user does not know.
// Those that have not answered may run later.
func (s *Sampler) resumed(now time.Duration, ranks rank.Set, stops []protocol.Group, answers []session.Event) []Output {
	l := &s.late
	stops = without(stops, ranks.Minus(l.going))
	for _, e := range answers {
		if e.Group.Kind != protocol.KindMissing {
			l.going = l.going.Minus(e.Group.Ranks)
		}
	}
	return s.failedToContinue(now, stops, answers)
}
