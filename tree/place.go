// The place of a vertex in the tree, from the routing table.

package tree

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"sdm/protocol"
	"sdm/protocol/rank"
	"sdm/tree/topology"
)

// readTable decodes the routing table of the subtree of vertex id and checks what
// the tree relies on: each server of the subtree once, no rank on two servers. The
// routes are sorted by server. Memory is allocated for the routes that the table
// contains, not for the size that it claims.
func readTable(body []byte, id NodeID) (protocol.RouteTable, topology.Shape, error) {
	var table protocol.RouteTable
	if err := json.Unmarshal(body, &table); err != nil {
		return table, topology.Shape{}, fmt.Errorf("routing table cannot be read: %v", err)
	}
	shape, err := topology.ParseShape(table.Shape, table.Size)
	if err != nil {
		return table, shape, err
	}
	if !shape.Contains(id) {
		return table, shape, fmt.Errorf("server %d is not in a tree of %d servers", server(id), table.Size)
	}
	slices.SortFunc(table.Routes, func(a, b protocol.Route) int { return cmp.Compare(a.Server, b.Server) })
	first, last := shape.Subtree(id)
	if err := checkServers(table.Routes, server(max(first, 1)), server(last)); err != nil {
		return table, shape, err
	}
	return table, shape, checkDisjoint(table.Routes)
}

// checkServers requires each server from first to last exactly once; routes are
// sorted.
func checkServers(routes []protocol.Route, first, last protocol.ServerID) error {
	next := first
	for _, r := range routes {
		switch {
		case r.Server < first || r.Server > last:
			return fmt.Errorf("routing table: server %d is not within %d to %d", r.Server, first, last)
		case r.Server < next:
			return fmt.Errorf("routing table: server %d is listed twice", r.Server)
		case r.Server > next:
			return fmt.Errorf("routing table: server %d is missing", next)
		}
		next++
	}
	if next <= last {
		return fmt.Errorf("routing table: server %d is missing", next)
	}
	return nil
}

// checkDisjoint requires that each rank is on one server only.
func checkDisjoint(routes []protocol.Route) error {
	sum := 0
	for _, r := range routes {
		sum += r.Ranks.Len()
	}
	if sum == ranksOf(routes).Len() {
		return nil
	}
	var seen rank.Set
	for _, r := range routes {
		if twice := seen.Intersect(r.Ranks); !twice.IsEmpty() {
			return fmt.Errorf("routing table: ranks %v of server %d are on another server too", twice, r.Server)
		}
		seen = seen.Union(r.Ranks)
	}
	return nil
}

// ranksOf returns the union of the ranks of routes. It joins halves recursively,
// because the union of scattered sets is expensive.
func ranksOf(routes []protocol.Route) rank.Set {
	switch len(routes) {
	case 0:
		return rank.Set{}
	case 1:
		return routes[0].Ranks
	}
	half := len(routes) / 2
	return ranksOf(routes[:half]).Union(ranksOf(routes[half:]))
}

// settleIn sets the place of the vertex: own ranks, children and their subtrees.
func (n *Node) settleIn(table protocol.RouteTable, shape topology.Shape) {
	n.placed, n.shape, n.routes = true, shape, table.Routes
	n.up.holdLimits = holdLimitsOf(n.id, shape.Height(0)+1)
	if n.id > 0 {
		n.own = table.Routes[0].Ranks
	}
	for _, id := range shape.Children(n.id) {
		n.enter(&child{id: id, state: childDialling})
	}
	n.startBeat(table)
}

// enter adds a child whose id and state are set.
func (n *Node) enter(c *child) {
	first, last := n.shape.Subtree(c.id)
	lowest := max(n.id, 1) // the vertex of the first route
	c.table = n.routes[first-lowest : last-lowest+1]
	c.servers = rank.Range(rank.ID(server(first)), rank.ID(server(last)))
	c.route, c.ranks = c.table[0], ranksOf(c.table)
	n.children = append(n.children, c)
	n.byID[c.id] = c
}
