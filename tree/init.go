// Init: the tree is built from the root down, and its answers come back as
// groups over server numbers.

package tree

import (
	"time"

	"sdm/protocol"
	"sdm/protocol/canonical"
	"sdm/protocol/rank"
	"sdm/protocol/wire"
	"sdm/tree/topology"
)

// init takes the routing table, reaches for the children and readies the vertex
// itself. The answer is a request like any other. A vertex is placed once: the
// same Init again is not heard, another one is refused.
func (n *Node) init(m *wire.Message) {
	if n.placed && m.Flags&wire.Again != 0 {
		n.adopted(m)
		return
	}
	if n.requests[m.ID] != nil {
		return
	}
	if n.placed {
		n.refuse(m, protocol.FaultState, "this server has its place in a tree already")
		return
	}
	table, shape, err := readTable(m.Body, n.id)
	if err != nil {
		n.refuse(m, protocol.FaultUsage, err.Error())
		return
	}
	n.settleIn(table, shape)
	n.orphan, n.keeps = false, n.id > 0 && m.Flags&wire.FromRoot == 0
	n.watchAbove()
	n.learn(max(m.Epoch, 1))
	n.initID = m.ID
	r := n.open(m, n.asked(m, shape))
	r.ofInit = true
	n.initDeadline = r.deadline
	if m.Flags&wire.Again != 0 {
		n.resend(m.Epoch)
	} else {
		n.flush() // what happened before
	}
	for _, c := range n.children {
		n.emit(Connect{Child: c.id, Route: c.route, Wait: n.left(r.deadline), Epoch: n.epoch})
	}
	if n.id > 0 {
		n.emit(DeliverInit{table.Routes[0], table.Size})
	}
	if rest := r.replies.Owed().Minus(n.servers()); !rest.IsEmpty() {
		r.replies.Add(noSuch(rest, "no such server in the tree"))
	}
	n.settle(r)
}

// asked gives the servers that are to answer an Init: those named, or all.
func (n *Node) asked(m *wire.Message, shape topology.Shape) rank.Set {
	if !m.Ranks.IsEmpty() {
		return m.Ranks
	}
	return n.servers()
}

// servers gives the numbers of all servers of the subtree, the vertex included.
func (n *Node) servers() rank.Set {
	first, last := n.shape.Subtree(n.id)
	return rank.Range(rank.ID(max(0, server(first))), rank.ID(server(last)))
}

// refuse answers an Init that cannot be carried out, for all whom it asks.
func (n *Node) refuse(m *wire.Message, kind protocol.FaultKind, message string) {
	ranks := m.Ranks
	if ranks.IsEmpty() && n.id > 0 {
		ranks = rank.Of(rank.ID(server(n.id)))
	}
	n.flush()
	n.emit(ToParent{wire.Message{Kind: wire.Reply, ID: m.ID, Flags: wire.Final, Groups: []protocol.Group{{
		Kind: protocol.KindFault, Ranks: ranks,
		Body: canonical.JSON(protocol.Fault{Kind: kind, Op: "init", Message: message}),
	}}}})
}

// connected hands a child its part of the table, then what has come for it in
// the meantime. An adopted one is asked again for all that it may owe.
func (n *Node) connected(id NodeID) {
	c := n.byID[id]
	if c == nil || c.state != childDialling {
		if c == nil || c.state == childGone {
			n.emit(Drop{id, "nobody waits for it any more"})
		}
		return
	}
	c.state, c.heard = childUp, true
	n.emit(ToChild{id, n.place(c)})
	for _, h := range c.held {
		h.msg.Wait = n.left(h.deadline)
		n.emit(ToChild{id, h.msg})
	}
	c.table, c.held = nil, nil
	if c.adopted {
		n.askAgain(c)
	}
}

// place makes the Init of a child.
func (n *Node) place(c *child) wire.Message {
	m := wire.Message{
		Kind: wire.Init, ID: n.initID, Ranks: c.servers, Epoch: n.epoch, Wait: n.left(n.initDeadline),
		Body: canonical.JSON(protocol.RouteTable{
			Shape: n.shape.String(), Size: n.shape.Size(), Routes: c.table,
			Heartbeat: int(n.beat.period / time.Millisecond), Silence: int(n.beat.silence / time.Millisecond),
		}),
	}
	if n.id == 0 {
		m.Flags |= wire.FromRoot
	}
	if c.adopted { // it may have to build its subtree yet
		if m.Wait > 0 {
			m.Wait = max(m.Wait, adoptWait)
		}
		m.Flags |= wire.Again
		c.resync = n.epoch
	}
	return m
}

// connectFailed reports the whole subtree of a child as missing; one that could
// not be adopted is lost, and only it.
func (n *Node) connectFailed(id NodeID, cause string) {
	c := n.byID[id]
	switch {
	case c == nil || c.state != childDialling:
	case c.adopted:
		n.lose(c, "cannot be adopted: "+cause, protocol.KindLost)
	default:
		n.lose(c, cause, protocol.KindMissing)
	}
}

// localReady takes in the vertex's own answer to Init.
func (n *Node) localReady(g protocol.Group) {
	if !n.placed || n.id == 0 {
		return
	}
	if g.Kind == 0 {
		g.Kind = protocol.KindResult
	}
	if g.Body == nil {
		g.Body = []byte("{}")
	}
	g.Ranks = rank.Of(rank.ID(server(n.id)))
	n.ready = append(n.ready, g)
	if r := n.requests[n.initID]; r != nil {
		r.replies.Add(g)
		n.settle(r)
	}
}
