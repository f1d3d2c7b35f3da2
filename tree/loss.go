// Lost children.

package tree

import (
	"sdm/protocol"
	"sdm/protocol/rank"
)

// childLost gives up a child whose link is gone.
func (n *Node) childLost(id NodeID, cause string) {
	c := n.byID[id]
	if c == nil || c.state == childGone {
		return
	}
	n.lose(c, cause, protocol.KindLost)
}

// lose gives a child up. One that never was there is missing in the answer to
// Init with all behind it, and that is all that is said unasked. One that was
// there is lost, and only it: what it owes is answered as KindLost, the world is
// told, and its children are orphans.
func (n *Node) lose(c *child, cause string, ofInit protocol.Kind) {
	was := c.state == childUp || c.adopted
	c.gone(cause)
	if was && !n.quitting {
		n.orphanage(c)
		// Also if a vertex below has said it: it may be gone, and its word with it.
		n.ownEvents([]protocol.Group{{Kind: protocol.KindLost, Ranks: c.ranks, Body: c.died}})
		n.bury(rank.Of(rank.ID(server(c.id))))
	}
	for _, r := range n.inOrder() {
		if r.closed {
			continue
		}
		kind := protocol.KindLost
		if r.ofInit {
			kind = ofInit
		}
		n.answerFor(r, c, kind)
		n.settle(r)
	}
}

// orphanage makes the children of a lost child ours. They are reached when the
// root gives leave; see heal.
func (n *Node) orphanage(c *child) {
	for _, id := range n.shape.Children(c.id) {
		n.enter(&child{id: id, state: childOrphan, adopted: true, under: c.id})
	}
	c.ranks, c.servers = c.route.Ranks, rank.Of(rank.ID(server(c.id)))
}

// bury notes servers of the subtree that are lost. The root must hear of them at
// once, because their children wait.
func (n *Node) bury(servers rank.Set) {
	n.gone = n.gone.Union(servers)
	if n.id == 0 {
		n.heal(servers, n.epoch+1)
		return
	}
	n.up.gone = n.up.gone.Union(servers)
	n.up.goBy(n.now)
}
