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

// late are the ranks that were interrupted for a sample and did not stop while it was taken,
// because their server or their gdb was silent. When they stop later, they are continued, and the
// user sees neither.
type late struct {
	owed  rank.Set // have not stopped yet
	going rank.Set // are being continued, and do not run yet
}

// owe adds ranks whose stop is not awaited any more.
func (l *late) owe(ranks rank.Set) { l.owed = l.owed.Union(ranks) }

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
	l := &s.late
	l.going = l.going.Union(stop.Ranks)
	return []Output{Ask{
		Command: "continue", Ranks: stop.Ranks, Wait: lateWait,
		Then: func(now time.Duration, answers []session.Event, _ session.Done) []Output {
			stops := without([]protocol.Group{stop}, stop.Ranks.Minus(l.going))
			l.going = l.going.Minus(stop.Ranks)
			return s.failedToContinue(now, stops, answers)
		},
		Fail: func(time.Duration, *protocol.Fault) []Output {
			l.going = l.going.Minus(stop.Ranks)
			return nil
		},
	}}
}
