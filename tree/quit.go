// The end of the session.

package tree

import (
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
	n.emit(DeliverQuit{MasterLost: why&wire.MasterLost != 0})
}
