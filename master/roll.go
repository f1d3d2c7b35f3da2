package master

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"time"

	"sdm/master/session"
	"sdm/protocol"
	"sdm/tree/overlay"
)

// Roll registers the servers of a job whose ranks exist already, one for each node. A node whose
// server cannot come, or does not come in time, is absent; the others get their numbers when it is
// known which have come.
type Roll struct {
	Nodes []protocol.Node
	// ByHost tells that servers are identified by their hosts, because their starter has numbered
	// them; otherwise server i is that of node i.
	ByHost bool
	// Wait is how long servers are awaited; 0 is no limit.
	Wait time.Duration
	// Shape is the shape of the tree; "" is binomial.
	Shape string
	// Failed returns why the server of a node cannot come, nil if it may. It is called again after
	// each receive from Changed, for the last time when that is closed. nil: unknown.
	Failed  func(node int) error
	Changed <-chan struct{}
	// Progress is called after each registration with their number so far; nil: not called.
	Progress func(have, want int)
	// Overdue is called every OverdueAfter with the nodes that have no server yet; nil: not called.
	Overdue      func(nodes []protocol.Node, after time.Duration)
	OverdueAfter time.Duration
}

// ErrNobody is the error if no server has come.
var ErrNobody = errors.New("no server has come")

// Call waits for the servers and makes the routing table of those that have come. The others are
// returned as absent, one by one, with the reason. The error matches ErrNobody if all are absent;
// otherwise it is that of ctx, or of the rendezvous.
func (r Roll) Call(ctx context.Context, l Registrar) (protocol.RouteTable, []session.Absent, error) {
	c := &rollCall{Roll: r, come: make([]node, len(r.Nodes)), failed: make([]error, len(r.Nodes))}
	began := time.Now()
	var end, remind <-chan time.Time
	if r.Wait > 0 {
		t := time.NewTimer(r.Wait)
		defer t.Stop()
		end = t.C
	}
	if r.Overdue != nil && r.OverdueAfter > 0 {
		t := time.NewTicker(r.OverdueAfter)
		defer t.Stop()
		remind = t.C
	}
	arrivals, stop := accepting(ctx, l)
	defer stop()
	for c.ask(); c.awaited() > 0; {
		select {
		case a := <-arrivals:
			if a.err != nil {
				return protocol.RouteTable{}, nil, a.err
			}
			c.arrived(a.node)
		case _, more := <-r.Changed:
			if c.ask(); !more {
				r.Changed = nil
			}
		case <-remind:
			r.Overdue(c.missing(), time.Since(began))
		case <-end:
			c.giveUp(fmt.Errorf("the server has not come in %v (of --connect-wait, which gdbs have a part of)", r.Wait.Round(time.Second/10)))
		case <-ctx.Done():
			return protocol.RouteTable{}, nil, context.Cause(ctx)
		}
	}
	return c.result()
}

// comer is a registration, or the error after which there will be none.
type comer struct {
	node
	err error
}

// accepting receives registrations in the background until stop, which waits for it. A registration
// that is not taken before that is refused.
func accepting(ctx context.Context, l Registrar) (<-chan comer, func()) {
	ctx, cancel := context.WithCancel(ctx)
	out, over := make(chan comer), make(chan struct{})
	go func() {
		defer close(over)
		for {
			r, answer, err := l.Accept(ctx)
			a := comer{node: node{r, answer}, err: err}
			select {
			case out <- a:
			case <-ctx.Done():
				if err == nil {
					answer(overlay.Verdict{Refusal: fmt.Sprintf("the server on %s comes too late", r.Host)})
				}
				return
			}
			if err != nil {
				return
			}
		}
	}()
	return out, func() {
		cancel()
		<-over
	}
}

// rollCall is the state of a Roll: the servers that have come, and those that will not. It is pure,
// except for the answers.
type rollCall struct {
	Roll
	come      []node   // by node; without an answer: not yet
	failed    []error  // by node
	strangers []string // hosts of servers that belong to no node
}

// awaited returns how many may still come.
func (c *rollCall) awaited() int { return len(c.missing()) }

// missing returns the nodes whose servers may still come.
func (c *rollCall) missing() []protocol.Node {
	var nodes []protocol.Node
	for i, n := range c.Nodes {
		if c.come[i].answer == nil && c.failed[i] == nil {
			nodes = append(nodes, n)
		}
	}
	return nodes
}

// ask calls Failed for the nodes whose servers have not come.
func (c *rollCall) ask() {
	for i := range c.Nodes {
		if c.Failed != nil && c.come[i].answer == nil && c.failed[i] == nil {
			c.failed[i] = c.Failed(i)
		}
	}
}

func (c *rollCall) giveUp(cause error) {
	for i := range c.Nodes {
		if c.come[i].answer == nil && c.failed[i] == nil {
			c.failed[i] = cause
		}
	}
}

// arrived enters a server, or refuses it with the reason. The same process may register again,
// because its first attempt may have been interrupted.
func (c *rollCall) arrived(a node) {
	defer c.judgeStrangers()
	at, refusal := c.placeOf(a)
	if refusal != "" {
		a.answer(overlay.Verdict{Refusal: refusal})
		if at < 0 && !slices.Contains(c.strangers, a.Host) {
			c.strangers = append(c.strangers, a.Host)
		}
		return
	}
	c.come[at], c.failed[at] = a, nil
	if c.Progress != nil {
		have := 0
		for _, one := range c.come {
			if one.answer != nil {
				have++
			}
		}
		c.Progress(have, len(c.Nodes))
	}
}

// judgeStrangers checks whether the starter has placed servers on hosts without ranks, by the names
// that are known here: if these are as many as the missing servers, no other will come.
func (c *rollCall) judgeStrangers() {
	if len(c.strangers) > 0 && len(c.strangers) >= c.awaited() {
		c.giveUp(fmt.Errorf("the starter has put its server on %s, where its table has no ranks (--remote-shell CMD or --start-tool CMD starts them otherwise)", strings.Join(c.strangers, ", ")))
	}
}

// isOf tells whether a server runs on a host: by its name, or, where the table has addresses, by an
// address that it listens at.
func isOf(host string, r overlay.Registration) bool {
	return protocol.SameHost(host, r.Host) || slices.ContainsFunc(r.Addrs, func(addr string) bool {
		at, _, err := net.SplitHostPort(addr)
		return err == nil && at == host
	})
}

func (c *rollCall) placeOf(a node) (at int, refusal string) {
	at = int(a.Server)
	if c.ByHost {
		at = slices.IndexFunc(c.Nodes, func(n protocol.Node) bool { return isOf(n.Host, a.Registration) })
	}
	switch {
	case at < 0 && c.ByHost:
		return at, fmt.Sprintf("on %s the job has no ranks", a.Host)
	case at < 0 || at >= len(c.Nodes):
		return at, fmt.Sprintf("server %d on %s is beyond the %d that are awaited", a.Server, a.Host, len(c.Nodes))
	case len(a.Addrs) == 0:
		return at, fmt.Sprintf("server %d on %s listens nowhere", a.Server, a.Host)
	}
	if old := c.come[at]; old.answer != nil && (old.Host != a.Host || old.PID != a.PID) {
		return at, fmt.Sprintf("server %d is there twice: process %d on %s and process %d on %s", a.Server, old.PID, old.Host, a.PID, a.Host)
	}
	return at, ""
}

// result numbers the servers that have come and tells them their numbers.
func (c *rollCall) result() (protocol.RouteTable, []session.Absent, error) {
	t := protocol.RouteTable{Shape: c.Shape}
	if t.Shape == "" {
		t.Shape = "binomial"
	}
	var absent []session.Absent
	for i, n := range c.Nodes {
		one := c.come[i]
		if one.answer == nil {
			absent = append(absent, session.Absent{Ranks: n.Ranks, Hosts: []string{n.Host}, Cause: c.failed[i].Error()})
			continue
		}
		number := protocol.ServerID(len(t.Routes))
		one.answer(overlay.Verdict{Renumber: true, Server: number})
		t.Routes = append(t.Routes, protocol.Route{Server: number, Host: n.Host, Addrs: one.Addrs, Listening: true, Ranks: n.Ranks})
	}
	if t.Size = len(t.Routes); t.Size > 0 {
		return t, absent, nil
	}
	var causes []string
	for _, a := range session.ByCause(absent) {
		causes = append(causes, a.String())
	}
	return t, absent, fmt.Errorf("%w: %s", ErrNobody, strings.Join(causes, "; "))
}
