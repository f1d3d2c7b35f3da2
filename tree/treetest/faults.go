// Faults of servers.

package treetest

import (
	"maps"
	"slices"
	"time"

	"sdm/protocol"
	"sdm/tree"
)

// Cut breaks the link of a server to its parent. Packets in flight are lost, and
// both ends are notified.
func (n *Net) Cut(id protocol.ServerID, cause string) {
	v := n.vertices[id+1]
	l := v.link
	if l == nil || l.broken {
		return
	}
	l.broken = true
	n.later(l, up, func() {
		if l.parentOpen {
			l.parentOpen = false
			delete(l.parent.below, v.id)
			n.step(l.parent, tree.ChildLost{Child: v.id, Cause: cause})
		}
	})
	n.later(l, down, func() { n.orphan(l) })
}

// Kill ends a server. Its parent and its children lose their links to it.
func (n *Net) Kill(id protocol.ServerID) { n.end(n.vertices[id+1], "connection reset by peer") }

// KillMaster ends the root.
func (n *Net) KillMaster() { n.end(n.vertices[0], "connection reset by peer") }

// Freeze suspends a server for a time. Its inputs are queued.
func (n *Net) Freeze(id protocol.ServerID, d time.Duration) { n.freeze(n.vertices[id+1], d) }

// FreezeMaster suspends the root.
func (n *Net) FreezeMaster(d time.Duration) { n.freeze(n.vertices[0], d) }

func (n *Net) freeze(v *vertex, d time.Duration) {
	if v.dead || v.frozen {
		return
	}
	v.frozen = true
	n.After(d, func() {
		v.frozen = false
		for len(v.queue) > 0 && !v.dead {
			in := v.queue[0]
			v.queue = v.queue[1:]
			n.step(v, in)
		}
	})
}

// Alive reports whether a server's process runs.
func (n *Net) Alive(id protocol.ServerID) bool { return !n.vertices[id+1].dead }

// Told reports whether a server has been told of the end of the session.
func (n *Net) Told(id protocol.ServerID) bool { return n.vertices[id+1].told }

// Ready reports whether a server has received its Init.
func (n *Net) Ready(id protocol.ServerID) bool { return n.vertices[id+1].epoch > 0 }

// order returns the children of a vertex by number.
func (n *Net) order(v *vertex) []tree.NodeID { return slices.Sorted(maps.Keys(v.below)) }
