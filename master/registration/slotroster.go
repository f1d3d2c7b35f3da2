// Servers of which each is for one slot.

package registration

import (
	"cmp"
	"fmt"

	"sdm/protocol"
	"sdm/protocol/rank"
	"sdm/tree/overlay"
)

// slotRoster is the servers that have registered so far, with one in each slot. It is pure.
type slotRoster struct {
	want     int
	own      bool
	byServer map[protocol.ServerID]overlay.Registration
	refusals refusals
}

// resume takes over the registrations of earlier collections.
func (c *slotRoster) resume() {
	if c.byServer == nil {
		c.byServer = map[protocol.ServerID]overlay.Registration{}
	}
	for _, r := range c.byServer {
		if c.want == 0 {
			c.want = max(c.jobSize(r), 0)
		}
	}
}

// jobSize returns the number of servers that the starter of a server reports; below 1 it is
// unknown.
func (c *slotRoster) jobSize(r overlay.Registration) int {
	if c.own {
		return r.Size - 1
	}
	return r.Size
}

// add enters a server, or returns the reason why not. The same process may register again, because
// its first attempt may have been interrupted.
func (c *slotRoster) add(r overlay.Registration) (refusal string) {
	if !r.Ranks.IsEmpty() {
		return fmt.Sprintf("the server of %s on %s is for all slots of its node, but others are not, or all have registered already", protocol.Ranks(r.Ranks), r.Host)
	}
	want := c.want
	if want == 0 {
		if want = c.jobSize(r); want < 1 {
			return "the master was not told how many servers come, and the starter says nothing (give the master --servers N)"
		}
	}
	if int(r.Server) < 0 || int(r.Server) >= want {
		return fmt.Sprintf("server %d on %s is beyond the %d that the master waits for, 0-%d (is --servers right?)", r.Server, r.Host, want, want-1)
	}
	if old, taken := c.byServer[r.Server]; taken && (old.Host != r.Host || old.PID != r.PID) {
		return fmt.Sprintf("two processes have registered as server %d: process %d on %s and process %d on %s", r.Server, old.PID, old.Host, r.PID, r.Host)
	}
	if len(r.Addrs) == 0 {
		return fmt.Sprintf("server %d on %s has no address", r.Server, r.Host)
	}
	c.want = want
	c.byServer[r.Server] = r
	return ""
}

// incomplete returns an error that names the servers that have not come and the refusals.
func (c *slotRoster) incomplete(err error) error {
	err = c.refusals.with(err)
	if c.want == 0 {
		return fmt.Errorf("no server has registered: %w", err)
	}
	var come []rank.ID
	for i := range c.byServer {
		come = append(come, rank.ID(i))
	}
	missing := rank.Range(0, rank.ID(c.want-1)).Minus(rank.Of(come...))
	word := "servers"
	if missing.Len() == 1 {
		word = "server"
	}
	return fmt.Errorf("%s %s of %d never registered: %w", word, missing, c.want, err)
}

func (c *slotRoster) table(shape string) protocol.RouteTable {
	t := protocol.RouteTable{Shape: cmp.Or(shape, binomial), Size: c.want}
	for i := range c.want {
		r := c.byServer[protocol.ServerID(i)] // without host and address if it has not come
		t.Routes = append(t.Routes, protocol.Route{
			Server: protocol.ServerID(i), Host: r.Host, Addrs: r.Addrs, Listening: true, Ranks: rank.Of(rank.ID(i)),
		})
	}
	return t
}
