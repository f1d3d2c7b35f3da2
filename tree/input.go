// What happens to a vertex.

package tree

import (
	"sdm/protocol"
	"sdm/protocol/wire"
)

// Input is one thing that happens to a vertex. The vertex keeps what an input
// refers to; nobody may write to it afterwards.
type Input interface{ input() }

type (
	// FromParent is a packet from the parent; at the root, from the master.
	FromParent struct{ Msg wire.Message }
	// FromChild is a packet from a child.
	FromChild struct {
		Child NodeID
		Msg   wire.Message
	}
	// Connected tells that a link to a child stands and its identity is proved.
	Connected struct{ Child NodeID }
	// ConnectFailed tells that a child could not be reached; final.
	ConnectFailed struct {
		Child NodeID
		Cause string
	}
	// ChildLost tells that the link to a child is gone.
	ChildLost struct {
		Child NodeID
		Cause string
	}
	// ChildAlive tells that bytes have come from a child, though no whole packet,
	// or that the child is not being read.
	ChildAlive struct{ Child NodeID }
	// ParentLost tells that there is no parent, or a new one that has not sent its
	// Init yet. What the vertex has to say upwards is kept, or said again later.
	ParentLost struct{}
	// LocalReply are answers of ranks of this vertex's own back end. For the
	// request each rank answers exactly once.
	LocalReply struct {
		ID     protocol.RequestID
		Groups []protocol.Group
	}
	// LocalEvents are events and output of this vertex's own ranks, in order.
	LocalEvents struct{ Groups []protocol.Group }
	// LocalReady answers an Init for this vertex itself (body as its group). The
	// vertex puts its server number in; a zero kind is KindResult, no body {}.
	LocalReady struct{ Group protocol.Group }
	// Tick tells that the time of the last Wake has come.
	Tick struct{}
)

func (FromParent) input()    {}
func (FromChild) input()     {}
func (Connected) input()     {}
func (ConnectFailed) input() {}
func (ChildLost) input()     {}
func (ChildAlive) input()    {}
func (ParentLost) input()    {}
func (LocalReply) input()    {}
func (LocalEvents) input()   {}
func (LocalReady) input()    {}
func (Tick) input()          {}
