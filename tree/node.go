// Package tree implements one vertex of the tree as a pure state machine: it
// distributes commands, merges answers, keeps deadlines and order, and replaces
// lost neighbours. It has no clock, no goroutine and no I/O.
//
//	 FromParent ──▶ ┌──────────────────────────┐ ──▶ ToParent
//	                │ requests  outstanding     │
//	  FromChild ──▶ │ upstream  to be sent up   │ ──▶ ToChild
//	Local…, Tick ─▶ │ subtree   neighbours      │ ──▶ Deliver…, Connect, Wake
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
	"sdm/tree/topology"
)

// NodeID is a vertex of the tree: 0 is the master, i+1 is server i.
type NodeID = topology.NodeID

// Node is one vertex. It is not safe for concurrent use; one loop owns it.
type Node struct {
	now   time.Duration // time of this Step
	out   []Output      // outputs of this Step
	woken time.Duration // time of the last Wake; not after now: no Wake is pending

	subtree
	orphan   bool   // there is no parent to send to
	epoch    uint64 // newest epoch that is known
	quitting bool

	initID       protocol.RequestID
	initDeadline time.Duration    // 0 is none
	ready        []protocol.Group // all answers to Init so far, sent again to a new parent

	gone    rank.Set // numbers of lost servers of the subtree
	beat    beat
	keep    // events of the vertex's own ranks that the root has not acknowledged
	acks    // at the root: what it has received
	answers answers

	requests requests
	up       upstream
}

// New returns vertex id. Init gives it its place in the tree.
func New(id NodeID) *Node {
	return &Node{
		subtree:  subtree{id: id, byID: make(map[NodeID]*child)},
		requests: requests{byID: make(map[protocol.RequestID]*request)},
		up:       upstream{holdLimits: holdLimitsOf(id, 1), by: never, change: never},
		beat:     beat{due: never, above: never},
		keep:     keep{keeps: id > 0}, // until Init decides; an Init flagged again resends what was kept
	}
}

// emit adds an output. Packets to a parent are dropped while there is none: a new
// parent requests the answers again, and resend retransmits the events.
func (n *Node) emit(o Output) {
	if _, up := o.(ToParent); up && n.orphan {
		return
	}
	n.out = append(n.out, o)
}
