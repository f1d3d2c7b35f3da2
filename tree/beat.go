// Heartbeats: a child that says nothing is lost.

package tree

import (
	"fmt"
	"time"

	"sdm/protocol"
	"sdm/protocol/wire"
)

// beat is when children are asked for a sign of life.
type beat struct {
	period, silence time.Duration // 0: never
	due             time.Duration
}

// startBeat takes the times from the routing table.
func (n *Node) startBeat(table protocol.RouteTable) {
	n.beat.period = time.Duration(table.Heartbeat) * time.Millisecond
	n.beat.silence = time.Duration(table.Silence) * time.Millisecond
	if n.beat.period > 0 && len(n.children) > 0 {
		n.beat.due = n.now + n.beat.period
	}
}

// heartbeat asks all children for a sign of life and gives up those that have not
// given one for too long. Silence is counted in heartbeats without an answer, not
// in time: a vertex that was itself frozen has asked nobody meanwhile.
func (n *Node) heartbeat() {
	if n.beat.due = never; n.quitting {
		return // who goes has said so
	}
	n.beat.due = n.now + n.beat.period
	for i := 0; i < len(n.children); i++ { // grows, where one is lost
		c := n.children[i]
		if c.state != childUp {
			continue
		}
		if c.missed++; c.heard {
			c.missed = 0
		}
		c.heard = false
		if silent := time.Duration(c.missed) * n.beat.period; c.missed > 0 && silent >= n.beat.silence {
			n.drop(c, fmt.Sprintf("silent for %v", silent))
			continue
		}
		n.emit(ToChild{c.id, wire.Message{Kind: wire.Ping}})
	}
	n.acknowledge()
}
