// Where the routing table comes from: the front end, a file, or registrations.

package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"sdm/launch/routefile"
	"sdm/master"
	"sdm/master/frontend/rpc"
	"sdm/master/registration"
	"sdm/protocol"
	"sdm/protocol/rank"
	"sdm/tree"
	"sdm/tree/overlay"
)

// routes returns the routing table. What the front end asks for takes precedence over the flags.
func (b *builder) routes(ctx context.Context, s rpc.Setup, wait time.Duration,
	note func(string)) (protocol.RouteTable, error) {
	shape := b.o.tree
	if s.Partial { // no server may be below a missing one
		shape = "flat"
	}
	if s.Tree != "" {
		shape = s.Tree
	}
	servers := b.o.servers
	if s.Servers != 0 {
		servers = s.Servers
	}
	table, err := b.table(ctx, s, registration.Slots{Servers: servers, Shape: shape, Wait: max(wait, 0),
		Partial: s.Partial}, note)
	if err != nil {
		return table, err
	}
	if table.Shape == "" || s.Tree != "" {
		table.Shape = shape
	}
	if servers != 0 && table.Size != servers && b.gathered == nil { // registered servers may have several ranks each
		return table, fmt.Errorf("%d servers are wanted, and the routing table has %d", servers, table.Size)
	}
	return table, nil
}

// table returns the routing table, without a shape unless the table has one of its own.
func (b *builder) table(ctx context.Context, s rpc.Setup, g registration.Slots,
	note func(string)) (protocol.RouteTable, error) {
	switch {
	case s.Table != nil:
		return completed(*s.Table)
	case s.RoutingFile != "":
		return routefile.Read(ctx, s.RoutingFile)
	case s.Rendezvous != "":
		if err := b.listenAgain(s.Rendezvous); err != nil {
			return protocol.RouteTable{}, err
		}
		return b.gather(ctx, g, note)
	case b.o.routingFile != "" && b.o.frontend == frontendPTP:
		return b.awaitServers(ctx, g.Wait)
	case b.o.routingFile != "":
		return routefile.Read(ctx, b.o.routingFile)
	case b.door != nil:
		return b.gather(ctx, g, note)
	case len(b.o.hosts) > 0:
		return registration.Generate(b.o.hosts, g.Servers, b.o.port, ports, "")
	}
	return protocol.RouteTable{}, errNoRoutes
}

// completed fills in what a front end may leave out: the size, and the ranks if each server has the
// one of its own number.
func completed(t protocol.RouteTable) (protocol.RouteTable, error) {
	if t.Size == 0 {
		t.Size = len(t.Routes)
	}
	if err := master.CheckNumbers(t); err != nil {
		return t, err
	}
	routes := append([]protocol.Route(nil), t.Routes...)
	for _, r := range routes {
		if !r.Ranks.IsEmpty() {
			return t, nil
		}
	}
	for i, r := range routes {
		routes[i].Ranks = rank.Of(rank.ID(r.Server))
	}
	t.Routes = routes
	return t, nil
}

// awaitServers reads the routing file, and then asks the first server whether there is one server for
// each rank or one for each host: the starter, which tells the servers, does not tell the master. The
// link to that server becomes the tree's.
func (b *builder) awaitServers(ctx context.Context, wait time.Duration) (protocol.RouteTable, error) {
	table, err := routefile.Await(ctx, b.o.routingFile, wait)
	if err != nil {
		return table, err
	}
	if wait > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, wait)
		defer cancel()
	}
	first := table.Routes[0]
	link, found, err := overlay.Dial(ctx, first.Addrs, first.Ports, b.key, b.identity(), tree.NodeID(first.Server)+1)
	if err != nil {
		return table, fmt.Errorf("server %d on %s: %w", first.Server, first.Host, err)
	}
	b.first <- link
	if nodes := routefile.PerNode(table); found.Size == nodes.Size {
		return nodes, nil
	}
	return table, nil
}

// listenAgain opens the rendezvous that the front end names, in place of ours.
func (b *builder) listenAgain(addr string) error {
	if err := b.close(); err != nil {
		return err
	}
	b.door, b.endRefusal, b.gathered, b.registered, b.refused = nil, nil, nil, registration.Registered{}, nil
	return b.listen(addr)
}

// gather waits until the servers have registered, and then refuses late ones.
func (b *builder) gather(ctx context.Context, g registration.Slots, note func(string)) (protocol.RouteTable, error) {
	switch {
	case b.gathered != nil:
		return *b.gathered, nil
	case b.refused != nil:
		return protocol.RouteTable{}, b.refused
	}
	g.OwnJob, g.Earlier = b.inOneLine(), &b.registered
	g.Progress = func(have, want int) { note(fmt.Sprintf("%d of %d ranks have a server", have, want)) }
	if b.inOneLine() {
		g.CheckProgram = b.checkProgram
	}
	b.calls.forget()
	table, err := g.Collect(ctx, registrar{b.door, b.calls})
	errors.As(err, &b.refused)
	switch {
	case b.refused != nil:
		return table, err
	case err != nil:
		return table, b.calls.with(err)
	}
	b.gathered = &table
	turning, cancel := context.WithCancel(context.Background())
	b.endRefusal = cancel
	b.refusal.Go(func() { registration.RefuseLate(turning, b.door, table.Size) })
	return table, nil
}
