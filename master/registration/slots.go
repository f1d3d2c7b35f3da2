// Registration of servers that a starter has started in its slots.

package registration

import (
	"context"
	"errors"
	"fmt"
	"time"

	"sdm/protocol"
	"sdm/protocol/rank"
	"sdm/tree/overlay"
)

// Slots collects the servers that a starter has started in its slots: one in each slot, or one for
// all slots of a node.
type Slots struct {
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
	// Earlier are the registrations of earlier collections that have failed; new ones are added.
	// nil: there was no earlier collection, and none will follow.
	Earlier *Registered
	// Wait is how long registrations are awaited; 0 is no limit but the context's.
	Wait time.Duration
	// Only are the ranks whose servers are awaited; nil is all ranks. It applies where one server
	// is for all slots of its node.
	Only *rank.Set
	// Partial continues with the servers that have come when the wait is over, if there is one. The
	// others are in the table without an address: a server that knows its number keeps it. In a
	// flat tree no vertex is below one of them.
	Partial bool
}

// Registered are servers that registered in collections that have failed: they will not register
// again. The zero value is empty.
type Registered struct {
	byServer map[protocol.ServerID]overlay.Registration
	nodes    []arrival // these wait for their numbers
}

// refusingTime is how long, after the first refusal, servers that register are told that their
// program is refused. They register at about the same time, and a server that finds no rendezvous
// any more would wait for it.
const refusingTime = 5 * time.Second

// Collect waits until all servers have registered and makes the routing table. Server i is for rank
// i, or, where one server is for all slots of its node, Collect numbers the servers. It refuses a
// number beyond the last, or one that another process has taken, and names the hosts. When the wait
// or ctx is over, the error names the servers that never came and the refusals; it is a *Refused if
// CheckProgram has refused a program.
func (s Slots) Collect(ctx context.Context, l Registrar) (protocol.RouteTable, error) {
	if s.Wait > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, s.Wait, errOverdue(s.Wait))
		defer cancel()
	}
	if s.Earlier == nil {
		s.Earlier = &Registered{}
	}
	if len(s.Earlier.nodes) > 0 {
		return s.collectNodes(ctx, l)
	}
	c := slotRoster{want: s.Servers, own: s.OwnJob, byServer: s.Earlier.byServer}
	c.resume()
	s.Earlier.byServer = c.byServer
	for c.want == 0 || len(c.byServer) < c.want {
		r, answer, err := l.Accept(ctx)
		switch {
		case s.isEnough(ctx, err, len(c.byServer)):
			return c.table(s.Shape), nil
		case err != nil:
			return protocol.RouteTable{}, c.incomplete(err)
		}
		// Servers of existing ranks have no slot; the master is not one of these ranks.
		if !r.Ranks.IsEmpty() && len(c.byServer) == 0 && (!s.OwnJob || r.Slot == "") {
			return s.collectNodes(ctx, l, arrival{r, answer})
		}
		if refusal := c.add(r); refusal != "" {
			c.refusals.add(refusal)
			answer(overlay.Decision{Refusal: refusal})
			continue
		}
		if s.CheckProgram != nil && r.Slot != "" {
			if err := s.CheckProgram(r.Slot); err != nil {
				return protocol.RouteTable{}, &Refused{err, answer, c}
			}
		}
		answer(overlay.Decision{})
		if s.Progress != nil {
			s.Progress(len(c.byServer), c.want)
		}
	}
	return c.table(s.Shape), nil
}

// errOverdue is the cause of the end of a collection when its wait is over.
type errOverdue time.Duration

func (e errOverdue) Error() string { return fmt.Sprintf("none came in %v", time.Duration(e)) }

// isEnough reports whether an Accept has failed because the wait is over, and the tree is built
// without the missing servers.
func (s Slots) isEnough(ctx context.Context, err error, come int) bool {
	var overdue errOverdue
	return err != nil && s.Partial && come > 0 && errors.As(context.Cause(ctx), &overdue)
}

// Refused is the error of a collection in which a server runs in the slot of a program that cannot
// be debugged. The servers still wait for their answer: a server that is refused ends, and a starter
// may then end its whole job, the master included, before the front end knows the reason. The caller
// reports the reason to the front end and then calls Report.
type Refused struct {
	because error
	first   func(overlay.Decision) // answers the server whose program was refused
	c       slotRoster
}

func (r *Refused) Error() string { return r.because.Error() }

func (r *Refused) Unwrap() error { return r.because }

// Report refuses the servers that have not been answered, for the reason of r, also those that come
// soon.
func (r *Refused) Report(ctx context.Context, l Registrar) {
	r.first(overlay.Decision{Refusal: r.Error()})
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
		answer(overlay.Decision{Refusal: refusal})
	}
}

// RefuseLate refuses servers that come to the rendezvous after the collection, until ctx is done:
// otherwise they would wait without any message.
func RefuseLate(ctx context.Context, l Registrar, servers int) {
	c := slotRoster{want: servers, byServer: map[protocol.ServerID]overlay.Registration{}}
	for {
		r, answer, err := l.Accept(ctx)
		if err != nil {
			return
		}
		refusal := c.add(r)
		if refusal == "" {
			refusal = fmt.Sprintf("server %d on %s has registered too late: the tree is built", r.Server, r.Host)
		}
		answer(overlay.Decision{Refusal: refusal})
	}
}

// collectNodes continues after the first server that has registered with ranks, now or in an
// earlier collection.
func (s Slots) collectNodes(ctx context.Context, l Registrar, first ...arrival) (protocol.RouteTable, error) {
	n := nodeRoster{ranks: s.Servers, only: s.Only}
	take := func(one arrival) {
		if refusal := n.add(one.Registration, one.answer); refusal != "" {
			n.refusals.add(refusal)
			one.answer(overlay.Decision{Refusal: refusal})
		} else if s.Progress != nil {
			s.Progress(n.have().Len(), n.awaited().Len())
		}
	}
	for _, one := range append(s.Earlier.nodes, first...) {
		take(one)
	}
	s.Earlier.nodes = nil
	for n.ranks == 0 || !n.missing().IsEmpty() {
		r, answer, err := l.Accept(ctx)
		if s.isEnough(ctx, err, len(n.arrived)) {
			break
		}
		if err != nil {
			s.Earlier.nodes = n.arrived
			return protocol.RouteTable{}, n.incomplete(err)
		}
		take(arrival{r, answer})
	}
	n.number()
	return n.table(s.Shape), nil
}
