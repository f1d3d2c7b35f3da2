// The routing table.

package master

import (
	"fmt"
	"iter"
	"slices"

	"sdm/master/session"
	"sdm/protocol"
	"sdm/protocol/rank"
)

// routes answers queries of the routing table. It is immutable.
type routes struct {
	table protocol.RouteTable
	// forgone are the hosts and ranks of servers that are in no table because they never
	// registered.
	forgone []protocol.Route
}

func newRoutes(table protocol.RouteTable, forgone []session.Absent) routes {
	r := routes{table: table}
	for _, a := range forgone {
		if len(a.Hosts) == 1 {
			r.forgone = append(r.forgone, protocol.Route{Host: a.Hosts[0], Ranks: a.Ranks})
		}
	}
	return r
}

// CheckNumbers returns an error if a server's number is used twice or beyond the last, or if a host
// name is invalid.
func CheckNumbers(table protocol.RouteTable) error {
	hosts := make(map[protocol.ServerID]string, len(table.Routes))
	for _, route := range table.Routes {
		if route.Server < 0 || int(route.Server) >= table.Size {
			return fmt.Errorf("routing table: server %d on %s is beyond the %d that there are, from 0 on", route.Server, route.Host, table.Size)
		}
		if first, double := hosts[route.Server]; double {
			return fmt.Errorf("routing table: server %d is listed twice: on %s and on %s", route.Server, first, route.Host)
		}
		if route.Host != "" { // empty: the server has not come
			if err := protocol.CheckHost(route.Host); err != nil {
				return fmt.Errorf("routing table: server %d: %w", route.Server, err)
			}
		}
		hosts[route.Server] = route.Host
	}
	return nil
}

// rows yields the routes of the table, then the forgone ones.
func (r routes) rows() iter.Seq[protocol.Route] {
	return func(yield func(protocol.Route) bool) {
		for _, part := range [][]protocol.Route{r.table.Routes, r.forgone} {
			for _, route := range part {
				if !yield(route) {
					return
				}
			}
		}
	}
}

// isForgone reports whether a row is not in the table.
func (r routes) isForgone(route protocol.Route) bool {
	return !slices.ContainsFunc(r.table.Routes, func(t protocol.Route) bool {
		return t.Ranks.Equal(route.Ranks) &&
			t.Host == route.Host
	})
}

// ranks returns the ranks of all servers in the table.
func (r routes) ranks() rank.Set {
	var all rank.Set
	for _, route := range r.table.Routes {
		all = all.Union(route.Ranks)
	}
	return all
}

// servers returns the numbers of all servers.
func (r routes) servers() rank.Set {
	ids := make([]rank.ID, 0, len(r.table.Routes))
	for _, route := range r.table.Routes {
		ids = append(ids, rank.ID(route.Server))
	}
	return rank.Of(ids...)
}

// absent describes servers that are not ready.
func (r routes) absent(servers rank.Set, cause string) session.Absent {
	a := session.Absent{Servers: servers, Hosts: r.hostsOfServers(servers), Cause: cause}
	for _, route := range r.table.Routes {
		if servers.Contains(rank.ID(route.Server)) {
			a.Ranks = a.Ranks.Union(route.Ranks)
		}
	}
	return a
}

// hostsOf returns the hosts of ranks, in order of the table, each once. Ranks without a server have
// none.
func (r routes) hostsOf(ranks rank.Set) []string {
	return r.hosts(func(route protocol.Route) bool { return route.Ranks.Intersects(ranks) })
}

// hostsOfServers returns the hosts of servers.
func (r routes) hostsOfServers(servers rank.Set) []string {
	return routes{table: r.table}.hosts(func(route protocol.Route) bool { return servers.Contains(rank.ID(route.Server)) })
}

func (r routes) hosts(wanted func(protocol.Route) bool) []string {
	var hosts []string
	seen := map[string]bool{}
	for route := range r.rows() {
		if route.Host == "" || seen[route.Host] || !wanted(route) {
			continue
		}
		seen[route.Host] = true
		hosts = append(hosts, route.Host)
	}
	return slices.Clip(hosts)
}
