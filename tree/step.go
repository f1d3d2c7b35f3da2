// What a vertex does with each input.

package tree

import (
	"time"

	"sdm/protocol/wire"
)

// Step processes one input at time now, measured from any fixed moment, and returns
// the outputs, in order. The slice is valid until the next Step; what its elements
// refer to stays valid. Times must not decrease.
func (n *Node) Step(now time.Duration, in Input) []Output {
	n.now = now
	clear(n.out)
	n.out = n.out[:0]
	switch in := in.(type) {
	case FromParent:
		n.fromParent(&in.Msg)
	case FromChild:
		n.fromChild(in.Child, &in.Msg)
	case Connected:
		n.connected(in.Child)
	case ConnectFailed:
		n.connectFailed(in.Child, in.Cause)
	case ChildLost:
		n.childLost(in.Child, in.Cause)
	case LocalReply:
		n.localReply(in.ID, in.Groups)
	case ChildAlive:
		if c := n.byID[in.Child]; c != nil {
			c.received = true
		}
	case ParentLost:
		n.orphan = n.placed && n.id > 0
	case LocalEvents:
		n.ownEvents(in.Groups)
	case LocalReady:
		n.localReady(in.Group)
	case Tick:
		n.woken = 0
	}
	n.expire()
	n.scheduleWake()
	return n.out
}

// fromParent processes a packet from the parent. It ignores unknown kinds: they
// come from a newer build that the handshake has accepted.
func (n *Node) fromParent(m *wire.Message) {
	n.beat.missedAbove = 0
	switch m.Kind {
	case wire.Init:
		n.init(m)
	case wire.Command:
		n.command(m)
	case wire.Quit:
		n.quit(m.Flags & wire.MasterLost)
	case wire.Heal:
		n.heal(m.Ranks, m.Epoch)
	case wire.Resend:
		n.resend(m.Epoch)
	case wire.Ack:
		n.ack(m.Marks)
	case wire.GivenUp:
		n.shutDown(m.Body)
	case wire.Ping:
		n.emit(ToParent{wire.Message{Kind: wire.Pong, ID: m.ID}})
	}
}

// fromChild processes a packet from a child. Packets of a lost child are ignored:
// the vertex has answered for its ranks already.
func (n *Node) fromChild(id NodeID, m *wire.Message) {
	c := n.byID[id]
	if c == nil || c.state != childUp {
		return
	}
	c.received = true
	switch m.Kind {
	case wire.Reply:
		if c.resync == 0 || m.ID == n.initID { // else the command is sent again
			n.childReply(c, m)
		}
	case wire.Events:
		n.childEvents(c, m)
	case wire.Ping:
		n.emit(ToChild{id, wire.Message{Kind: wire.Pong, ID: m.ID}})
	case wire.Hello, wire.Welcome, wire.Init, wire.Command, wire.Quit,
		wire.Heal, wire.Resend, wire.Ack, wire.GivenUp:
		n.disconnect(c, "it sent "+m.Kind.String()+", which only a parent may")
	}
}

// expire handles all deadlines that have passed.
func (n *Node) expire() {
	for n.requests.due() <= n.now {
		n.partial(n.requests.timers[0])
	}
	if n.beat.due <= n.now {
		n.heartbeat()
	}
	if n.beat.above <= n.now {
		n.listenAbove()
	}
	if n.up.due() <= n.now {
		n.flush()
	}
}

// scheduleWake requests a Wake for the next deadline, unless an earlier Wake is pending. A
// Wake that has become too early is not replaced: its Tick requests the right one.
// This saves setting the timer twice for each request that is answered in time.
func (n *Node) scheduleWake() {
	at := min(n.up.due(), n.beat.due, n.beat.above, n.requests.due())
	if at != never && (n.woken <= n.now || at < n.woken) {
		n.woken = at
		n.emit(Wake{at})
	}
}
