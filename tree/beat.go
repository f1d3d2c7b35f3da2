// Heartbeats: a child that says nothing is lost, and at long last a parent too.

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
	above           time.Duration // when the parent is to have been heard again
	deaf            int           // looks in a row at which it had not
}

// maxDeaf is how many times the silence of a child a parent may say nothing: so
// many that whoever stands above it has long found it dead and somebody else has
// adopted us, unless there is nobody left above.
const maxDeaf = 10

// startBeat takes the times from the routing table.
func (n *Node) startBeat(table protocol.RouteTable) {
	n.beat.period = time.Duration(table.Heartbeat) * time.Millisecond
	n.beat.silence = time.Duration(table.Silence) * time.Millisecond
	if n.beat.period > 0 && len(n.children) > 0 {
		n.beat.due = n.now + n.beat.period
	}
}

// watchAbove begins to listen for the parent, if that is a server. The master is
// watched by the kernel alone: one that stands still, because its person has pressed
// Ctrl-Z, is not lost.
func (n *Node) watchAbove() {
	if n.beat.above = never; n.keeps && n.beat.period > 0 && n.beat.silence > 0 {
		n.beat.above = n.now + n.beat.silence
	}
}

// listenAbove leaves a parent that has said nothing for too long. As with children
// not the time counts but how often we have looked: who was frozen himself has not.
func (n *Node) listenAbove() {
	n.watchAbove()
	if n.orphan || n.quitting {
		n.beat.deaf = 0
		return
	}
	if n.beat.deaf++; n.beat.deaf > maxDeaf {
		n.emit(LeaveParent{fmt.Sprintf("silent for %v", maxDeaf*n.beat.silence)})
		n.orphan, n.beat.deaf = true, 0
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
