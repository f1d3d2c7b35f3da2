// Requests: whose answers are outstanding, and until when.

package tree

import (
	"slices"
	"time"

	"sdm/protocol"
	"sdm/protocol/canonical"
	"sdm/protocol/rank"
	"sdm/protocol/wire"
	"sdm/tree/aggregate"
)

// request is a command or an Init that has not been answered in full.
//
//	open ──all answered──▶ Final ▶ forgotten
//	  └──wait over──▶ Partial ▶ overdue ──each answer──▶ Late … Late Final ▶ forgotten
type request struct {
	id       protocol.RequestID
	ofInit   bool // the ranks are server numbers
	overdue  bool // the partial reply has been sent
	closed   bool // forgotten; may still be in Node.overdue
	wait     time.Duration
	deadline time.Duration // 0 is none
	timer    int           // index in timers, or noTimer
	body     []byte        // for sending it again to an adopted child
	replies  aggregate.Replies
}

// maxOverdue bounds the requests that are kept only for late answers. When it is
// exceeded, the oldest is finished and its late answers are ignored.
const maxOverdue = 1024

// open enters a request.
func (n *Node) open(m *wire.Message, ranks rank.Set) *request {
	r := &request{id: m.ID, wait: m.Wait, timer: noTimer, body: m.Body}
	if end := n.now + m.Wait; end > n.now { // not set if Wait is 0 or the sum overflows
		r.deadline = end
		n.timers.arm(r)
	}
	r.replies.Expect(ranks)
	n.requests[m.ID] = r
	n.awaited++
	return r
}

// command distributes a request: to the children, largest subtree first, then to
// the vertex's own ranks. It answers at once for ranks that do not exist or are
// below a lost child. A request that is known already is ignored.
func (n *Node) command(m *wire.Message) {
	if n.requests[m.ID] != nil {
		return
	}
	r := n.open(m, m.Ranks)
	settled := m.Settled
	if n.id == 0 {
		settled = n.lowestOpen(m.ID)
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
	r := n.requests[m.ID]
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
	r := n.requests[id]
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

// below returns what a child answers for: server numbers for an Init, else ranks.
func (r *request) below(c *child) rank.Set {
	if r.ofInit {
		return c.servers
	}
	return c.ranks
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
	r.closed = true
	n.timers.disarm(r)
	if !r.overdue {
		n.awaited--
		n.resetStops()
	}
	delete(n.requests, r.id)
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
	n.timers.disarm(r)
	r.overdue = true
	n.awaited--
	n.remember(r)
}

// remember keeps an overdue request, up to maxOverdue of them.
func (n *Node) remember(r *request) {
	if len(n.overdue) >= maxOverdue {
		n.overdue = slices.DeleteFunc(n.overdue, func(r *request) bool { return r.closed })
	}
	if len(n.overdue) >= maxOverdue {
		n.finish(n.overdue[0])
		n.overdue = slices.Delete(n.overdue, 0, 1)
	}
	n.overdue = append(n.overdue, r)
}

// lowestOpen returns the lowest number of the open requests in the series of id.
func (n *Node) lowestOpen(id protocol.RequestID) protocol.RequestID {
	for other, r := range n.requests {
		if !r.ofInit && series(other) == series(id) {
			id = min(id, other)
		}
	}
	return id
}

// inOrder returns all requests by ascending number, so that the order of the map
// does not influence the outputs.
func (n *Node) inOrder() []*request {
	list := make([]*request, 0, len(n.requests))
	for _, r := range n.requests {
		list = append(list, r)
	}
	slices.SortFunc(list, func(a, b *request) int {
		if a.id < b.id {
			return -1
		}
		return 1
	})
	return list
}
