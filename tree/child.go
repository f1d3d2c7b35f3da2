// Children of the vertex.

package tree

import (
	"fmt"
	"time"

	"sdm/protocol"
	"sdm/protocol/canonical"
	"sdm/protocol/rank"
	"sdm/protocol/wire"
)

// childState is the state of the link to a child. It only advances.
//
//	orphan ──allowed to adopt──▶ dialling ──Connected──▶ up
//	   └───────────┴────────────ConnectFailed──┴──ChildLost, Disconnect──▶ gone
type childState uint8

const (
	childOrphan   childState = iota // its parent is lost; the root's permission to adopt it is pending
	childDialling                   // initial state of a child that Init names
	childUp
	childGone
)

// child is a neighbour below, with its subtree. One that is gone represents its own
// server only, once its children have entries of their own.
type child struct {
	id      NodeID
	state   childState
	route   protocol.Route
	table   []protocol.Route // routes of its subtree
	servers rank.Set         // server numbers of its subtree
	ranks   rank.Set         // ranks of its subtree
	pending []pendingCommand // commands that wait for the link

	// adopted: it was a child of the lost server under.
	adopted bool
	under   NodeID
	// resync is the lowest epoch of an Events packet that is accepted. Events
	// before it are ignored, because they will be retransmitted. 0: all are
	// accepted.
	resync uint64

	received bool // something arrived since the last heartbeat
	missed   int  // consecutive heartbeats without an answer

	// Bodies that report the loss of the child: in answers to requests, in answers
	// to Init, as an event, and in answers for servers that were reached through
	// it.
	lost, absent, died, behind []byte
}

// pendingCommand is a command that waits for the link to a child. There are no more of them than
// requests.
type pendingCommand struct {
	msg      wire.Message
	deadline time.Duration // at this vertex; 0 is none
}

// server returns the number of the server at a vertex.
func server(v NodeID) protocol.ServerID { return protocol.ServerID(v - 1) }

// name describes the server of a child for messages.
func (c *child) name() string {
	if c.route.Host == "" {
		return fmt.Sprintf("server %d", server(c.id))
	}
	return fmt.Sprintf("server %d on %s", server(c.id), c.route.Host)
}

// markLost marks a child as lost and prepares the bodies that report it.
func (c *child) markLost(cause string) {
	host := c.route.Host
	c.state = childGone
	c.table, c.pending = nil, nil
	c.absent = canonical.JSON(protocol.Missing{Cause: cause, Host: host})
	c.lost = canonical.JSON(protocol.Missing{Cause: c.name() + ": " + cause, Host: host})
	c.died = canonical.JSON(protocol.Missing{Cause: c.name() + ": " + cause, Host: host, Incomplete: true})
	c.behind = canonical.JSON(protocol.Missing{Cause: "behind " + c.name() + ": " + cause})
}

// lostGroups returns the answers on behalf of ranks below a lost child, as at most
// two groups: the child's own ranks, and those that were reached through it. For an
// Init the ranks are server numbers.
func (c *child) lostGroups(kind protocol.Kind, ranks rank.Set, ofInit bool) []protocol.Group {
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

// send forwards a request to a child, or keeps it until the link is up. To an
// adopted child, askAgain sends all outstanding requests when the link is up.
func (n *Node) send(c *child, r *request, m wire.Message) {
	if c.adopted && c.state != childUp {
		return
	}
	if c.state == childDialling {
		c.pending = append(c.pending, pendingCommand{m, r.deadline})
		return
	}
	m.Wait = n.left(r.deadline)
	n.emit(ToChild{c.id, m})
}

// left returns the wait for children whose answers are needed by the deadline. An
// overdue request is still executed, so the result is never 0 if there is a
// deadline.
func (n *Node) left(deadline time.Duration) time.Duration {
	if deadline == 0 {
		return 0
	}
	return share(max(deadline-n.now, time.Millisecond))
}

// share returns the wait for children of a vertex that may itself wait this long.
// It is shorter, so that partial replies of the children arrive in time. A
// sixteenth is for merging in large trees; 5 ms are for a loaded machine, or a
// quarter of shorter waits. 0 means no limit and stays 0; no other wait becomes 0.
func share(wait time.Duration) time.Duration {
	return wait - max(wait/16, min(5*time.Millisecond, wait/4))
}
