// Registration of one server for each node of a job that runs.

package registration

import (
	"context"
	"errors"
	"fmt"
	"time"

	"sdm/master/session"
	"sdm/protocol"
	"sdm/tree/overlay"
)

// PerNode registers the servers of a job whose ranks exist already, one for each node. A node whose
// server cannot come, or does not come in time, is absent; the others get their numbers when it is
// known which have come.
type PerNode struct {
	Nodes []protocol.Node
	// ByHost tells that servers are identified by their hosts, because their starter has numbered
	// them; otherwise server i is on node i.
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

// ErrNone is the error if no server has registered.
var ErrNone = errors.New("no server has registered")

// Collect waits for the servers and makes the routing table of those that have come. The others are
// returned as absent, one by one, with the reason. The error matches ErrNone if all are absent;
// otherwise it comes from ctx, or from the rendezvous.
func (r PerNode) Collect(ctx context.Context, l Registrar) (protocol.RouteTable, []session.Absent, error) {
	c := &roster{PerNode: r, registered: make([]arrival, len(r.Nodes)), failed: make([]error, len(r.Nodes))}
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
			c.arrived(a.arrival)
		case _, more := <-r.Changed:
			if c.ask(); !more {
				r.Changed = nil
			}
		case <-remind:
			r.Overdue(c.missing(), time.Since(began))
		case <-end:
			c.giveUp(fmt.Errorf("the server has not registered in %v (of --connect-wait, which gdbs have a part of)", r.Wait.Round(time.Second/10)))
		case <-ctx.Done():
			return protocol.RouteTable{}, nil, context.Cause(ctx)
		}
	}
	return c.result()
}

// accepted is a registration, or the error after which there will be none.
type accepted struct {
	arrival
	err error
}

// accepting receives registrations in the background until stop, which waits for it. A registration
// that is not taken before that is refused.
func accepting(ctx context.Context, l Registrar) (<-chan accepted, func()) {
	ctx, cancel := context.WithCancel(ctx)
	out, over := make(chan accepted), make(chan struct{})
	go func() {
		defer close(over)
		for {
			r, answer, err := l.Accept(ctx)
			a := accepted{arrival: arrival{r, answer}, err: err}
			select {
			case out <- a:
			case <-ctx.Done():
				if err == nil {
					answer(overlay.Decision{Refusal: fmt.Sprintf("the server on %s has registered too late", r.Host)})
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
