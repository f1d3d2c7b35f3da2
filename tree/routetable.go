// The routing table of a subtree.

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
