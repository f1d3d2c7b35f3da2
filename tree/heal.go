// Adoption: who takes the children of a lost server, and what those then do.
//
//	lost server c        its parent p                     the root
//	                     Events: c is lost ─────────────▶
//	                     ◀──────────── Heal: leave, with a new epoch
//	child g of c ◀────── Connect, Init (again), commands that are still owed
//	   Resend to its own subtree
//	   Events (again): what the root has not acknowledged ───▶
//
// Only the root gives epochs, and only to who is still in the tree: a server that
// was frozen, given up, and comes back, gets none, so that it cannot take back
// children that others have adopted; and they refuse it, as its epoch is old.

package tree

import (
	"encoding/json"
	"time"

	"sdm/protocol"
	"sdm/protocol/rank"
	"sdm/protocol/wire"
)

// adoptWait is how long a server whose parent is lost is looked for: it listens
// already, so that this is a matter of milliseconds on a good day. A second one
// that is lost as well delays its own children by so much and nobody else.
const adoptWait = 3 * time.Second

// learn notes the newest shape of the tree.
func (n *Node) learn(epoch uint64) {
	if epoch > n.epoch {
		n.epoch = epoch
		n.emit(Epoch{epoch})
	}
}

// heal adopts the orphans of lost servers, or passes on that others may.
func (n *Node) heal(servers rank.Set, epoch uint64) {
	if n.quitting {
		return
	}
	n.learn(epoch)
	for i := 0; i < len(n.children); i++ { // grows, where an orphan is lost too
		c := n.children[i]
		switch c.state {
		case childOrphan:
			if servers.Contains(rank.ID(server(c.under))) {
				n.adopt(c)
			}
		case childUp:
			if part := servers.Intersect(c.servers); !part.IsEmpty() {
				n.emit(ToChild{c.id, wire.Message{Kind: wire.Heal, Epoch: epoch, Ranks: part}})
			}
		}
	}
}

// adopt reaches for an orphan, unless it is known to be lost. In the middle of
// the start-up it may not listen yet.
func (n *Node) adopt(c *child) {
	if n.gone.Contains(rank.ID(server(c.id))) {
		n.lose(c, "lost before", protocol.KindLost)
		return
	}
	c.state = childDialling
	out := Connect{Child: c.id, Route: c.route, Wait: adoptWait, Epoch: n.epoch, Adopt: true}
	if r := n.requests[n.initID]; r != nil && !r.overdue {
		out.Adopt = false
		if out.Wait = n.left(n.initDeadline); out.Wait > 0 {
			out.Wait = max(out.Wait, adoptWait)
		}
	}
	n.emit(out)
}

// askAgain asks an adopted child for what its ranks owe. Answers that it has
// given and that were lost on the way it gives again.
func (n *Node) askAgain(c *child) {
	for _, r := range n.inOrder() {
		part := r.replies.Owed().Intersect(c.ranks)
		if r.ofInit || part.IsEmpty() {
			continue
		}
		if !r.overdue {
			r.replies.Await(part)
		}
		n.emit(ToChild{c.id, wire.Message{
			Kind: wire.Command, ID: r.id, Flags: wire.Again, Ranks: part, Wait: n.left(r.deadline), Body: r.body,
		}})
	}
}

// adopted takes in the Init of a new parent.
func (n *Node) adopted(m *wire.Message) {
	n.orphan, n.keeps = false, m.Flags&wire.FromRoot == 0
	n.watchAbove()
	n.resend(m.Epoch)
	if r := n.requests[n.initID]; r != nil {
		n.close(r)
	}
	n.initID = m.ID
	r := n.open(m, n.asked(m, n.shape))
	r.ofInit = true
	n.initDeadline = r.deadline
	for _, g := range n.ready {
		r.replies.Add(g)
	}
	for _, c := range n.children {
		if c.state == childGone {
			n.answerFor(r, c, protocol.KindLost)
		}
	}
	n.settle(r)
}

// leave is the end of a vertex that is no part of the tree any more: it was
// silent for too long. Its children are others' by now, or will be.
func (n *Node) leave(body []byte) {
	var why protocol.Missing
	if json.Unmarshal(body, &why) != nil || why.Cause == "" {
		why.Cause = "no reason given"
	}
	for _, c := range n.children {
		if c.state == childUp || c.state == childDialling {
			n.emit(Drop{c.id, "this server has been given up"})
		}
		c.state = childGone
	}
	n.quitting, n.orphan = true, true
	n.emit(DeliverQuit{Cause: why.Cause})
}
