package master

import (
	"sdm/master/session"
	"sdm/protocol"
	"sdm/protocol/rank"
)

// late is what samples leave behind: ranks that were interrupted for one and did not
// stop while it was taken, because their server or their gdb was silent. When they
// stop after all, they are let run on, and front ends see neither. All is under the
// master's lock.
type late struct {
	owed  rank.Set // have not stopped yet
	going rank.Set // are being let run on
}

// owe notes ranks whose stop is not waited for any more.
func (l *late) owe(ranks rank.Set) { l.owed = l.owed.Union(ranks) }

// forget leaves ranks to somebody who wants them to stop.
func (l *late) forget(ranks rank.Set) { l.owed = l.owed.Minus(ranks) }

// swallowLate takes what happens to ranks because of samples that are over out of a
// group; what is left is for others. A rank that stops or ends by itself is ours no more.
func (m *Master) swallowLate(g protocol.Group) (rest protocol.Group, some bool) {
	l := &m.late
	switch {
	case g.Kind == protocol.KindRunning && g.Ranks.Intersects(l.going):
		return g.Narrow(g.Ranks.Minus(l.going))
	case g.Kind == protocol.KindStopped && g.Ranks.Intersects(l.owed) && interrupted(g.Body):
		part, _ := g.Narrow(g.Ranks.Intersect(l.owed))
		l.owed = l.owed.Minus(part.Ranks)
		m.letRunOn(part)
		return g.Narrow(g.Ranks.Minus(part.Ranks))
	case g.Kind == protocol.KindStopped || g.Kind.IsEnd():
		l.owed, l.going = l.owed.Minus(g.Ranks), l.going.Minus(g.Ranks)
	}
	return g, true
}

// letRunOn continues ranks that have stopped late. Of those that cannot, front ends hear
// that they stand.
func (m *Master) letRunOn(stop protocol.Group) {
	m.late.going = m.late.going.Union(stop.Ranks)
	m.ask("continue", stop.Ranks, DefaultWait, protocol.Args{}, func(answers []session.Event, _ session.Done) {
		m.late.going = m.late.going.Minus(stop.Ranks)
		for _, e := range answers {
			if e.Group.Kind != protocol.KindFault {
				continue
			}
			if part, ok := stop.Narrow(e.Group.Ranks); ok {
				m.tell(part)
			}
		}
	})
}
