// What a vertex wants done.

package tree

import (
	"time"

	"sdm/protocol"
	"sdm/protocol/rank"
	"sdm/protocol/wire"
)

// Output is one thing that a vertex wants done. What it refers to is not written
// to any more and may be kept.
type Output interface{ output() }

type (
	// ToParent is a packet for the parent; at the root, for the master.
	ToParent struct{ Msg wire.Message }
	// ToChild is a packet for a child.
	ToChild struct {
		Child NodeID
		Msg   wire.Message
	}
	// Connect asks for a link to a child; answered by Connected or
	// ConnectFailed within Wait, where 0 is no limit. Epoch is to be proved to the
	// child. Adopt: the child was there already, so that one who listens nowhere
	// is dead, and not late.
	Connect struct {
		Child NodeID
		Route protocol.Route
		Wait  time.Duration
		Epoch uint64
		Adopt bool
	}
	// Deliver is a request for ranks of this vertex. LocalReply answers it.
	Deliver struct {
		ID    protocol.RequestID
		Ranks rank.Set
		Wait  time.Duration
		Body  []byte
	}
	// DeliverInit hands the vertex its own route; LocalReady answers it. Size is
	// the number of servers in the session.
	DeliverInit struct {
		Route protocol.Route
		Size  int
	}
	// DeliverQuit tells that the session ends; with a cause: that it goes on, but
	// without us. Then the links to the children are to be closed at once.
	// Deserted: it ends because the master is lost.
	DeliverQuit struct {
		Cause    string
		Deserted bool
	}
	// Epoch tells the newest shape of the tree that is known: a parent of an older
	// one is a stranger.
	Epoch struct{ Epoch uint64 }
	// Hold tells whether the vertex keeps so much that the root has not
	// acknowledged that its own ranks had better write no more.
	Hold struct{ On bool }
	// Drop asks to close the link to a child, or to give up making it. For the
	// vertex the child is gone; nothing need be reported back.
	Drop struct {
		Child NodeID
		Cause string
	}
	// LeaveParent asks to close the link to the parent: it has been silent for so
	// long that it counts as lost, and that nobody will come in its place.
	LeaveParent struct{ Cause string }
	// Wake asks for a Tick at this time; it replaces earlier wishes; 0 cancels.
	// The Tick may find nothing due.
	Wake struct{ At time.Duration }
)

func (ToParent) output()    {}
func (ToChild) output()     {}
func (Connect) output()     {}
func (Deliver) output()     {}
func (DeliverInit) output() {}
func (DeliverQuit) output() {}
func (Epoch) output()       {}
func (Hold) output()        {}
func (Drop) output()        {}
func (LeaveParent) output() {}
func (Wake) output()        {}
