// The result of building the tree.

package session

import (
	"fmt"
	"slices"
	"strings"

	"sdm/protocol/rank"
)

// Report is the aggregated answer to the building of a tree. Its JSON form is the result of the
// JSON-RPC method "initialize".
type Report struct {
	Servers int      `json:"servers"`          // in the whole session
	Ranks   rank.Set `json:"ranks"`            // of the job, including those of absent servers
	Absent  []Absent `json:"absent,omitempty"` // empty: all are ready
	// Partial tells that the session continues with the servers that are ready; the ranks of the
	// others are lost.
	Partial bool `json:"partial,omitempty"`
}

// Absent are servers that are not ready, for one reason.
type Absent struct {
	Servers rank.Set `json:"servers"`        // their numbers; empty if they never got one
	Ranks   rank.Set `json:"ranks,omitzero"` // that are lost with them
	Hosts   []string `json:"hosts,omitempty"`
	Cause   string   `json:"cause"`
}

// Lost returns the ranks of all absent servers.
func (r Report) Lost() rank.Set {
	var lost rank.Set
	for _, a := range r.Absent {
		lost = lost.Union(a.Ranks)
	}
	return lost
}

// ByCause joins the entries with the same cause.
func ByCause(absent []Absent) []Absent {
	var joined []Absent
	for _, a := range absent {
		i := slices.IndexFunc(joined, func(j Absent) bool { return j.Cause == a.Cause })
		if i < 0 {
			a.Hosts = slices.Clone(a.Hosts)
			joined = append(joined, a)
			continue
		}
		j := &joined[i]
		j.Servers, j.Ranks, j.Hosts = j.Servers.Union(a.Servers), j.Ranks.Union(a.Ranks), append(j.Hosts, a.Hosts...)
	}
	return joined
}

// Err returns nil if all servers are ready, or the session continues with those that are; otherwise
// a *NotReady, whose text names the others and the causes.
func (r Report) Err() error {
	if len(r.Absent) == 0 || r.Partial {
		return nil
	}
	return &NotReady{r}
}

// NotReady is the error if the tree could not be built.
type NotReady struct{ Report Report }

func (e *NotReady) Error() string {
	var parts []string
	missing := 0
	for _, a := range e.Report.Absent {
		missing += a.Servers.Len()
		parts = append(parts, a.String())
	}
	return fmt.Sprintf("%d of %d servers are not ready: %s", missing, e.Report.Servers, strings.Join(parts, "; "))
}

// maxHosts is the maximal number of hosts that a text names.
const maxHosts = 16

// String returns "servers 3,7 on node03,node07: connection refused"; it truncates long lists.
func (a Absent) String() string {
	word := "server "
	if a.Servers.Len() > 1 {
		word = "servers "
	}
	servers := []byte(a.Servers.String())
	if len(servers) > briefSet {
		if short, ok := truncate(servers); ok {
			servers = short
		}
	}
	text := strings.TrimSpace(word + string(servers))
	if more := len(a.Hosts) - maxHosts; more > 0 {
		text += fmt.Sprintf(" on %s and %d more", strings.Join(a.Hosts[:maxHosts], ","), more)
	} else if len(a.Hosts) > 0 {
		text += " on " + strings.Join(a.Hosts, ",")
	}
	return text + ": " + a.Cause
}
