// The end of the session, and of a vertex that has been removed from the tree.

package tree

import (
	"encoding/json"

	"sdm/protocol"
	"sdm/protocol/wire"
)

// quit forwards the end of the session. From then on events are sent without delay,
// and a child that closes its link is not reported as lost.
func (n *Node) quit(why wire.Flags) {
	if n.quitting {
		return
	}
	n.quitting = true
	n.flush()
	for _, c := range n.children {
		switch c.state {
		case childUp:
			n.emit(ToChild{c.id, wire.Message{Kind: wire.Quit, Flags: why}})
		case childDialling:
			n.emit(Disconnect{c.id, "the session has ended"})
			n.lose(c, "the session has ended", protocol.KindMissing)
		case childOrphan:
			n.lose(c, "the session has ended", protocol.KindMissing)
		}
	}
	n.hurry()
	n.emit(DeliverQuit{MasterLost: why&wire.MasterLost != 0})
}

// shutDown ends a vertex that has been removed from the tree because it was silent for
// too long. Its children have other parents, or will have.
func (n *Node) shutDown(body []byte) {
	var why protocol.Missing
	if json.Unmarshal(body, &why) != nil || why.Cause == "" {
		why.Cause = "no reason given"
	}
	for _, c := range n.children {
		if c.state == childUp || c.state == childDialling {
			n.emit(Disconnect{c.id, "this server has been given up"})
		}
		c.state = childGone
	}
	n.quitting, n.orphan = true, true
	n.emit(DeliverQuit{Cause: why.Cause})
}
