// The servers of a PerNode.

package registration

import (
	"cmp"
	"fmt"
	"net"
	"slices"
	"strings"

	"sdm/master/session"
	"sdm/protocol"
	"sdm/tree/overlay"
)

// roster is the state of a PerNode: the servers that have registered, and those that will not. It
// is pure, except for the answers.
type roster struct {
	PerNode
	registered []arrival // by node; without an answer: not yet
	failed     []error   // by node
	unplaced   []string  // hosts of servers that belong to no node
}

// awaited returns how many may still come.
func (c *roster) awaited() int { return len(c.missing()) }

// missing returns the nodes whose servers may still come.
func (c *roster) missing() []protocol.Node {
	var nodes []protocol.Node
	for i, n := range c.Nodes {
		if c.registered[i].answer == nil && c.failed[i] == nil {
			nodes = append(nodes, n)
		}
	}
	return nodes
}

// ask calls Failed for the nodes whose servers have not come.
func (c *roster) ask() {
	for i := range c.Nodes {
		if c.Failed != nil && c.registered[i].answer == nil && c.failed[i] == nil {
			c.failed[i] = c.Failed(i)
		}
	}
}

func (c *roster) giveUp(cause error) {
	for i := range c.Nodes {
		if c.registered[i].answer == nil && c.failed[i] == nil {
			c.failed[i] = cause
		}
	}
}

// arrived enters a server, or refuses it with the reason. The same process may register again,
// because its first attempt may have been interrupted.
func (c *roster) arrived(a arrival) {
	defer c.checkUnplaced()
	at, refusal := c.placeOf(a)
	if refusal != "" {
		a.answer(overlay.Decision{Refusal: refusal})
		if at < 0 && !slices.Contains(c.unplaced, a.Host) {
			c.unplaced = append(c.unplaced, a.Host)
		}
		return
	}
	c.registered[at], c.failed[at] = a, nil
	if c.Progress != nil {
		have := 0
		for _, one := range c.registered {
			if one.answer != nil {
				have++
			}
		}
		c.Progress(have, len(c.Nodes))
	}
}

// checkUnplaced checks whether the starter has placed servers on hosts without ranks, by the names
// that are known here: if these are as many as the missing servers, no other will come.
func (c *roster) checkUnplaced() {
	if len(c.unplaced) > 0 && len(c.unplaced) >= c.awaited() {
		c.giveUp(fmt.Errorf("the starter has put its server on %s, where its table has no ranks (--remote-shell CMD or --start-tool CMD starts them otherwise)", strings.Join(c.unplaced, ", ")))
	}
}

// isOf reports whether a server runs on a host: by its name, or, where the table has addresses, by an
// address that it listens at.
func isOf(host string, r overlay.Registration) bool {
	return protocol.SameHost(host, r.Host) || slices.ContainsFunc(r.Addrs, func(addr string) bool {
		at, _, err := net.SplitHostPort(addr)
		return err == nil && at == host
	})
}

func (c *roster) placeOf(a arrival) (at int, refusal string) {
	at = int(a.Server)
	if c.ByHost {
		at = slices.IndexFunc(c.Nodes, func(n protocol.Node) bool { return isOf(n.Host, a.Registration) })
	}
	switch {
	case at < 0 && c.ByHost:
		return at, fmt.Sprintf("the job has no ranks on %s", a.Host)
	case at < 0 || at >= len(c.Nodes):
		return at, fmt.Sprintf("server %d on %s is beyond the %d that are awaited", a.Server, a.Host, len(c.Nodes))
	case len(a.Addrs) == 0:
		return at, fmt.Sprintf("server %d on %s has no address", a.Server, a.Host)
	}
	if old := c.registered[at]; old.answer != nil && (old.Host != a.Host || old.PID != a.PID) {
		return at, fmt.Sprintf("two processes have registered as server %d: process %d on %s and process %d on %s", a.Server, old.PID, old.Host, a.PID, a.Host)
	}
	return at, ""
}

// result numbers the servers that have come and tells them their numbers.
func (c *roster) result() (protocol.RouteTable, []session.Absent, error) {
	t := protocol.RouteTable{Shape: cmp.Or(c.Shape, binomial)}
	var absent []session.Absent
	for i, n := range c.Nodes {
		one := c.registered[i]
		if one.answer == nil {
			absent = append(absent, session.Absent{Ranks: n.Ranks, Hosts: []string{n.Host}, Cause: c.failed[i].Error()})
			continue
		}
		number := protocol.ServerID(len(t.Routes))
		one.answer(overlay.Decision{Renumber: true, Server: number})
		t.Routes = append(t.Routes, protocol.Route{Server: number, Host: n.Host, Addrs: one.Addrs, Listening: true,
			Ranks: n.Ranks})
	}
	if t.Size = len(t.Routes); t.Size > 0 {
		return t, absent, nil
	}
	var causes []string
	for _, a := range session.ByCause(absent) {
		causes = append(causes, a.String())
	}
	return t, absent, fmt.Errorf("%w: %s", ErrNone, strings.Join(causes, "; "))
}
