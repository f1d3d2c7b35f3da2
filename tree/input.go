// Inputs of a vertex.

package tree

import (
	"sdm/protocol"
	"sdm/protocol/wire"
)

// Input is one event that a vertex processes. The vertex keeps what an input refers
// to; the caller must not modify it afterwards.
type Input interface{ input() }

type (
	// FromParent is a packet from the parent; at the root, from the master.
	FromParent struct{ Msg wire.Message }
	// FromChild is a packet from a child.
	FromChild struct {
		Child NodeID
		Msg   wire.Message
	}
	// Connected reports that the link to a child is up and the child is
	// authenticated.
	Connected struct{ Child NodeID }
	// ConnectFailed reports that a child could not be reached. It is final.
	ConnectFailed struct {
		Child NodeID
		Cause string
	}
	// ChildLost reports that the link to a child is gone.
	ChildLost struct {
		Child NodeID
		Cause string
	}
	// ChildAlive reports that bytes, though no whole packet, have come from a
	// child, or that the loop has stopped reading from it. It counts as a sign of
	// life.
	ChildAlive struct{ Child NodeID }
	// ParentLost reports that there is no parent, or a new one that has not sent
	// its Init yet. Events are kept; answers are requested again by the new parent.
	ParentLost struct{}
	// LocalReply contains answers of the vertex's own back end. Each rank answers a
	// request exactly once.
	LocalReply struct {
		ID     protocol.RequestID
		Groups []protocol.Group
	}
	// LocalEvents contains events and output of the vertex's own ranks, in order.
	LocalEvents struct{ Groups []protocol.Group }
	// LocalReady is the vertex's own answer to Init. Group needs a Body at most:
	// the vertex sets Ranks to its server number, and the defaults are KindResult
	// and {}.
	LocalReady struct{ Group protocol.Group }
	// Tick reports that the time of the last Wake has come.
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
