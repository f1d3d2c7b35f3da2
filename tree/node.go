// Package tree implements one vertex of the tree as a pure state machine: it
// distributes commands, merges answers, keeps deadlines and order, and replaces
// lost neighbours. It has no clock, no goroutine and no I/O.
//
//	 FromParent ──▶ ┌──────────────────────────┐ ──▶ ToParent
//	                │ request   outstanding     │
//	  FromChild ──▶ │ upstream  to be sent up   │ ──▶ ToChild
//	Local…, Tick ─▶ │ child     neighbours      │ ──▶ Deliver…, Connect, Wake
//	 …Lost ───────▶ │ keep      unacknowledged  │
//	                └──────────────────────────┘
//
// Init gives a vertex its place: its own ranks, its children and their subtrees. A
// command goes to the children that have some of its ranks and to the vertex's own
// back end. Answers are merged (package aggregate) and go up when all have arrived
// or the wait is over. Pending events and output go up before any answer, so that
// the receiver of an answer of a rank has received all earlier events of that
// rank.
//
// When a server is lost, only its own ranks are lost. Its parent adopts its
// children (heal.go). Events and answers that the lost server had received and not
// passed on are retransmitted (keep.go, answers.go).
package tree

import (
	"time"

	"sdm/protocol"
	"sdm/protocol/rank"
	"sdm/protocol/wire"
	"sdm/tree/topology"
)

// NodeID is a vertex of the tree: 0 is the master, i+1 is server i.
type NodeID = topology.NodeID

// Node is one vertex. It is not safe for concurrent use; one loop owns it.
type Node struct {
	id    NodeID
	now   time.Duration // time of this Step
	out   []Output      // outputs of this Step
	woken time.Duration // time of the last Wake; not after now: no Wake is pending

	placed   bool   // an Init has been received
	orphan   bool   // there is no parent to send to
	epoch    uint64 // newest epoch that is known
	shape    topology.Shape
	routes   []protocol.Route // of the subtree, by server
	own      rank.Set         // ranks of the vertex itself
	children []*child         // largest subtree first
	byID     map[NodeID]*child
	quitting bool

	initID       protocol.RequestID
	initDeadline time.Duration    // 0 is none
	ready        []protocol.Group // all answers to Init so far, sent again to a new parent

	gone    rank.Set // numbers of lost servers of the subtree
	beat    beat
	keep    // own events that the root has not acknowledged
	acks    // at the root: what it has received
	answers answers

	requests map[protocol.RequestID]*request
	timers   timers     // requests with a deadline, not yet overdue
	overdue  []*request // oldest first; may contain closed requests
	awaited  int        // requests that are not overdue
	up       upstream
}

// New returns vertex id. Init gives it its place in the tree.
func New(id NodeID) *Node {
	return &Node{
		id:       id,
		byID:     make(map[NodeID]*child),
		requests: make(map[protocol.RequestID]*request),
		up:       upstream{holdLimits: holdLimitsOf(id, 1), by: never, change: never},
		beat:     beat{due: never, above: never},
		keep:     keep{keeps: id > 0}, // until Init decides; an Init flagged again resends what was kept
	}
}

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

// emit adds an output. Packets to a parent are dropped while there is none: a new
// parent requests the answers again, and resend retransmits the events.
func (n *Node) emit(o Output) {
	if _, up := o.(ToParent); up && n.orphan {
		return
	}
	n.out = append(n.out, o)
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
	for len(n.timers) > 0 && n.timers[0].deadline <= n.now {
		n.partial(n.timers[0])
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
	at := min(n.up.due(), n.beat.due, n.beat.above)
	if len(n.timers) > 0 {
		at = min(at, n.timers[0].deadline)
	}
	if at != never && (n.woken <= n.now || at < n.woken) {
		n.woken = at
		n.emit(Wake{at})
	}
}
