// Routing tables of servers that do not register.

package registration

import (
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"

	"sdm/protocol"
	"sdm/protocol/rank"
)

// maxGenerated bounds a generated table, as MaxID bounds ranks.
const maxGenerated = int(rank.MaxID)

// Generate makes the table of n servers that are spread evenly over hosts in blocks, each
// with the same base port: for starters that place processes so and do not report where.
func Generate(hosts []string, n, base, ports int, shape string) (protocol.RouteTable, error) {
	hosts = slices.DeleteFunc(slices.Clone(hosts), func(h string) bool { return strings.TrimSpace(h) == "" })
	switch {
	case len(hosts) == 0:
		return protocol.RouteTable{}, fmt.Errorf("no hosts to generate routes for")
	case n == 0:
		n = len(hosts)
	case n < 0 || n > maxGenerated:
		return protocol.RouteTable{}, fmt.Errorf("%d is not a number of servers", n)
	}
	if base < 1 || base > 65535 {
		return protocol.RouteTable{}, fmt.Errorf("routes need the servers' base port, 1 to 65535")
	}
	t := protocol.RouteTable{Shape: shape, Size: n}
	for i := range n {
		host := hosts[i*len(hosts)/n]
		t.Routes = append(t.Routes, protocol.Route{
			Server: protocol.ServerID(i), Host: host, Ports: min(ports, 65536-base),
			Addrs: []string{net.JoinHostPort(host, strconv.Itoa(base))}, Ranks: rank.Of(rank.ID(i)),
		})
	}
	return t, nil
}
