// Adoption of the children of a lost server.
//
//	lost server c        its parent p                     the root
//	                     Events: c is lost ─────────────▶
//	                     ◀───── Heal: permission, with a new epoch
//	child g of c ◀────── Connect, Init (again), outstanding commands
//	   Resend to its own subtree
//	   Events (again): unacknowledged events ────────────────▶
//
// Only the root assigns epochs, and only to vertices that are in the tree. A server
// that was frozen, given up, and continues later gets none. It cannot take back
// children that others have adopted: they refuse it because its epoch is old.

package tree

import (
	"time"

	"sdm/protocol"
	"sdm/protocol/rank"
	"sdm/protocol/wire"
)

// adoptWait is the time limit for connecting to an orphan. An orphan listens
// already, so this normally takes milliseconds. An orphan that is lost, too, delays
// its own children by this time and no other vertex.
const adoptWait = 3 * time.Second

// learn records a newer epoch.
func (n *Node) learn(epoch uint64) {
	if epoch > n.epoch {
		n.epoch = epoch
		n.emit(Epoch{epoch})
	}
}

// heal adopts the orphans of lost servers and forwards the permission to children.
func (n *Node) heal(servers rank.Set, epoch uint64) {
	if n.quitting {
		return
	}
	n.learn(epoch)
	for i := 0; i < len(n.children); i++ { // n.children grows if an orphan is lost, too
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

// adopt connects to an orphan, unless it is known to be lost. While the tree is
// being built the orphan may not listen yet.
func (n *Node) adopt(c *child) {
	if n.gone.Contains(rank.ID(server(c.id))) {
		n.lose(c, "lost before", protocol.KindLost)
		return
	}
	c.state = childDialling
	out := Connect{Child: c.id, Route: c.route, Wait: adoptWait, Epoch: n.epoch, Adopt: true}
	if r := n.requests.byID[n.initID]; r != nil && !r.overdue {
		out.Adopt = false
		if out.Wait = n.left(n.initDeadline); out.Wait > 0 {
			out.Wait = max(out.Wait, adoptWait)
		}
	}
	n.emit(out)
}

// askAgain sends an adopted child the outstanding requests of its ranks. The child
// repeats answers that it has given already, because they may have been lost on the
// way.
func (n *Node) askAgain(c *child) {
	for _, r := range n.requests.inOrder() {
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

// adopted processes the Init of a new parent.
func (n *Node) adopted(m *wire.Message) {
	n.orphan, n.keeps = false, m.Flags&wire.FromRoot == 0
	n.beat.watchAbove(n.now, n.keeps)
	n.resend(m.Epoch)
	if r := n.requests.byID[n.initID]; r != nil {
		n.close(r)
	}
	n.initID = m.ID
	r := n.requests.open(n.now, m, n.askedServers(m))
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
	n.sendReady(r)
}
