// Routing tables for tests.

package treetest

import (
	"strconv"

	"sdm/protocol"
	"sdm/protocol/rank"
	"sdm/tree"
	"sdm/tree/topology"
)

// Table returns a routing table of size servers with per ranks each, in blocks of
// consecutive ranks or distributed round-robin, on hosts named node0, node1, ….
func Table(shape string, size, per int, dealt bool) protocol.RouteTable {
	t := protocol.RouteTable{Shape: shape, Size: size}
	for i := range size {
		t.Routes = append(t.Routes, protocol.Route{
			Server: protocol.ServerID(i), Host: "node" + strconv.Itoa(i), Ranks: ranksOf(i, size, per, dealt),
		})
	}
	return t
}

// Subtable returns the part of a table that vertex id receives from its parent.
func Subtable(t protocol.RouteTable, id tree.NodeID) (protocol.RouteTable, error) {
	shape, err := topology.ParseShape(t.Shape, t.Size)
	if err != nil || !shape.Contains(id) || id == 0 {
		return t, err
	}
	first, last := shape.Subtree(id)
	t.Routes = t.Routes[first-1 : last]
	return t, nil
}

// Depth returns the number of links between the root and the deepest server.
func Depth(t protocol.RouteTable) int {
	shape, err := topology.ParseShape(t.Shape, t.Size)
	if err != nil {
		panic(err)
	}
	return shape.Height(0)
}

// ranksOf returns the ranks of server i.
func ranksOf(i, size, per int, dealt bool) rank.Set {
	if !dealt {
		return rank.Range(rank.ID(i*per), rank.ID((i+1)*per-1))
	}
	var ids []rank.ID
	for k := range per {
		ids = append(ids, rank.ID(i+k*size))
	}
	return rank.Of(ids...)
}
