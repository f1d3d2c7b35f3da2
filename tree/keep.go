// Exactly once: what a vertex's own ranks did unasked is kept until the root has
// it, and what was lost with a server above is sent again.
//
// Each group has a number at its server, from 1. Events packets carry marks: of
// these servers, everything up to this number. Links and lists keep the order, so
// that what the root has seen of a server is all up to one number, and what it
// has not is the rest. Servers right below the root have no one above who could
// be lost without them: they keep nothing.

package tree

import (
	"maps"
	"slices"

	"sdm/protocol"
	"sdm/protocol/rank"
	"sdm/protocol/wire"
)

const (
	// maxKept is how many bytes a vertex keeps before its own ranks are to write
	// no more; half of it, and they may.
	maxKept = 1 << 20
	// ackEvery is how many bytes the root takes in before it acknowledges them: so
	// little that writers do not wait, so much that it is no traffic.
	ackEvery = 128 << 10
)

// keep is what a vertex keeps of its own ranks' events.
type keep struct {
	keeps    bool // there is somebody between us and the root
	last     uint64
	kept     []protocol.Group // numbers last-len+1 … last
	keptSize int
	held     bool // Hold is on
}

// acks is what the root has seen, by server.
type acks struct {
	seen    map[protocol.ServerID]uint64
	fresh   map[protocol.ServerID]bool // not acknowledged
	unacked int                        // bytes
}

// ownEvents takes in events that begin here: those of the vertex's own ranks, and
// the loss of its children.
func (n *Node) ownEvents(groups []protocol.Group) {
	for i := range groups {
		if n.keeps && !groups[i].Ranks.IsEmpty() {
			n.last++
			n.kept = append(n.kept, groups[i])
			n.keptSize += groups[i].Size()
			n.up.mark(server(n.id), n.last)
		}
		n.event(groups[i])
		n.bound()
	}
	n.hold()
}

// hold tells when too much is kept, and when it is not any more.
func (n *Node) hold() {
	if on := n.keptSize > maxKept || n.held && n.keptSize > maxKept/2; on != n.held {
		n.held = on
		n.emit(Hold{on})
	}
}

// ack lets go of what the root has seen, and passes on what it has seen of others.
func (n *Node) ack(marks []wire.Mark) {
	self := rank.ID(server(n.id))
	for _, m := range marks {
		if m.Servers.Contains(self) {
			n.letGo(m.Last)
		}
	}
	n.passAck(marks)
}

func (n *Node) letGo(last uint64) {
	first := n.last - uint64(len(n.kept)) // number of the one before
	if last <= first || last > n.last {
		return
	}
	seen := n.kept[:last-first]
	for i := range seen {
		n.keptSize -= seen[i].Size()
	}
	n.kept = slices.Delete(n.kept, 0, len(seen))
	n.hold()
}

func (n *Node) passAck(marks []wire.Mark) {
	for _, c := range n.children {
		if c.state != childUp {
			continue
		}
		var part []wire.Mark
		for _, m := range marks {
			if s := m.Servers.Intersect(c.servers); !s.IsEmpty() {
				part = append(part, wire.Mark{Servers: s, Last: m.Last})
			}
		}
		if len(part) > 0 {
			n.emit(ToChild{c.id, wire.Message{Kind: wire.Ack, Marks: part}})
		}
	}
}

// childEvents takes in events from below.
func (n *Node) childEvents(c *child, m *wire.Message) {
	if c.resync != 0 {
		if m.Flags&wire.Again == 0 || m.Epoch < c.resync {
			return // it will be sent again, or has been
		}
		c.resync = 0
		n.up.running = n.up.running.Minus(c.ranks).Union(m.Running.Intersect(c.ranks))
	}
	if m.Flags&wire.Again != 0 {
		n.eventsAgain(m)
	} else {
		n.marked(m)
		n.events(m.Groups)
	}
	if !m.Ranks.IsEmpty() && (n.id == 0 || m.Flags&wire.Again == 0) {
		n.bury(m.Ranks)
	}
}

// marked notes whose events these are: to be passed on, or, at the root, seen.
func (n *Node) marked(m *wire.Message) {
	for _, mark := range m.Marks {
		for s := range mark.Servers.All() {
			if n.id > 0 {
				n.up.mark(protocol.ServerID(s), mark.Last)
			} else {
				n.see(protocol.ServerID(s), mark.Last)
			}
		}
	}
	if n.id > 0 || len(m.Marks) == 0 {
		return
	}
	for i := range m.Groups {
		n.unacked += m.Groups[i].Size()
	}
	if n.unacked >= ackEvery {
		n.acknowledge()
	}
}

// see is the root's book of what it has had from whom.
func (n *Node) see(s protocol.ServerID, last uint64) {
	if n.seen == nil {
		n.seen, n.fresh = make(map[protocol.ServerID]uint64), make(map[protocol.ServerID]bool)
	}
	n.seen[s] = max(n.seen[s], last)
	n.fresh[s] = true
}

// acknowledge tells the servers what the root has seen since the last time.
func (n *Node) acknowledge() {
	if n.unacked = 0; len(n.fresh) == 0 {
		return
	}
	last := make(map[protocol.ServerID]uint64, len(n.fresh))
	for s := range n.fresh {
		last[s] = n.seen[s]
	}
	clear(n.fresh)
	n.passAck(marksOf(last))
}

// marksOf puts servers with the same number together; no order of a map shows.
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

// eventsAgain passes on what one server sends again, behind all that came before.
// The root takes out what it has seen.
func (n *Node) eventsAgain(m *wire.Message) {
	if n.id > 0 {
		n.gone = n.gone.Union(m.Ranks)
		for _, g := range m.Groups {
			if g.Kind == protocol.KindLost {
				n.up.lost = n.up.lost.Union(g.Ranks)
			}
		}
		n.flush()
		again := *m
		again.Running = rank.Set{}
		n.emit(ToParent{again})
		return
	}
	if len(m.Marks) != 1 {
		return
	}
	id, _ := m.Marks[0].Servers.Min()
	s, last, groups := protocol.ServerID(id), m.Marks[0].Last, m.Groups
	if first := last - uint64(len(groups)); n.seen[s] > first {
		groups = groups[min(n.seen[s]-first, uint64(len(groups))):]
	}
	n.see(s, last)
	n.events(groups)
	n.acknowledge()
}

// resend begins anew towards a parent that is new, here or further up. Events that
// wait here came from below and are kept there, or are kept here. Requests are
// forgotten: whoever adopts asks again for all that is owed, and behind the events
// that are sent again. The first packet goes also when there is nothing to say
// again: what came before it is out of date.
func (n *Node) resend(epoch uint64) {
	n.learn(epoch)
	n.up.forget()
	for _, r := range n.inOrder() {
		if !r.ofInit {
			n.close(r)
		}
	}
	m := wire.Message{Kind: wire.Events, Flags: wire.Again, Epoch: epoch, Ranks: n.gone, Running: n.up.running}
	number := n.last - uint64(len(n.kept))
	for groups := n.kept; ; {
		count := fit(groups)
		number += uint64(count)
		m.Marks = []wire.Mark{{Servers: rank.Of(rank.ID(server(n.id))), Last: number}}
		m.Groups, groups = slices.Clone(groups[:count]), groups[count:]
		n.emit(ToParent{m})
		if len(groups) == 0 {
			break
		}
	}
	if !n.keeps {
		n.kept, n.keptSize = nil, 0
		n.hold()
	}
	for _, c := range n.children {
		if c.state == childUp {
			c.resync = epoch
			n.emit(ToChild{c.id, wire.Message{Kind: wire.Resend, Epoch: epoch}})
		}
	}
}
