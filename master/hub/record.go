// The record of a session's events, and snapshots.

package hub

import (
	"slices"

	"sdm/master/session"
	"sdm/protocol"
	"sdm/protocol/column"
	"sdm/protocol/rank"
)

// record keeps the last events of a session. Each event has a number; a cursor is the number of events before a
// place. It is pure.
//
//	         ┌ first              ┌ end
//	… forgotten │ kept … kept … kept │
//	base: states at first             now: states at end
type record struct {
	max   int // bytes of bodies
	bytes int
	first uint64
	kept  []session.Event // the oldest first
	base  latest
	now   latest
}

func (r *record) end() uint64 { return r.first + uint64(len(r.kept)) }

// perEvent is what an event needs besides its body, in bytes.
const perEvent = 200

// add adds an event, forgets old ones, and returns the event with its number.
func (r *record) add(e session.Event) session.Event {
	e.Cursor = r.end() + 1
	r.now.feed(e)
	r.kept = append(r.kept, e)
	r.bytes += perEvent + e.Group.Size()
	drop := 0
	for ; r.bytes > r.max && drop < len(r.kept)-1; drop++ {
		r.base.feed(r.kept[drop])
		r.bytes -= perEvent + r.kept[drop].Group.Size()
		r.kept[drop] = session.Event{} // its memory is free at once, the place when the array grows
	}
	r.kept = r.kept[drop:]
	r.first += uint64(drop)
	return e
}

// missed returns how many events behind a cursor are not kept.
func (r *record) missed(cursor uint64) uint64 {
	if cursor >= r.first {
		return 0
	}
	return r.first - cursor
}

// from returns the states at a cursor, as events, and the events after it. If those are not all kept, it begins with
// the first that is.
func (r *record) from(cursor uint64) (snapshot, rest []session.Event) {
	if cursor >= r.end() {
		return r.now.events(), nil
	}
	at := 0
	if cursor > r.first {
		at = int(cursor - r.first)
	}
	then := latest{groups: slices.Clone(r.base.groups), job: r.base.job}
	for _, e := range r.kept[:at] {
		then.feed(e)
	}
	return then.events(), slices.Clone(r.kept[at:])
}

// latest are the last events that tell the state of each rank, and the last state of the job. Later ones come last.
type latest struct {
	groups []protocol.Group
	job    *protocol.Group
}

// feed takes the ranks of an event that tells their state out of earlier ones.
func (l *latest) feed(e session.Event) {
	g := e.Group
	switch {
	case e.IsAnswer():
		return
	case g.Kind == protocol.KindJob:
		l.job = &g
		return
	case !g.Kind.TellsState() || g.Ranks.IsEmpty():
		return
	case g.Kind == protocol.KindLost: // an ended rank stays ended
		if g = l.alive(g); g.Ranks.IsEmpty() {
			return
		}
	}
	rest := l.groups[:0:0]
	for _, old := range l.groups {
		if !old.Ranks.Intersects(g.Ranks) {
			rest = append(rest, old)
		} else if old, some := old.Narrow(old.Ranks.Minus(g.Ranks)); some {
			rest = append(rest, old)
		}
	}
	l.groups = append(rest, slim(g))
}

// alive returns the part of a loss that concerns ranks which have not ended.
func (l *latest) alive(g protocol.Group) protocol.Group {
	ended := rank.Set{}
	for _, old := range l.groups {
		if old.Kind.IsEnd() {
			ended = ended.Union(old.Ranks)
		}
	}
	g, _ = g.Narrow(g.Ranks.Minus(ended))
	return g
}

// slim leaves out what is most of the bytes and no part of a state: process ids.
func slim(g protocol.Group) protocol.Group {
	g.Columns = slices.DeleteFunc(slices.Clone(g.Columns), func(c column.Column) bool { return c.Name == "pid" })
	return g
}

// events returns the events that tell the states.
func (l *latest) events() []session.Event {
	var events []session.Event
	for _, g := range l.groups {
		events = append(events, session.NewEvent(g))
	}
	if l.job != nil {
		events = append(events, session.NewEvent(*l.job))
	}
	return events
}
