// Heartbeats: the vertex gives up a child that is silent, and leaves a parent that
// is silent for a longer time.

package tree

import (
	"fmt"
	"slices"
	"time"

	"sdm/protocol"
	"sdm/protocol/wire"
)

// beat is the heartbeat state of a vertex.
type beat struct {
	period, silence time.Duration // 0: never
	due             time.Duration // next heartbeat to children
	above           time.Duration // next check of the parent
	missedAbove     int           // consecutive checks at which it was silent
}

// maxMissedAbove is the number of silence periods after which a parent is regarded as
// lost. By then the vertex above the parent has given it up and another one has
// adopted this one, unless no vertex is left above.
const maxMissedAbove = 10

// start sets the periods from the routing table.
func (b *beat) start(now time.Duration, table protocol.RouteTable, hasChildren bool) {
	b.period = time.Duration(table.Heartbeat) * time.Millisecond
	b.silence = time.Duration(table.Silence) * time.Millisecond
	if b.period > 0 && hasChildren {
		b.due = now + b.period
	}
}

// watchAbove starts to monitor the parent if it is a server. The master is
// monitored by keep-alive of the transport only: a master that the user has
// suspended with Ctrl-Z is not lost.
func (b *beat) watchAbove(now time.Duration, isServer bool) {
	if b.above = never; isServer && b.period > 0 && b.silence > 0 {
		b.above = now + b.silence
	}
}

// At the end of a session a vertex waits until its children have closed their links, as long as they give
// signs of life. These are asked for more often then: quitting ends within 5 s whatever a link does. What is below a
// child that is given up is told of the end by this vertex.
const (
	quitPeriod  = 500 * time.Millisecond
	quitSilence = 2500 * time.Millisecond
	// tellWait bounds a connection to a child of such a child, and again its silence.
	tellWait = time.Second
)

// hurry sets the periods for the end of a session.
func (n *Node) hurry() {
	n.beat.period, n.beat.silence = quitPeriod, quitSilence
	n.beat.due = never
	for _, c := range n.children {
		c.missed = 0
	}
	if n.hasChild() {
		n.beat.due = n.now + quitPeriod
	}
}

// hasChild reports whether a child is connected.
func (n *Node) hasChild() bool {
	return slices.ContainsFunc(n.children, func(c *child) bool { return c.state == childUp })
}

// listenAbove leaves a parent that has been silent for too long. It counts checks
// instead of time, as heartbeat does: a vertex that was frozen has not checked.
func (n *Node) listenAbove() {
	n.beat.watchAbove(n.now, n.keeps)
	if n.orphan || n.quitting {
		n.beat.missedAbove = 0
		return
	}
	if n.beat.missedAbove++; n.beat.missedAbove > maxMissedAbove {
		n.emit(LeaveParent{fmt.Sprintf("silent for %v", maxMissedAbove*n.beat.silence)})
		n.orphan, n.beat.missedAbove = true, 0
	}
}

// tellBelow connects to the children of a silent child at the end of a session: it may not have told them. Nothing
// needs the permission of the root then. What is below a second one that is silent leaves by itself.
func (n *Node) tellBelow(c *child) {
	if c.adopted || c.table != nil {
		return
	}
	n.learn(n.epoch + 1)
	first := len(n.children)
	n.enterOrphans(c)
	for _, o := range n.children[first:] {
		o.state = childDialling
		n.emit(Connect{Child: o.id, Route: o.route, Wait: tellWait, Epoch: n.epoch, Adopt: true})
	}
}

// tell tells a child that is there now of the end.
func (n *Node) tell(c *child) {
	n.emit(ToChild{c.id, wire.Message{Kind: wire.Quit}})
	c.received, c.missed = false, int((quitSilence-tellWait)/quitPeriod)
	n.beat.due = min(n.beat.due, n.now+quitPeriod)
}

// heartbeat sends a Ping to all children and gives up those that have been silent
// for too long. Silence is counted in unanswered heartbeats, not in time: a vertex
// that was frozen itself has sent none.
func (n *Node) heartbeat() {
	if n.beat.due = never; n.quitting && !n.hasChild() {
		return
	}
	n.beat.due = n.now + n.beat.period
	for i := 0; i < len(n.children); i++ { // n.children grows if a child is lost
		c := n.children[i]
		if c.state != childUp {
			continue
		}
		if c.missed++; c.received {
			c.missed = 0
		}
		c.received = false
		if silent := time.Duration(c.missed) * n.beat.period; c.missed > 0 && silent >= n.beat.silence {
			if n.quitting {
				n.tellBelow(c)
			}
			n.disconnect(c, fmt.Sprintf("silent for %v", silent))
			continue
		}
		n.emit(ToChild{c.id, wire.Message{Kind: wire.Ping}})
	}
	n.acknowledge()
}
