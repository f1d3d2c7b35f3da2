package master

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"sdm/protocol"
	"sdm/protocol/rank"
	"sdm/tree/overlay"
)

// Registrar is where servers register: overlay.RendezvousListener.
type Registrar interface {
	// Accept gives the next server that has proved the secret. answer must be
	// called once.
	Accept(ctx context.Context) (r overlay.Registration, answer func(overlay.Verdict), err error)
}

// Gathering is the collecting of servers at a rendezvous.
type Gathering struct {
	// Servers is how many are awaited (or ranks, where servers stand for all slots
	// of their nodes); 0 takes the size of the job that the
	// first one was started in.
	Servers int
	// OwnJob tells that the master was started in one line with the servers, as
	// their last process: their job then has one process more than servers.
	OwnJob bool
	// Shape of the tree; "" is binomial.
	Shape string
	// Progress hears how many have come, after each; nil hears nothing.
	Progress func(have, want int)
	// CheckProgram may refuse the program of the slot that a server stands in;
	// nil lets everything pass.
	CheckProgram func(program string) error
	// Come are the servers of earlier gatherings that have failed. Those that come are
	// added. nil: there was none, and there will be none.
	Come *Come
	// Wait is how long they are awaited; 0 is no limit but that of the context.
	Wait time.Duration
	// Only are the ranks whose servers are awaited, where those of the others do not
	// come; nil is all. It counts where servers stand for ranks.
	Only *rank.Set
	// Partial goes on when the wait is over with those that have come, if anybody
	// has. The others stand in the table without an address: a server that knows its
	// number keeps it. In a flat tree nobody is behind one of them.
	Partial bool
}

// Come are servers that have come to gatherings which have failed: they will not come
// again. The zero value is nobody.
type Come struct {
	byServer map[protocol.ServerID]overlay.Registration
	nodes    []node // that wait for their numbers
}

// refusingTime is how long servers are told that their program is refused, after
// the first of them: they come at about the same time, and one that finds nobody
// any more would wait for a master that does not come.
const refusingTime = 5 * time.Second

// Gather waits until all servers have registered and makes the routing table:
// server i holds rank i, or, where servers stand for all slots of their nodes, they
// get their numbers from us. A number beyond the last, or one that another process
// has taken, is refused with the hosts named. The error names the servers that
// never came when the wait or ctx is over, and those that were refused; it is
// *Refused if CheckProgram has refused one.
func (g Gathering) Gather(ctx context.Context, l Registrar) (protocol.RouteTable, error) {
	if g.Wait > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, g.Wait, errOverdue(g.Wait))
		defer cancel()
	}
	if g.Come == nil {
		g.Come = &Come{}
	}
	if len(g.Come.nodes) > 0 {
		return g.gatherNodes(ctx, l)
	}
	c := collection{want: g.Servers, own: g.OwnJob, byServer: g.Come.byServer}
	c.resume()
	g.Come.byServer = c.byServer
	for c.want == 0 || len(c.byServer) < c.want {
		r, answer, err := l.Accept(ctx)
		switch {
		case g.isEnough(ctx, err, len(c.byServer)):
			return c.table(g.Shape), nil
		case err != nil:
			return protocol.RouteTable{}, c.incomplete(err)
		}
		if !r.Ranks.IsEmpty() && len(c.byServer) == 0 && (!g.OwnJob || r.Slot == "") { // of ranks that run: the master is none of them
			return g.gatherNodes(ctx, l, node{r, answer})
		}
		if refusal := c.add(r); refusal != "" {
			c.refusals.add(refusal)
			answer(overlay.Verdict{Refusal: refusal})
			continue
		}
		if g.CheckProgram != nil && r.Slot != "" {
			if err := g.CheckProgram(r.Slot); err != nil {
				return protocol.RouteTable{}, &Refused{err, answer, c}
			}
		}
		answer(overlay.Verdict{})
		if g.Progress != nil {
			g.Progress(len(c.byServer), c.want)
		}
	}
	return c.table(g.Shape), nil
}

// errOverdue is why a gathering ends, when that is its wait.
type errOverdue time.Duration

func (e errOverdue) Error() string { return fmt.Sprintf("none came in %v", time.Duration(e)) }

// isEnough tells whether an Accept has ended because the wait is over, and those
// that have come are to do.
func (g Gathering) isEnough(ctx context.Context, err error, come int) bool {
	var overdue errOverdue
	return err != nil && g.Partial && come > 0 && errors.As(context.Cause(ctx), &overdue)
}

// Refused is the error of a gathering in which a server stands in the slot of a
// program that cannot be debugged so. The servers wait for their answer: one that
// is refused ends, and a starter may then end its whole job, the master included,
// before the front end has heard why.
type Refused struct {
	because error
	first   func(overlay.Verdict) // the answer to the server that showed it
	c       collection
}

func (r *Refused) Error() string { return r.because.Error() }
func (r *Refused) Unwrap() error { return r.because }

// Tell gives the servers that have not been answered the reason as their refusal,
// those included that come soon.
func (r *Refused) Tell(ctx context.Context, l Registrar) {
	r.first(overlay.Verdict{Refusal: r.Error()})
	ctx, cancel := context.WithTimeout(ctx, refusingTime)
	defer cancel()
	for len(r.c.byServer) < r.c.want {
		next, answer, err := l.Accept(ctx)
		if err != nil {
			return
		}
		refusal := r.c.add(next)
		if refusal == "" {
			refusal = r.Error()
		}
		answer(overlay.Verdict{Refusal: refusal})
	}
}

// TurnAway refuses whoever still comes to a rendezvous that is over, until ctx
// is: otherwise such a server would wait without a word.
func TurnAway(ctx context.Context, l Registrar, servers int) {
	c := collection{want: servers, byServer: map[protocol.ServerID]overlay.Registration{}}
	for {
		r, answer, err := l.Accept(ctx)
		if err != nil {
			return
		}
		refusal := c.add(r)
		if refusal == "" {
			refusal = fmt.Sprintf("server %d on %s comes too late: the tree is built", r.Server, r.Host)
		}
		answer(overlay.Verdict{Refusal: refusal})
	}
}

// collection is what has come so far. It is pure.
type collection struct {
	want     int
	own      bool
	byServer map[protocol.ServerID]overlay.Registration
	refusals refusals
}

// refusals are why servers have been refused, for whoever waits for them.
type refusals []string

// mostRefusals bounds what is told of them.
const mostRefusals = 8

func (r *refusals) add(refusal string) {
	if len(*r) < mostRefusals && !slices.Contains(*r, refusal) {
		*r = append(*r, refusal)
	}
}

// with tells them behind the reason of a gathering that has failed.
func (r refusals) with(err error) error {
	if len(r) == 0 {
		return err
	}
	return fmt.Errorf("%w; %s", err, strings.Join(r, "; "))
}

// resume counts those that have come before.
func (c *collection) resume() {
	if c.byServer == nil {
		c.byServer = map[protocol.ServerID]overlay.Registration{}
	}
	for _, r := range c.byServer {
		if c.want == 0 {
			c.want = max(c.jobSize(r), 0)
		}
	}
}

// jobSize is how many servers the starter of one says that there are; below 1 it
// says nothing.
func (c *collection) jobSize(r overlay.Registration) int {
	if c.own {
		return r.Size - 1
	}
	return r.Size
}

// add takes a server in, or gives the reason why not. The same process may come
// again, because its first try may have been cut off.
func (c *collection) add(r overlay.Registration) (refusal string) {
	if !r.Ranks.IsEmpty() {
		return fmt.Sprintf("the server of ranks %s on %s stands for the slots of its node, and others do not, or all are there already", r.Ranks, r.Host)
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
		return fmt.Sprintf("server %d is there twice: process %d on %s and process %d on %s", r.Server, old.PID, old.Host, r.PID, r.Host)
	}
	if len(r.Addrs) == 0 {
		return fmt.Sprintf("server %d on %s listens nowhere", r.Server, r.Host)
	}
	c.want = want
	c.byServer[r.Server] = r
	return ""
}

// incomplete says who has not come, and who was refused.
func (c *collection) incomplete(err error) error {
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

func (c *collection) table(shape string) protocol.RouteTable {
	if shape == "" {
		shape = "binomial"
	}
	t := protocol.RouteTable{Shape: shape, Size: c.want}
	for i := range c.want {
		r := c.byServer[protocol.ServerID(i)] // without host and address if it has not come
		t.Routes = append(t.Routes, protocol.Route{
			Server: protocol.ServerID(i), Host: r.Host, Addrs: r.Addrs, Listening: true, Ranks: rank.Of(rank.ID(i)),
		})
	}
	return t
}

// maxGenerated bounds a generated table, as MaxID bounds ranks.
const maxGenerated = int(rank.MaxID)

// GenerateRoutes makes the table of n servers that are spread evenly over hosts
// in blocks, each from the same base port upwards: for starters that place
// processes that way and tell nobody.
func GenerateRoutes(hosts []string, n, base, ports int, shape string) (protocol.RouteTable, error) {
	hosts = slices.DeleteFunc(slices.Clone(hosts), func(h string) bool { return strings.TrimSpace(h) == "" })
	switch {
	case len(hosts) == 0:
		return protocol.RouteTable{}, fmt.Errorf("no hosts to generate routes for")
	case n == 0:
		n = len(hosts)
	case n < 0 || n > maxGenerated:
		return protocol.RouteTable{}, fmt.Errorf("%d servers make no sense", n)
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
