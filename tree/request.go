// Requests: what was asked, who owes an answer, and until when.

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

// request is a command, or an Init, that has not been answered in full.
//
//	open ──all answered──▶ Final ▶ forgotten
//	  └──wait over──▶ Partial ▶ overdue ──each answer──▶ Late … Late Final ▶ forgotten
type request struct {
	id       protocol.RequestID
	ofInit   bool // the ranks are server numbers
	overdue  bool // the partial answer has gone up
	closed   bool // forgotten
	wait     time.Duration
	deadline time.Duration // 0 is none
	timer    int           // place in timers
	body     []byte        // to send it again
	replies  aggregate.Replies
}

// maxOverdue bounds the requests that are kept only for late answers. Beyond it
// the oldest is given up: its late answers, if ever they come, are not heard.
const maxOverdue = 1024

// open makes a request known.
func (n *Node) open(m *wire.Message, ranks rank.Set) *request {
	r := &request{id: m.ID, wait: m.Wait, timer: noTimer, body: m.Body}
	if end := n.now + m.Wait; end > n.now { // beyond the end of time is no limit
		r.deadline = end
		n.timers.arm(r)
	}
	r.replies.Expect(ranks)
	n.requests[m.ID] = r
	n.awaited++
	return r
}

// command sends a request to whom it asks: the children, largest subtree first,
// then the vertex's own ranks. Ranks that are nowhere, or behind a child that is
// gone, are answered for at once. A request that is known already is under way.
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
		n.disown(r)
	}
	n.settle(r)
}

// deliver gives a request to the vertex's own back end, unless it has had it.
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

// disown answers for ranks that no vertex of the subtree holds.
func (n *Node) disown(r *request) {
	ranks := r.replies.Owed().Minus(n.own)
	for _, c := range n.children {
		ranks = ranks.Minus(c.ranks)
	}
	r.replies.Add(noSuch(ranks, "no such rank in the tree"))
}

// childReply takes in answers from below. Partial excuses what is late there;
// what is still owed after Final will never come.
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
	n.settle(r)
}

// giveUp ends the waiting for ranks that a child has said it will never answer
// for: it has forgotten the request.
func (n *Node) giveUp(r *request, c *child) {
	owed := r.replies.Owed().Intersect(r.below(c))
	switch {
	case owed.IsEmpty():
	case r.overdue: // said to be missing already
		r.replies.Release(owed)
	default:
		body := canonical.JSON(protocol.Missing{Cause: "no answer", Host: c.route.Host})
		r.replies.Add(protocol.Group{Kind: protocol.KindMissing, Ranks: owed, Body: body})
	}
}

// localReply takes in answers of the vertex's own back end.
func (n *Node) localReply(id protocol.RequestID, groups []protocol.Group) {
	r := n.requests[id]
	for _, g := range groups {
		n.answers.add(id, g)
		if r != nil {
			r.replies.Add(g)
		}
	}
	if r != nil {
		n.settle(r)
	}
}

// below gives what a child answers for, in the numbers of the request.
func (r *request) below(c *child) rank.Set {
	if r.ofInit {
		return c.servers
	}
	return c.ranks
}

// settle sends up what a request has to say by now, if anything.
func (n *Node) settle(r *request) {
	switch {
	case r.replies.Complete():
		n.finish(r)
	case r.overdue:
		n.reply(r, r.replies.Take(), 0)
	case !r.replies.Waiting():
		n.partial(r)
	}
}

// finish sends the last answer and forgets the request.
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
		n.calm()
	}
	delete(n.requests, r.id)
}

// partial sends what there is: the wait is over, or only those are awaited of
// whom somebody below has said that they are late. The root says who they are.
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

// remember keeps an overdue request, within bounds.
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

// lowestOpen is the lowest number of requests of the series of id that are not over.
func (n *Node) lowestOpen(id protocol.RequestID) protocol.RequestID {
	for other, r := range n.requests {
		if !r.ofInit && series(other) == series(id) {
			id = min(id, other)
		}
	}
	return id
}

// inOrder gives all requests, the oldest number first: no order of a map shows.
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
