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
	// Accept returns the next server that has proved the secret. answer must be called once.
	Accept(ctx context.Context) (r overlay.Registration, answer func(overlay.Verdict), err error)
}

// Gathering collects the registrations of servers at a rendezvous.
type Gathering struct {
	// Servers is the number of expected servers, or of ranks where one server is for all slots of
	// its node; 0 is the size of the job that the first server reports.
	Servers int
	// OwnJob tells that the master was started in one line with the servers, as their last process:
	// their job then has one process more than there are servers.
	OwnJob bool
	// Shape is the shape of the tree; "" is binomial.
	Shape string
	// Progress is called after each registration with their number so far; nil: not called.
	Progress func(have, want int)
	// CheckProgram may refuse the program of the slot in which a server runs; nil accepts all.
	CheckProgram func(program string) error
	// Come are the registrations of earlier gatherings that have failed; new ones are added. nil:
	// there was no earlier gathering, and none will follow.
	Come *Come
	// Wait is how long registrations are awaited; 0 is no limit but that of the context.
	Wait time.Duration
	// Only are the ranks whose servers are awaited; nil is all ranks. It applies where one server
	// is for all slots of its node.
	Only *rank.Set
	// Partial continues with the servers that have come when the wait is over, if there is one. The
	// others are in the table without an address: a server that knows its number keeps it. In a
	// flat tree no vertex is below one of them.
	Partial bool
}

// Come are servers that registered in gatherings that have failed: they will not register again.
// The zero value is empty.
type Come struct {
	byServer map[protocol.ServerID]overlay.Registration
	nodes    []node // these wait for their numbers
}

// refusingTime is how long servers are told that their program is refused, after the first of them.
// They come at about the same time, and a server that finds no rendezvous any more would wait for
// it.
const refusingTime = 5 * time.Second

// Gather waits until all servers have registered and makes the routing table. Server i is for rank
// i, or, where one server is for all slots of its node, Gather numbers the servers. It refuses a
// number beyond the last, or one that another process has taken, and names the hosts. When the wait
// or ctx is over, the error names the servers that never came and the refusals; it is a *Refused if
// CheckProgram has refused a program.
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
		// Servers of existing ranks have no slot; the master is not one of these ranks.
		if !r.Ranks.IsEmpty() && len(c.byServer) == 0 && (!g.OwnJob || r.Slot == "") {
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

// errOverdue is the cause of a gathering's end when its wait is over.
type errOverdue time.Duration

func (e errOverdue) Error() string { return fmt.Sprintf("none came in %v", time.Duration(e)) }

// isEnough tells whether an Accept has failed because the wait is over, and the tree is built
// without the missing servers.
func (g Gathering) isEnough(ctx context.Context, err error, come int) bool {
	var overdue errOverdue
	return err != nil && g.Partial && come > 0 && errors.As(context.Cause(ctx), &overdue)
}

// Refused is the error of a gathering in which a server runs in the slot of a program that cannot
// be debugged so. The servers still wait for their answer, because a server that is refused ends,
// and a starter may then end its whole job, the master included, before the front end knows the
// reason.
type Refused struct {
	because error
	first   func(overlay.Verdict) // answers the server whose program was refused
	c       collection
}

func (r *Refused) Error() string { return r.because.Error() }
func (r *Refused) Unwrap() error { return r.because }

// Tell refuses the servers that have not been answered, for the reason of r, also those that come
// soon.
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

// TurnAway refuses servers that come to the rendezvous after the gathering, until ctx is done:
// otherwise they would wait without any message.
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

// collection is the registrations so far. It is pure.
type collection struct {
	want     int
	own      bool
	byServer map[protocol.ServerID]overlay.Registration
	refusals refusals
}

// refusals are the reasons why servers were refused, to be reported to the user.
type refusals []string

// mostRefusals bounds how many are kept.
const mostRefusals = 8

func (r *refusals) add(refusal string) {
	if len(*r) < mostRefusals && !slices.Contains(*r, refusal) {
		*r = append(*r, refusal)
	}
}

// with appends the refusals to the error of a gathering.
func (r refusals) with(err error) error {
	if len(r) == 0 {
		return err
	}
	return fmt.Errorf("%w; %s", err, strings.Join(r, "; "))
}

// resume takes over the registrations of earlier gatherings.
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

// jobSize returns the number of servers that the starter of a server reports; below 1 it is
// unknown.
func (c *collection) jobSize(r overlay.Registration) int {
	if c.own {
		return r.Size - 1
	}
	return r.Size
}

// add enters a server, or returns the reason why not. The same process may register again, because
// its first attempt may have been interrupted.
func (c *collection) add(r overlay.Registration) (refusal string) {
	if !r.Ranks.IsEmpty() {
		return fmt.Sprintf("the server of %s on %s stands for the slots of its node, and others do not, or all are there already", protocol.Ranks(r.Ranks), r.Host)
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

// incomplete returns an error that names the servers that have not come and the refusals.
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

// GenerateRoutes makes the table of n servers that are spread evenly over hosts in blocks, each
// with the same base port: for starters that place processes so and do not report where.
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
