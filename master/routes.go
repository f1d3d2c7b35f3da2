package master

import (
	"slices"

	"sdm/protocol"
	"sdm/protocol/rank"
)

// routes answers questions about the routing table. It is never changed.
type routes struct{ table protocol.RouteTable }

// ranks gives the ranks of all servers.
func (r routes) ranks() rank.Set {
	var all rank.Set
	for _, route := range r.table.Routes {
		all = all.Union(route.Ranks)
	}
	return all
}

// servers gives the numbers of all servers.
func (r routes) servers() rank.Set {
	ids := make([]rank.ID, 0, len(r.table.Routes))
	for _, route := range r.table.Routes {
		ids = append(ids, rank.ID(route.Server))
	}
	return rank.Of(ids...)
}

// hostsOf names the hosts of ranks, in order of the table, each once. Ranks that
// no server holds have none.
func (r routes) hostsOf(ranks rank.Set) []string {
	return r.hosts(func(route protocol.Route) bool { return route.Ranks.Intersects(ranks) })
}

// hostsOfServers names the hosts of servers by their numbers.
func (r routes) hostsOfServers(servers rank.Set) []string {
	return r.hosts(func(route protocol.Route) bool { return servers.Contains(rank.ID(route.Server)) })
}

func (r routes) hosts(wanted func(protocol.Route) bool) []string {
	var hosts []string
	seen := map[string]bool{}
	for _, route := range r.table.Routes {
		if route.Host == "" || seen[route.Host] || !wanted(route) {
			continue
		}
		seen[route.Host] = true
		hosts = append(hosts, route.Host)
	}
	return slices.Clip(hosts)
}
