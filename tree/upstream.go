// Events and output on their way up, in one ordered list.

package tree

import (
	"maps"
	"slices"
	"time"

	"sdm/protocol"
	"sdm/protocol/rank"
	"sdm/protocol/wire"
	"sdm/tree/aggregate"
)

// Limits of the list; beyond them it is sent at once. They bound memory and the
// time of searching for equal groups.
const (
	maxPendingBytes  = 64 << 10
	maxPendingGroups = 512
)

// never is a time that is not reached.
const never time.Duration = 1<<63 - 1

// upstream holds the groups to be sent up. A flush sends the whole list.
type upstream struct {
	holdLimits
	list    aggregate.Pending
	by      time.Duration // deadline of other groups than those below; never: none
	change  time.Duration // deadline of changes of state; never: none
	stops   coalescer
	output  coalescer
	start   starting
	running rank.Set // running ranks of the subtree
	lost    rank.Set // ranks reported as lost
	gone    rank.Set // numbers of lost servers, to be reported
	marks   map[protocol.ServerID]uint64
}

// mark records that the list contains the events of a server up to a number.
func (u *upstream) mark(s protocol.ServerID, last uint64) {
	if u.marks == nil {
		u.marks = make(map[protocol.ServerID]uint64)
	}
	u.marks[s] = last
}

// marksOf combines servers with equal numbers into marks, in ascending order of
// numbers.
func marksOf(last map[protocol.ServerID]uint64) []wire.Mark {
	if len(last) == 0 {
		return nil
	}
	byLast := make(map[uint64][]rank.ID)
	for s, l := range last {
		byLast[l] = append(byLast[l], rank.ID(s))
	}
	marks := make([]wire.Mark, 0, len(byLast))
	for _, l := range slices.Sorted(maps.Keys(byLast)) {
		marks = append(marks, wire.Mark{Servers: rank.Of(byLast[l]...), Last: l})
	}
	return marks
}

// forget empties the list, because all of it will be retransmitted.
func (u *upstream) forget() {
	u.list.Take()
	u.by, u.change, u.gone, u.lost = never, never, rank.Set{}, rank.Set{}
	u.stops, u.output, u.start = coalescer{}, coalescer{}, starting{}
	clear(u.marks)
}

// events adds groups, in order. Nothing is sent between the groups of one packet,
// because its marks apply to all of them together.
func (n *Node) events(groups []protocol.Group) {
	for _, g := range groups {
		n.event(g)
	}
	n.bound()
}

// bound sends the list when it exceeds a limit.
func (n *Node) bound() {
	if n.up.list.Bytes() > maxPendingBytes || n.up.list.Len() > maxPendingGroups {
		n.flush()
	}
}

// event adds one group to the list.
func (n *Node) event(g protocol.Group) {
	n.up.add(n.now, g, n.requests.awaited)
	if n.quitting {
		n.up.sendBy(n.now)
	}
}

// add adds one group and sets the deadline for sending it; awaited is the number of outstanding
// requests.
func (u *upstream) add(now time.Duration, g protocol.Group, awaited int) {
	if g.Ranks.IsEmpty() {
		return
	}
	switch g.Kind {
	case protocol.KindStarted:
		u.lost = u.lost.Minus(g.Ranks)
	case protocol.KindLost: // a rank is reported as lost once
		if g.Ranks = g.Ranks.Minus(u.lost); g.Ranks.IsEmpty() {
			return
		}
	}
	u.list.Add(g)
	switch {
	case g.Kind == protocol.KindStarted:
		u.start.began(now, g.Ranks, u.starts)
		u.changes(now)
	case g.Kind == protocol.KindWatched:
		u.start.over(g.Ranks)
		u.changes(now)
	case g.Kind == protocol.KindRunning:
		u.start.over(g.Ranks)
		u.running = u.running.Union(g.Ranks)
		u.changes(now)
	case g.Kind == protocol.KindStopped || g.Kind.IsEnd():
		u.stopped(now, g, awaited)
	default:
		u.sendBy(u.output.admit(now, g.Ranks.Len(), never, 0))
	}
}

// changes sets the deadline of a change of state. It is not before the window of
// stops ends, since the list is sent as a whole: while a command is on its way to
// many ranks, changes of state arrive all the time.
func (u *upstream) changes(now time.Duration) {
	u.change = min(u.change, max(now+u.bound(holdState), u.stops.until))
}

// stopped sets the deadline of a group of ranks that do not run any more. If they
// were the last running ranks, waiting gains nothing, unless an outstanding request
// may have resumed others, or ranks are being started.
func (u *upstream) stopped(now time.Duration, g protocol.Group, awaited int) {
	if g.Kind == protocol.KindLost {
		u.lost = u.lost.Union(g.Ranks)
	}
	u.start.over(g.Ranks)
	u.stops.admit(now, g.Ranks.Len(), u.quiet, u.longest)
	if u.running.Intersects(g.Ranks) {
		u.running = u.running.Minus(g.Ranks)
		if u.running.IsEmpty() && awaited == 0 && !u.start.waits(now) {
			u.sendBy(now)
		}
	}
}

// sendBy sets the deadline of the list, unless it is set to an earlier time already.
func (u *upstream) sendBy(at time.Duration) {
	u.by = min(u.by, at)
}

// due returns the deadline of the list, or never if nothing waits. Output is not
// delayed by ranks that are being started.
func (u *upstream) due() time.Duration {
	by := u.change
	if u.stops.waits {
		by = min(by, u.stops.by)
	}
	return min(u.by, u.start.due(by))
}

// flush sends the list. Before Init there is no parent to send it to.
func (n *Node) flush() {
	u := &n.up
	u.by, u.change = never, never
	if n.id > 0 && !n.placed {
		u.stops.waits = false // init flushes
		return
	}
	groups := u.list.Take()
	if len(groups) == 0 && u.gone.IsEmpty() {
		return
	}
	if urgent, rest, ok := u.splitUrgent(groups, &n.subtree); ok {
		n.emit(ToParent{wire.Message{Kind: wire.Events, Groups: urgent.groups, Marks: marksOf(urgent.marks)}})
		n.emit(ToParent{wire.Message{Kind: wire.Events, Groups: rest.groups, Marks: marksOf(rest.marks)}})
	} else {
		n.emit(ToParent{wire.Message{Kind: wire.Events, Groups: groups, Ranks: u.gone, Marks: marksOf(u.marks)}})
	}
	u.gone = rank.Set{}
	clear(u.marks)
	u.stops.passed(n.now, u.bound(holdStop), u.longest)
	u.output.passed(n.now, u.bound(holdOutput), 0)
	u.resetStops(n.now, n.requests.awaited)
}

// resetStops ends the series of stops when no rank runs and none of the outstanding requests,
// whose number is awaited, may resume one.
func (u *upstream) resetStops(now time.Duration, awaited int) {
	if awaited == 0 && u.running.IsEmpty() {
		u.stops.reset(now, u.bound(holdStop))
	}
}
