package master

import (
	"sdm/master/session"
	"sdm/protocol"
	"sdm/protocol/rank"
)

// late are the ranks that were interrupted for a sample and did not stop while it was taken,
// because their server or their gdb was silent. When they stop later, they are continued, and front
// ends see neither. The master's lock guards it.
type late struct {
	owed  rank.Set // have not stopped yet
	going rank.Set // are being continued
}

// owe adds ranks whose stop is not awaited any more.
func (l *late) owe(ranks rank.Set) { l.owed = l.owed.Union(ranks) }

// forget removes ranks that the user wants to stop.
func (l *late) forget(ranks rank.Set) { l.owed = l.owed.Minus(ranks) }

// swallowLate removes from a group the events that samples of the past have caused. A rank that
// stops for another reason or ends is removed from late.
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

// letRunOn continues ranks that have stopped late. If that fails, it reports their stop to front
// ends.
func (m *Master) letRunOn(stop protocol.Group) {
	m.late.going = m.late.going.Union(stop.Ranks)
	o := &operation{command: "continue", fail: func(*protocol.Fault) {
		m.late.going = m.late.going.Minus(stop.Ranks)
		m.tell(stop)
	}}
	m.ask(o, "continue", stop.Ranks, DefaultWait, protocol.Args{}, func(answers []session.Event, _ session.Done) {
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
