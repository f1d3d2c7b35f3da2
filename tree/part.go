// What became of ranks, apart from what others wrote: on a congested link the one
// passes the other (package lane), but only if they are two packets.

package tree

import (
	"sdm/protocol"
	"sdm/protocol/rank"
)

// bundle is a part of the list that goes up, with its marks.
type bundle struct {
	groups []protocol.Group
	marks  map[protocol.ServerID]uint64
}

// maxSpread is how often the ranks that pressing groups are about are looked for
// among the others, before all of them count: equal lines of many ranks join them.
const maxSpread = 4

// part divides the list: what tells of ranks, with everything else of these ranks,
// and what only others wrote. The numbered events of one server stay together, so
// that its mark is true of the packet that it stands on. ok is false where there is
// nothing to divide, or a server is lost: its ranks are not where its word came from.
func (n *Node) part(groups []protocol.Group) (pressing, rest bundle, ok bool) {
	about, outputs := rank.Set{}, 0
	for i := range groups {
		switch g := &groups[i]; {
		case g.Kind.IsOutput():
			outputs++
		case g.Kind == protocol.KindLost:
			return pressing, rest, false
		default:
			about = about.Union(g.Ranks)
		}
	}
	if outputs == 0 || outputs == len(groups) || !n.up.gone.IsEmpty() {
		return pressing, rest, false
	}
	about, ok = n.spread(about, groups)
	if !ok {
		return pressing, rest, false
	}
	for i := range groups {
		if groups[i].Ranks.Intersects(about) {
			pressing.groups = append(pressing.groups, groups[i])
		} else {
			rest.groups = append(rest.groups, groups[i])
		}
	}
	pressing.marks, rest.marks = make(map[protocol.ServerID]uint64), make(map[protocol.ServerID]uint64)
	for s, last := range n.up.marks {
		if n.routeOf(s).Ranks.Intersects(about) {
			pressing.marks[s] = last
		} else {
			rest.marks[s] = last
		}
	}
	return pressing, rest, len(rest.groups) > 0
}

// spread adds to a set all ranks that share a group, or a server whose events are
// numbered, with one of its own. It gives up on long chains.
func (n *Node) spread(about rank.Set, groups []protocol.Group) (rank.Set, bool) {
	for range maxSpread {
		before, more := about.Len(), about
		for s := range n.up.marks { // in any order: only about is looked at
			if ranks := n.routeOf(s).Ranks; ranks.Intersects(about) {
				more = more.Union(ranks)
			}
		}
		about = more
		for i := range groups {
			if groups[i].Ranks.Intersects(about) {
				about = about.Union(groups[i].Ranks)
			}
		}
		if about.Len() == before {
			return about, true
		}
	}
	return about, false
}

// routeOf gives the route of a server of the subtree.
func (n *Node) routeOf(s protocol.ServerID) protocol.Route {
	i := int(s - n.routes[0].Server)
	if i < 0 || i >= len(n.routes) {
		return protocol.Route{}
	}
	return n.routes[i]
}
