// What may happen to servers.

package treetest

import (
	"maps"
	"slices"
	"time"

	"sdm/protocol"
	"sdm/tree"
)

// Cut breaks the link of a server to its parent. Both hear of it, and what was on
// its way is lost; the server's subtree is alone.
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

// Kill ends a server. Its parent loses it, its children are alone.
func (n *Net) Kill(id protocol.ServerID) { n.end(n.vertices[id+1], "connection reset by peer") }

// KillMaster ends the root.
func (n *Net) KillMaster() { n.end(n.vertices[0], "connection reset by peer") }

// Freeze makes a server stand still for a while. What comes meanwhile waits.
func (n *Net) Freeze(id protocol.ServerID, d time.Duration) { n.freeze(n.vertices[id+1], d) }

// FreezeMaster does the same with the root.
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

// Alive tells whether a server's process is there.
func (n *Net) Alive(id protocol.ServerID) bool { return !n.vertices[id+1].dead }

// Ready tells whether a server has got its Init.
func (n *Net) Ready(id protocol.ServerID) bool { return n.vertices[id+1].epoch > 0 }

// order gives the children of a vertex by number.
func (n *Net) order(v *vertex) []tree.NodeID { return slices.Sorted(maps.Keys(v.below)) }
