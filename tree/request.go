// Commands and their answers.

package tree

import (
	"sdm/protocol"
	"sdm/protocol/canonical"
	"sdm/protocol/rank"
	"sdm/protocol/wire"
	"sdm/tree/aggregate"
)

// command distributes a request: to the children, largest subtree first, then to
// the vertex's own ranks. It answers at once for ranks that do not exist or are
// below a lost child. A request that is known already is ignored.
func (n *Node) command(m *wire.Message) {
	if n.requests.byID[m.ID] != nil {
		return
	}
	r := n.requests.open(n.now, m, m.Ranks)
	settled := m.Settled
	if n.id == 0 {
		settled = n.requests.lowestOpen(m.ID)
	}
	n.answers.settled(settled)
	rest := m.Ranks.Len()
	for _, c := range n.children {
		part := m.Ranks.Intersect(c.ranks)
		if part.IsEmpty() {
			continue
		}
		rest -= part.Len()
		if c.state == childGone {
			n.answerFor(r, c, protocol.KindLost)
			continue
		}
		n.send(c, r, wire.Message{Kind: wire.Command, ID: m.ID, Ranks: part, Body: m.Body, Flags: m.Flags, Settled: settled})
	}
	if part := m.Ranks.Intersect(n.own); !part.IsEmpty() {
		rest -= part.Len()
		n.deliver(r, part, m.Flags&wire.Again != 0)
	}
	if rest > 0 {
		n.rejectUnknown(r)
	}
	n.sendReady(r)
}

// deliver passes a request to the vertex's own back end. If the back end has
// received it before, deliver repeats the stored answers instead.
func (n *Node) deliver(r *request, part rank.Set, again bool) {
	if again && n.answers.knows(r.id) {
		for _, g := range n.answers.again(r.id, part) {
			r.replies.Add(g)
		}
		return
	}
	if n.keeps {
		n.answers.open(r.id, part)
	}
	n.emit(Deliver{r.id, part, n.left(r.deadline), r.body})
}

// rejectUnknown answers for ranks that no vertex of the subtree has.
func (n *Node) rejectUnknown(r *request) {
	ranks := r.replies.Owed().Minus(n.own)
	for _, c := range n.children {
		ranks = ranks.Minus(c.ranks)
	}
	r.replies.Add(noSuch(ranks, "no such rank in the tree"))
}

// childReply processes answers of a child. A partial reply excuses the ranks that
// are still owed. Those owed after a final reply will never be answered.
func (n *Node) childReply(c *child, m *wire.Message) {
	if m.ID == n.initID {
		n.ready = append(n.ready, m.Groups...)
	}
	r := n.requests.byID[m.ID]
	if r == nil {
		return
	}
	for _, g := range m.Groups {
		r.replies.Add(g)
	}
	switch {
	case m.Flags&wire.Final != 0:
		n.giveUp(r, c)
	case m.Flags&wire.Partial != 0:
		r.replies.Excuse(r.below(c))
	}
	n.sendReady(r)
}

// giveUp stops waiting for ranks below a child that has forgotten the request.
func (n *Node) giveUp(r *request, c *child) {
	owed := r.replies.Owed().Intersect(r.below(c))
	switch {
	case owed.IsEmpty():
	case r.overdue: // reported as missing already
		r.replies.Release(owed)
	default:
		body := canonical.JSON(protocol.Missing{Cause: protocol.NoAnswer(0), Host: c.route.Host})
		r.replies.Add(protocol.Group{Kind: protocol.KindMissing, Ranks: owed, Body: body})
	}
}

// localReply processes answers of the vertex's own back end.
func (n *Node) localReply(id protocol.RequestID, groups []protocol.Group) {
	r := n.requests.byID[id]
	for _, g := range groups {
		n.answers.add(id, g)
		if r != nil {
			r.replies.Add(g)
		}
	}
	if r != nil {
		n.sendReady(r)
	}
}

// sendReady sends the reply of a request if one is due.
func (n *Node) sendReady(r *request) {
	switch {
	case r.replies.Complete():
		n.finish(r)
	case r.overdue:
		n.reply(r, r.replies.Take(), 0)
	case !r.replies.Waiting():
		n.partial(r)
	}
}

// finish sends the final reply and forgets the request.
func (n *Node) finish(r *request) {
	n.reply(r, r.replies.Take(), wire.Final)
	n.close(r)
}

// close forgets a request.
func (n *Node) close(r *request) {
	n.requests.close(r)
	if !r.overdue {
		n.up.resetStops(n.now, n.requests.awaited)
	}
}

// partial sends the answers received so far. It is called at the deadline, or when
// only excused ranks are owed. The root adds a group that names the missing ranks.
func (n *Node) partial(r *request) {
	groups := r.replies.Take()
	if n.id == 0 {
		groups = append(groups, n.silent(r)...)
		aggregate.Sort(groups)
	}
	n.reply(r, groups, wire.Partial)
	if oldest := n.requests.postpone(r); oldest != nil {
		n.finish(oldest)
	}
}
