package session

import (
	"fmt"
	"strings"

	"sdm/protocol/rank"
)

// Report is the aggregated answer to the building of a tree. Its JSON form is
// the result of the JSON-RPC method "initialize".
type Report struct {
	Servers int      `json:"servers"`          // in the whole session
	Ranks   rank.Set `json:"ranks"`            // of the job, as the routing table has them
	Absent  []Absent `json:"absent,omitempty"` // empty: all are ready
}

// Absent are servers that are not there, for one reason.
type Absent struct {
	Servers rank.Set `json:"servers"` // their numbers
	Hosts   []string `json:"hosts,omitempty"`
	Cause   string   `json:"cause"`
}

// Err is nil if all servers are ready; otherwise its text names those that are
// not, and why.
func (r Report) Err() error {
	if len(r.Absent) == 0 {
		return nil
	}
	return &NotReady{r}
}

// NotReady is the error of a tree that could not be built.
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

// String gives "servers 3,7 on node03,node07: connection refused".
func (a Absent) String() string {
	word := "server "
	if a.Servers.Len() > 1 {
		word = "servers "
	}
	text := word + a.Servers.String()
	if len(a.Hosts) > 0 {
		text += " on " + strings.Join(a.Hosts, ",")
	}
	return text + ": " + a.Cause
}
