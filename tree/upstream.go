// What ranks do unasked, on its way up: one ordered list for events and output,
// and how long it may be held back for folding.

package tree

import (
	"time"

	"sdm/protocol"
	"sdm/protocol/rank"
	"sdm/protocol/wire"
	"sdm/tree/aggregate"
)

// How long things are held back, at most. Each is bounded by holdInAll over the
// number of vertices from the root to the deepest server, because every one of
// them may hold: the last stop of many is at the root within 100 ms.
const (
	holdStop   = 10 * time.Millisecond // the first time; then twice as long, and so on
	holdOutput = 20 * time.Millisecond
	holdState  = 50 * time.Millisecond // started, running: nobody waits for them
	holdInAll  = 80 * time.Millisecond
)

// More than this waiting goes up at once. It bounds the memory, and the time that
// looking for equal groups takes.
const (
	maxPendingBytes  = 64 << 10
	maxPendingGroups = 512
)

// never is a time that does not come.
const never time.Duration = 1<<63 - 1

// upstream is what waits to go up. A flush takes the whole list.
type upstream struct {
	levels  int // vertices from the root to the deepest server
	list    aggregate.Pending
	due     time.Duration // when the list must go; never: nothing waits
	stops   hold
	output  hold
	running rank.Set // of the subtree
	lost    rank.Set // ranks that have been said to be lost
	gone    rank.Set // numbers of servers that are lost, to be told
	marks   map[protocol.ServerID]uint64
}

// mark notes that the list holds what a server had to say up to a number.
func (u *upstream) mark(s protocol.ServerID, last uint64) {
	if u.marks == nil {
		u.marks = make(map[protocol.ServerID]uint64)
	}
	u.marks[s] = last
}

// forget empties the list: all of it will be said again.
func (u *upstream) forget() {
	u.list.Take()
	u.due, u.gone, u.lost = never, rank.Set{}, rank.Set{}
	u.stops, u.output = hold{}, hold{}
	clear(u.marks)
}

// hold is what a class of groups has done lately. It is quiet until something
// passes; what comes within the time held back waits for its end.
type hold struct {
	until time.Duration // quiet from here on
	next  time.Duration // how long to hold after the next flush
	waits bool          // something of the class is in the list
}

// bound is a time to hold back, cut to the share of one level.
func (u *upstream) bound(d time.Duration) time.Duration {
	return min(d, holdInAll/time.Duration(u.levels))
}

// events takes in what happened to ranks, in order. Between the groups of one
// packet nothing is sent: its marks are true of all of them together.
func (n *Node) events(groups []protocol.Group) {
	for _, g := range groups {
		n.event(g)
	}
	n.bound()
}

// bound sends the list up when it has become too long.
func (n *Node) bound() {
	if n.up.list.Bytes() > maxPendingBytes || n.up.list.Len() > maxPendingGroups {
		n.flush()
	}
}

// event puts one group into the list and decides by when it must go.
func (n *Node) event(g protocol.Group) {
	if g.Ranks.IsEmpty() {
		return
	}
	u := &n.up
	switch g.Kind {
	case protocol.KindStarted:
		u.lost = u.lost.Minus(g.Ranks)
	case protocol.KindLost: // a rank is lost once
		if g.Ranks = g.Ranks.Minus(u.lost); g.Ranks.IsEmpty() {
			return
		}
	}
	u.list.Add(g)
	switch {
	case n.quitting:
		u.goBy(n.now)
	case g.Kind == protocol.KindStarted:
		u.goBy(n.now + u.bound(holdState))
	case g.Kind == protocol.KindRunning:
		u.running = u.running.Union(g.Ranks)
		u.goBy(n.now + u.bound(holdState))
	case g.Kind == protocol.KindStopped || g.Kind.IsEnd():
		n.stopped(g)
	default:
		u.goBy(u.output.admit(n.now, u.bound(holdOutput)))
	}
}

// stopped decides on a group that says that ranks run no more. When it was the
// last that ran, nothing is gained by waiting, unless a request is on its way that
// may have made others run.
func (n *Node) stopped(g protocol.Group) {
	u := &n.up
	if g.Kind == protocol.KindLost {
		u.lost = u.lost.Union(g.Ranks)
	}
	by := u.stops.admit(n.now, u.bound(holdStop))
	if u.running.Intersects(g.Ranks) {
		u.running = u.running.Minus(g.Ranks)
		if u.running.IsEmpty() && n.awaited == 0 {
			by = n.now
		}
	}
	u.goBy(by)
}

// goBy makes the list go at a time, if not earlier.
func (u *upstream) goBy(at time.Duration) {
	u.due = min(u.due, at)
}

// admit gives the time by which a group of the class must go: now after quiet.
func (h *hold) admit(now, first time.Duration) time.Duration {
	if !h.waits && now >= h.until {
		h.until, h.next = now, first
	}
	h.waits = true
	return h.until
}

// passed tells that what waited of the class has gone: now it is not quiet.
func (h *hold) passed(now time.Duration) {
	if h.waits {
		h.until, h.waits = now+h.next, false
	}
}

// flush sends the list up. Before Init there is nobody to send it to.
func (n *Node) flush() {
	u := &n.up
	u.due = never
	if n.id > 0 && !n.placed {
		return
	}
	groups := u.list.Take()
	if len(groups) == 0 && u.gone.IsEmpty() {
		return
	}
	n.emit(ToParent{wire.Message{Kind: wire.Events, Groups: groups, Ranks: u.gone, Marks: marksOf(u.marks)}})
	u.gone = rank.Set{}
	clear(u.marks)
	if u.stops.waits {
		u.stops.passed(n.now)
		u.stops.next = u.bound(2 * u.stops.next)
	}
	u.output.passed(n.now)
}
