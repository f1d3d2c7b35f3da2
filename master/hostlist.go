// Lists of hosts as resource managers write them.

package master

import (
	"fmt"
	"strings"

	"sdm/protocol"
	"sdm/protocol/rank"
)

// ranksOn returns the ranks on the hosts of a list as resource managers write it: "node07",
// "node[01-16,20]", "rack[1-2]n[01-04]". A host may be named without its domain. It is an error if
// no host matches.
func (r routes) ranksOn(list string) (rank.Set, error) {
	var on rank.Set
	for route := range r.rows() {
		if protocol.HostMatches(list, route.Host) {
			on = on.Union(route.Ranks)
		}
	}
	if !on.IsEmpty() {
		return on, nil
	}
	hosts := r.hosts(func(protocol.Route) bool { return true })
	const most = 4
	text := strings.Join(hosts[:min(len(hosts), most)], ", ")
	if len(hosts) > most {
		text += ", ..."
	}
	return rank.Set{}, fmt.Errorf("there is no such host; there are %s", text)
}
