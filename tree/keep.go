// Exactly-once delivery of events: a vertex keeps the events of its own ranks until
// the root acknowledges them, and retransmits those that were lost with a server.
//
// Each group has a sequence number at its server, from 1. An Events packet carries
// marks: the servers whose events it contains, and the number of the last one.
// Links and lists preserve order, so the root has received the events of a server
// up to one number, and the rest is missing. Servers right below the root keep
// nothing: no server between them and the root can be lost.

package tree

import (
	"slices"

	"sdm/protocol"
	"sdm/protocol/rank"
	"sdm/protocol/wire"
)

const (
	// maxKept is the number of bytes of unacknowledged events at which the output
	// of the vertex's own ranks is paused. It resumes at half of that.
	maxKept = 1 << 20
	// ackEvery is the number of bytes after which the root acknowledges: small
	// enough that writers do not wait, large enough that the traffic is negligible.
	ackEvery = 128 << 10
)

// keep holds the unacknowledged events of a vertex's own ranks.
type keep struct {
	keeps    bool // there is a vertex between this one and the root
	last     uint64
	kept     []protocol.Group // numbers last-len+1 … last
	keptSize int
	paused   bool // the last PauseOutput was on
}

// acks records what the root has received, by server.
type acks struct {
	seen    map[protocol.ServerID]uint64
	fresh   map[protocol.ServerID]bool // with events to acknowledge
	unacked int                        // bytes received since the last acknowledgement
}

// ownEvents processes events that originate at this vertex: events of its own ranks, and the loss
// of its children.
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
	n.pauseOutput()
}

// pauseOutput emits a PauseOutput when the limit of kept events is exceeded, and when the number
// of bytes has fallen to half of it.
func (n *Node) pauseOutput() {
	if on := n.keptSize > maxKept || n.paused && n.keptSize > maxKept/2; on != n.paused {
		n.paused = on
		n.emit(PauseOutput{on})
	}
}

// ack discards the vertex's own acknowledged events and forwards the
// acknowledgement.
func (n *Node) ack(marks []wire.Mark) {
	self := rank.ID(server(n.id))
	for _, m := range marks {
		if m.Servers.Contains(self) {
			n.discard(m.Last)
			n.pauseOutput()
		}
	}
	n.passAck(marks)
}

// discard drops the events up to a number. It ignores numbers that no event has.
func (k *keep) discard(last uint64) {
	first := k.last - uint64(len(k.kept)) // number of the one before
	if last <= first || last > k.last {
		return
	}
	seen := k.kept[:last-first]
	for i := range seen {
		k.keptSize -= seen[i].Size()
	}
	k.kept = slices.Delete(k.kept, 0, len(seen))
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

// childEvents processes events from a child.
func (n *Node) childEvents(c *child, m *wire.Message) {
	if c.resync != 0 {
		if m.Flags&wire.Again == 0 || m.Epoch < c.resync {
			return // retransmitted, or about to be
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
		n.reportLost(m.Ranks)
	}
}

// marked records whose events a packet contains: at the root as received, elsewhere
// for the packet that passes them on.
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

// see records that the root has received the events of a server up to a number.
func (a *acks) see(s protocol.ServerID, last uint64) {
	if a.seen == nil {
		a.seen, a.fresh = make(map[protocol.ServerID]uint64), make(map[protocol.ServerID]bool)
	}
	a.seen[s] = max(a.seen[s], last)
	a.fresh[s] = true
}

// acknowledge confirms to servers what the root has received since the last call.
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

// eventsAgain forwards the retransmitted events of one server, after all pending
// ones. The root removes those that it has received already.
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

// resend starts over for a new parent, here or further up. Pending events can be
// discarded: their servers keep them and retransmit them. Requests are forgotten:
// the adopting vertex sends all outstanding ones again, after the retransmitted
// events. The first packet is sent even if it has no events, because its epoch
// tells the parent to accept events again.
func (n *Node) resend(epoch uint64) {
	n.learn(epoch)
	n.up.forget()
	for _, r := range n.requests.inOrder() {
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
		n.pauseOutput()
	}
	for _, c := range n.children {
		if c.state == childUp {
			c.resync = epoch
			n.emit(ToChild{c.id, wire.Message{Kind: wire.Resend, Epoch: epoch}})
		}
	}
}
