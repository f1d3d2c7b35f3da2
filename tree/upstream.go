// What ranks do unasked, on its way up: one ordered list for events and output.

package tree

import (
	"time"

	"sdm/protocol"
	"sdm/protocol/rank"
	"sdm/protocol/wire"
	"sdm/tree/aggregate"
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
	patience
	list    aggregate.Pending
	by      time.Duration // when the list must go, but for what follows; never: nothing waits
	change  time.Duration // when it must for changes of state; never: none waits
	stops   hold
	output  hold
	start   starting
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
	u.by, u.change, u.gone, u.lost = never, never, rank.Set{}, rank.Set{}
	u.stops, u.output, u.start = hold{}, hold{}, starting{}
	clear(u.marks)
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
		u.start = starting{}
		u.goBy(n.now)
	case g.Kind == protocol.KindStarted:
		u.start.began(n.now, g.Ranks, u.starts)
		u.changes(n.now)
	case g.Kind == protocol.KindRunning:
		u.start.over(g.Ranks)
		u.running = u.running.Union(g.Ranks)
		u.changes(n.now)
	case g.Kind == protocol.KindStopped || g.Kind.IsEnd():
		n.stopped(g)
	default:
		u.goBy(u.output.admit(n.now, g.Ranks.Len(), never, 0))
	}
}

// changes holds a change of state: as long as stops are held, since the list goes as
// a whole. While a command is on its way to many, changes of state come all the time.
func (u *upstream) changes(now time.Duration) {
	u.change = min(u.change, max(now+u.bound(holdState), u.stops.until))
}

// stopped decides on a group that says that ranks run no more. When it was the
// last that ran, nothing is gained by waiting, unless a request is on its way that
// may have made others run, or others start.
func (n *Node) stopped(g protocol.Group) {
	u := &n.up
	if g.Kind == protocol.KindLost {
		u.lost = u.lost.Union(g.Ranks)
	}
	u.start.over(g.Ranks)
	u.stops.admit(n.now, g.Ranks.Len(), u.quiet, u.longest)
	if u.running.Intersects(g.Ranks) {
		u.running = u.running.Minus(g.Ranks)
		if u.running.IsEmpty() && n.awaited == 0 && !u.start.waits(n.now) {
			u.goBy(n.now)
		}
	}
}

// goBy makes the list go at a time, if not earlier.
func (u *upstream) goBy(at time.Duration) {
	u.by = min(u.by, at)
}

// due is when the list must go; never: nothing waits. What ranks print waits for no start.
func (u *upstream) due() time.Duration {
	by := u.change
	if u.stops.waits {
		by = min(by, u.stops.by)
	}
	return min(u.by, u.start.due(by))
}

// flush sends the list up. Before Init there is nobody to send it to.
func (n *Node) flush() {
	u := &n.up
	u.by, u.change = never, never
	if n.id > 0 && !n.placed {
		u.stops.waits = false // Init flushes
		return
	}
	groups := u.list.Take()
	if len(groups) == 0 && u.gone.IsEmpty() {
		return
	}
	if pressing, rest, ok := n.part(groups); ok {
		n.emit(ToParent{wire.Message{Kind: wire.Events, Groups: pressing.groups, Marks: marksOf(pressing.marks)}})
		n.emit(ToParent{wire.Message{Kind: wire.Events, Groups: rest.groups, Marks: marksOf(rest.marks)}})
	} else {
		n.emit(ToParent{wire.Message{Kind: wire.Events, Groups: groups, Ranks: u.gone, Marks: marksOf(u.marks)}})
	}
	u.gone = rank.Set{}
	clear(u.marks)
	u.stops.passed(n.now, u.bound(holdStop), u.longest)
	u.output.passed(n.now, u.bound(holdOutput), 0)
	n.calm()
}

// calm ends a series of stops when nobody runs any more and no request is on its way
// that may make others run.
func (n *Node) calm() {
	if n.awaited == 0 && n.up.running.IsEmpty() {
		n.up.stops.calm(n.now, n.up.bound(holdStop))
	}
}
