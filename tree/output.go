// Outputs of a vertex.

package tree

import (
	"time"

	"sdm/protocol"
	"sdm/protocol/rank"
	"sdm/protocol/wire"
)

// Output is one action that a vertex requests. What it refers to is not modified
// any more and may be kept.
type Output interface{ output() }

type (
	// ToParent is a packet for the parent; at the root, for the master.
	ToParent struct{ Msg wire.Message }
	// ToChild is a packet for a child.
	ToChild struct {
		Child NodeID
		Msg   wire.Message
	}
	// Connect requests a link to a child. Connected or ConnectFailed answers it
	// within Wait, where 0 is no limit. Epoch is proved to the child. Adopt: the
	// child has listened before, so a refused connection means that it has ended,
	// not that it is late.
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
	// DeliverInit contains the vertex's own route; LocalReady answers it. Size is
	// the number of servers in the session.
	DeliverInit struct {
		Route protocol.Route
		Size  int
	}
	// DeliverQuit reports that the session ends. With a cause, the session
	// continues without this vertex, and the links to children must be closed at
	// once. MasterLost: the session ends because the master is lost.
	DeliverQuit struct {
		Cause      string
		MasterLost bool
	}
	// Epoch reports the newest epoch that the vertex knows. A parent of an older
	// epoch must be refused.
	Epoch struct{ Epoch uint64 }
	// PauseOutput pauses or resumes the output of the vertex's own ranks: too many of
	// their events are unacknowledged.
	PauseOutput struct{ On bool }
	// Disconnect requests that the link to a child is closed, or that dialling it is
	// given up. The vertex regards the child as gone and needs no report.
	Disconnect struct {
		Child NodeID
		Cause string
	}
	// LeaveParent requests that the link to the parent is closed: it has been
	// silent for so long that it is regarded as lost, and no other parent will
	// come.
	LeaveParent struct{ Cause string }
	// Wake requests a Tick at this time. It replaces the earlier Wake; 0 cancels. A
	// Tick may find nothing due.
	Wake struct{ At time.Duration }
)

func (ToParent) output()    {}
func (ToChild) output()     {}
func (Connect) output()     {}
func (Deliver) output()     {}
func (DeliverInit) output() {}
func (DeliverQuit) output() {}
func (Epoch) output()       {}
func (PauseOutput) output() {}
func (Disconnect) output()  {}
func (LeaveParent) output() {}
func (Wake) output()        {}
