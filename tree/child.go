// Neighbours below.

package tree

import (
	"fmt"
	"time"

	"sdm/protocol"
	"sdm/protocol/canonical"
	"sdm/protocol/rank"
	"sdm/protocol/wire"
)

// childState is how far the link to a child has come. It only goes forward.
//
//	orphan ──leave to adopt──▶ dialling ──Connected──▶ up
//	   └────────────┴───────────ConnectFailed──┴──ChildLost, Drop──▶ gone
type childState uint8

const (
	childOrphan   childState = iota // its parent is lost; the root is asked for leave to adopt it
	childDialling                   // where a child of the first hour begins
	childUp
	childGone
)

// child is a neighbour below, and with it all that is reached through it. One
// that is gone stands for itself only, as soon as others stand for its children.
type child struct {
	id      NodeID
	state   childState
	route   protocol.Route
	table   []protocol.Route // of its subtree
	servers rank.Set         // numbers of the servers of its subtree
	ranks   rank.Set         // of its subtree
	held    []heldCommand    // until the link stands

	// adopted tells that it was the child of a server that is lost: under.
	adopted bool
	under   NodeID
	// resync is the epoch of which an Events packet must be before any is heard:
	// what comes before will be sent again. 0: all are heard.
	resync uint64

	heard  bool // since the last heartbeat
	missed int  // heartbeats without an answer

	// Of one that is gone: the bodies that say so. To a request, to an Init, to
	// the world, and for those that were reached through it.
	lost, absent, died, behind []byte
}

// heldCommand is a command that waits for the link. There are no more of them
// than requests.
type heldCommand struct {
	msg      wire.Message
	deadline time.Duration // of the vertex; 0 is none
}

// server is the number of the server at a vertex.
func server(v NodeID) protocol.ServerID { return protocol.ServerID(v - 1) }

// name is what people call the server of a child.
func (c *child) name() string {
	if c.route.Host == "" {
		return fmt.Sprintf("server %d", server(c.id))
	}
	return fmt.Sprintf("server %d on %s", server(c.id), c.route.Host)
}

// gone notes the end of a child and why.
func (c *child) gone(cause string) {
	host := c.route.Host
	c.state = childGone
	c.table, c.held = nil, nil
	c.absent = canonical.JSON(protocol.Missing{Cause: cause, Host: host})
	c.lost = canonical.JSON(protocol.Missing{Cause: c.name() + ": " + cause, Host: host})
	c.died = canonical.JSON(protocol.Missing{Cause: c.name() + ": " + cause, Host: host, Incomplete: true})
	c.behind = canonical.JSON(protocol.Missing{Cause: "behind " + c.name() + ": " + cause})
}

// obituary says of some ranks below a child that is gone what became of them: at
// most two groups, the child's own ranks and those behind it. For an Init the
// ranks are server numbers.
func (c *child) obituary(kind protocol.Kind, ranks rank.Set, ofInit bool) []protocol.Group {
	own, body := c.route.Ranks, c.lost
	if ofInit {
		own, body = rank.Of(rank.ID(c.route.Server)), c.absent
	}
	var groups []protocol.Group
	if set := ranks.Intersect(own); !set.IsEmpty() {
		groups = append(groups, protocol.Group{Kind: kind, Ranks: set, Body: body})
	}
	if set := ranks.Minus(own); !set.IsEmpty() {
		groups = append(groups, protocol.Group{Kind: kind, Ranks: set, Body: c.behind})
	}
	return groups
}

// send passes a request on, or holds it until the link stands. To an adopted
// child, all that is owed is sent when the link stands.
func (n *Node) send(c *child, r *request, m wire.Message) {
	if c.adopted && c.state != childUp {
		return
	}
	if c.state == childDialling {
		c.held = append(c.held, heldCommand{m, r.deadline})
		return
	}
	m.Wait = n.left(r.deadline)
	n.emit(ToChild{c.id, m})
}

// left is the wait to give to those below for an answer by the deadline. What is
// late already must still be done, so that it is never 0 with a deadline.
func (n *Node) left(deadline time.Duration) time.Duration {
	if deadline == 0 {
		return 0
	}
	return share(max(deadline-n.now, time.Millisecond))
}
