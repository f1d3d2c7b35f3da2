// Lost children.

package tree

import (
	"fmt"

	"sdm/protocol"
	"sdm/protocol/canonical"
	"sdm/protocol/rank"
	"sdm/protocol/wire"
)

// childLost processes the loss of the link to a child.
func (n *Node) childLost(id NodeID, cause string) {
	c := n.byID[id]
	if c == nil || c.state == childGone {
		return
	}
	if n.quitting { // it has ended
		c.markLost(cause)
		return
	}
	n.lose(c, cause, protocol.KindLost)
}

// lose marks a child as lost. A child that was never connected is reported as
// missing in the answer to Init, with its subtree; there is no event. If it was
// connected, only the child itself is lost: outstanding requests are answered with
// KindLost, an event reports the loss, and its children become orphans.
func (n *Node) lose(c *child, cause string, ofInit protocol.Kind) {
	was := c.state == childUp || c.adopted
	c.markLost(cause)
	if was && !n.quitting {
		n.enterOrphans(c)
		// This is repeated even if a vertex below has reported it: that vertex may
		// be lost, and its report with it.
		n.ownEvents([]protocol.Group{{Kind: protocol.KindLost, Ranks: c.ranks, Body: c.died}})
		n.reportLost(rank.Of(rank.ID(server(c.id))))
	}
	for _, r := range n.requests.inOrder() {
		if r.closed {
			continue
		}
		kind := protocol.KindLost
		if r.ofInit {
			kind = ofInit
		}
		n.answerFor(r, c, kind)
		n.sendReady(r)
	}
}

// enterOrphans enters the children of a lost child as children of this vertex. The
// vertex connects to them when the root permits it; see heal.
func (n *Node) enterOrphans(c *child) {
	for _, id := range n.shape.Children(c.id) {
		n.enter(&child{id: id, state: childOrphan, adopted: true, under: c.id})
	}
	c.ranks, c.servers = c.route.Ranks, rank.Of(rank.ID(server(c.id)))
}

// reportLost records lost servers of the subtree. The report to the root is sent at once,
// because the orphans wait for the root's permission to be adopted.
func (n *Node) reportLost(servers rank.Set) {
	n.gone = n.gone.Union(servers)
	if n.id == 0 {
		n.heal(servers, n.epoch+1)
		return
	}
	n.up.gone = n.up.gone.Union(servers)
	n.up.sendBy(n.now)
}

// disconnect disconnects a child that violates the protocol or is silent.
func (n *Node) disconnect(c *child, cause string) {
	n.emit(ToChild{c.id, wire.Message{Kind: wire.GivenUp, Body: canonical.JSON(protocol.Missing{Cause: cause})}})
	n.emit(Disconnect{c.id, cause})
	n.lose(c, fmt.Sprintf("given up: %s", cause), protocol.KindLost)
}
