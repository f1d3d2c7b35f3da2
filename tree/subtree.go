// The place of a vertex in the tree: its own ranks, its children, and what is below.

package tree

import (
	"sdm/protocol"
	"sdm/protocol/rank"
	"sdm/protocol/wire"
	"sdm/tree/topology"
)

// subtree is a vertex with all below it, from its routing table.
type subtree struct {
	id       NodeID
	placed   bool // an Init has been received
	shape    topology.Shape
	routes   []protocol.Route // by server
	own      rank.Set         // ranks of the vertex itself
	children []*child         // largest subtree first
	byID     map[NodeID]*child
}

// settleIn sets the place of the vertex: own ranks, children and their subtrees.
func (s *subtree) settleIn(table protocol.RouteTable, shape topology.Shape) {
	s.placed, s.shape, s.routes = true, shape, table.Routes
	if s.id > 0 {
		s.own = table.Routes[0].Ranks
	}
	for _, id := range shape.Children(s.id) {
		s.enter(&child{id: id, state: childDialling})
	}
}

// enter adds a child whose id and state are set.
func (s *subtree) enter(c *child) {
	first, last := s.shape.Subtree(c.id)
	lowest := max(s.id, 1) // the vertex of the first route
	c.table = s.routes[first-lowest : last-lowest+1]
	c.servers = rank.Range(rank.ID(server(first)), rank.ID(server(last)))
	c.route, c.ranks = c.table[0], ranksOf(c.table)
	s.children = append(s.children, c)
	s.byID[c.id] = c
}

// servers returns the numbers of all servers of the subtree, the vertex included.
func (s *subtree) servers() rank.Set {
	first, last := s.shape.Subtree(s.id)
	return rank.Range(rank.ID(max(0, server(first))), rank.ID(server(last)))
}

// routeOf returns the route of a server of the subtree.
func (s *subtree) routeOf(id protocol.ServerID) protocol.Route {
	i := int(id - s.routes[0].Server)
	if i < 0 || i >= len(s.routes) {
		return protocol.Route{}
	}
	return s.routes[i]
}

// askedServers returns the servers that must answer an Init: those named, or all.
func (s *subtree) askedServers(m *wire.Message) rank.Set {
	if !m.Ranks.IsEmpty() {
		return m.Ranks
	}
	return s.servers()
}
