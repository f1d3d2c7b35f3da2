// Package tree is one vertex of the tree as a pure machine: fan out, fan in,
// waits, order, lost neighbours. No clock, no goroutine, no I/O.
//
//	 FromParent ──▶ ┌──────────────────────────┐ ──▶ ToParent
//	                │ request   who owes what   │
//	  FromChild ──▶ │ upstream  what waits      │ ──▶ ToChild
//	Local…, Tick ─▶ │ child     who is there    │ ──▶ Deliver…, Connect, Wake
//	 …Lost ───────▶ │ keep      what may be lost│
//	                └──────────────────────────┘
//
// Init gives a vertex its place: its own ranks, its children and theirs. A
// command goes to the children that have some of its ranks and to the vertex's
// own back end; the answers are folded (package aggregate) and go up when all
// are there or the wait is over. Before an answer goes up, everything that ranks
// did unasked goes, so that whoever has seen an answer has seen what came before.
//
// A server that is lost takes its own ranks with it and nothing else: its parent
// adopts its children (heal.go), what it had taken in and not passed on is asked
// for and sent again (keep.go, answers.go).
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

// Node is one vertex. It is not safe for concurrent use: one loop owns it.
type Node struct {
	id    NodeID
	now   time.Duration // of this Step
	out   []Output      // of this Step
	woken time.Duration // the last Wake; when its time has passed there is none

	placed   bool   // an Init has told the place
	orphan   bool   // there is no parent that would hear us
	epoch    uint64 // newest shape of the tree that is known
	shape    topology.Shape
	routes   []protocol.Route // of the subtree, by server
	own      rank.Set         // ranks of the vertex itself
	children []*child         // largest subtree first
	byID     map[NodeID]*child
	quitting bool

	initID       protocol.RequestID
	initDeadline time.Duration    // 0 is none
	ready        []protocol.Group // all answers to Init so far

	gone    rank.Set // numbers of servers of the subtree that are lost
	beat    beat
	keep    // what the root has not acknowledged
	acks    // of the root: what it has seen
	answers answers

	requests map[protocol.RequestID]*request
	timers   timers     // requests with a deadline, not yet overdue
	overdue  []*request // oldest first; some may have been closed since
	awaited  int        // requests that are not overdue
	up       upstream
}

// New makes vertex id. Its place in the tree comes with Init.
func New(id NodeID) *Node {
	return &Node{
		id:       id,
		byID:     make(map[NodeID]*child),
		requests: make(map[protocol.RequestID]*request),
		up:       upstream{patience: patienceOf(id, 1), by: never, change: never},
		beat:     beat{due: never, above: never},
		keep:     keep{keeps: id > 0}, // until Init tells: an adopted vertex begins anew with it
	}
}

// Step takes in one thing that happened at time now (since any fixed moment)
// and returns what is to be done, in order. The slice is valid until the next
// Step, what is in it for good. Times must not go backwards.
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
			c.heard = true
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
	n.wish()
	return n.out
}

// emit says what is to be done. Without a parent there is no way up: answers are
// asked for again, events sent again, when there is one.
func (n *Node) emit(o Output) {
	if _, up := o.(ToParent); up && n.orphan {
		return
	}
	n.out = append(n.out, o)
}

// fromParent takes in a packet from above. Kinds that are not known are skipped:
// they come from a newer build that the hello has found fit.
func (n *Node) fromParent(m *wire.Message) {
	n.beat.deaf = 0
	switch m.Kind {
	case wire.Init:
		n.init(m)
	case wire.Command:
		n.command(m)
	case wire.Quit:
		n.quit(m.Flags & wire.Deserted)
	case wire.Heal:
		n.heal(m.Ranks, m.Epoch)
	case wire.Resend:
		n.resend(m.Epoch)
	case wire.Ack:
		n.ack(m.Marks)
	case wire.GivenUp:
		n.leave(m.Body)
	case wire.Ping:
		n.emit(ToParent{wire.Message{Kind: wire.Pong, ID: m.ID}})
	}
}

// fromChild takes in a packet from below. What a child that is gone had still to
// say is not heard: its ranks have been answered for.
func (n *Node) fromChild(id NodeID, m *wire.Message) {
	c := n.byID[id]
	if c == nil || c.state != childUp {
		return
	}
	c.heard = true
	switch m.Kind {
	case wire.Reply:
		if c.resync == 0 || m.ID == n.initID { // else it is asked for again
			n.childReply(c, m)
		}
	case wire.Events:
		n.childEvents(c, m)
	case wire.Ping:
		n.emit(ToChild{id, wire.Message{Kind: wire.Pong, ID: m.ID}})
	case wire.Hello, wire.Welcome, wire.Init, wire.Command, wire.Quit,
		wire.Heal, wire.Resend, wire.Ack, wire.GivenUp:
		n.drop(c, "it sent "+m.Kind.String()+", which only a parent may")
	}
}

// expire does what is due by now.
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

// wish asks to be woken when something is due, unless a Tick comes by then anyway.
// A Wake that has become too early stands: the Tick asks for the right one. That
// spares two settings of a timer for every request that is answered in time.
func (n *Node) wish() {
	at := min(n.up.due(), n.beat.due, n.beat.above)
	if len(n.timers) > 0 {
		at = min(at, n.timers[0].deadline)
	}
	if at != never && (n.woken <= n.now || at < n.woken) {
		n.woken = at
		n.emit(Wake{at})
	}
}
