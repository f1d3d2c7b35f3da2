// Init: the tree is built from the root down. Answers are groups over server
// numbers.

package tree

import (
	"time"

	"sdm/protocol"
	"sdm/protocol/canonical"
	"sdm/protocol/rank"
	"sdm/protocol/wire"
)

// init processes the routing table: it connects to the children and initializes the
// vertex itself. An Init is answered like any other request. A vertex gets one
// place: a repetition of the same Init is ignored, a different one is refused.
func (n *Node) init(m *wire.Message) {
	if n.placed && m.Flags&wire.Again != 0 {
		n.adopted(m)
		return
	}
	if n.requests.byID[m.ID] != nil {
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
	n.up.holdLimits = holdLimitsOf(n.id, shape.Height(0)+1)
	n.beat.start(n.now, table, len(n.children) > 0)
	n.orphan, n.keeps = false, n.id > 0 && m.Flags&wire.FromRoot == 0
	n.beat.watchAbove(n.now, n.keeps)
	n.learn(max(m.Epoch, 1))
	n.initID = m.ID
	r := n.requests.open(n.now, m, n.askedServers(m))
	r.ofInit = true
	n.initDeadline = r.deadline
	if m.Flags&wire.Again != 0 {
		n.resend(m.Epoch)
	} else {
		n.flush() // events from before Init
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
	n.sendReady(r)
}

// refuse answers an Init with a fault, on behalf of all that it addresses.
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

// connected sends a child its part of the table and the commands that have been
// waiting. An adopted child is also sent all requests whose answers it may owe.
func (n *Node) connected(id NodeID) {
	c := n.byID[id]
	if c == nil || c.state != childDialling {
		if c == nil || c.state == childGone {
			n.emit(Disconnect{id, "its parent no longer waits"})
		}
		return
	}
	c.state, c.received = childUp, true
	if n.quitting {
		n.tell(c)
		return
	}
	n.emit(ToChild{id, n.initFor(c)})
	for _, h := range c.pending {
		h.msg.Wait = n.left(h.deadline)
		n.emit(ToChild{id, h.msg})
	}
	c.table, c.pending = nil, nil
	if c.adopted {
		n.askAgain(c)
	}
}

// initFor returns the Init for a child: its part of the routing table.
func (n *Node) initFor(c *child) wire.Message {
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
	if c.adopted { // it may not have built its subtree yet
		if m.Wait > 0 {
			m.Wait = max(m.Wait, adoptWait)
		}
		m.Flags |= wire.Again
		c.resync = n.epoch
	}
	return m
}

// connectFailed reports the whole subtree of a child as missing. If the child was
// to be adopted, only that child is lost.
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

// localReady processes the vertex's own answer to Init.
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
	if r := n.requests.byID[n.initID]; r != nil {
		r.replies.Add(g)
		n.sendReady(r)
	}
}
