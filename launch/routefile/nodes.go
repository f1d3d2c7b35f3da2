// Routing tables with one server for each host.

package routefile

import (
	"fmt"
	"net"

	"sdm/protocol"
	"sdm/protocol/rank"
)

// PerNode returns the table with one server for each host in place of one for each rank: it listens
// where the host's lowest rank would, and has the ranks of the host. The servers are numbered by
// their lowest ranks, from 0. The routes of the given table must be sorted by server, as Parse
// returns them.
func PerNode(table protocol.RouteTable) protocol.RouteTable {
	nodes := protocol.RouteTable{Shape: table.Shape}
	number := map[string]int{}
	for _, route := range table.Routes {
		i, known := number[route.Host]
		if known {
			nodes.Routes[i].Ranks = nodes.Routes[i].Ranks.Union(route.Ranks)
			continue
		}
		i = len(nodes.Routes)
		number[route.Host] = i
		route.Server = protocol.ServerID(i)
		nodes.Routes = append(nodes.Routes, route)
	}
	nodes.Size = len(nodes.Routes)
	return nodes
}

// Address returns the host and the first port of a route of Parse.
func Address(route protocol.Route) (host string, port int, err error) {
	if len(route.Addrs) == 0 {
		return "", 0, fmt.Errorf("server %d has no address", route.Server)
	}
	host, text, err := net.SplitHostPort(route.Addrs[0])
	if err != nil {
		return "", 0, fmt.Errorf("server %d: %w", route.Server, err)
	}
	port, err = number(text, 1, 65535)
	return host, port, err
}

// RouteOf returns the route of the server that has a rank.
func RouteOf(table protocol.RouteTable, r rank.ID) (protocol.Route, bool) {
	for _, route := range table.Routes {
		if route.Ranks.Contains(r) {
			return route, true
		}
	}
	return protocol.Route{}, false
}
