// Makes the session that a front end asks for: rendezvous, tree, master.

package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"sync"
	"time"

	"sdm/launch"
	"sdm/master"
	"sdm/master/frontend/rpc"
	"sdm/master/registration"
	"sdm/master/session"
	"sdm/protocol"
	"sdm/tree"
	"sdm/tree/overlay"
)

// builder makes the session that the front end asks for, and ends it. Its methods are not called
// concurrently.
//
// Goroutine: one that refuses late servers, from the end of a registration until close.
type builder struct {
	o     *options
	log   *slog.Logger
	own   launch.Identity // our place in a starter's job
	key   overlay.Secret  // of the session
	build string
	job   string            // the resource manager's ID of it; "" outside of one
	say   func(text string) // writes a message to standard error

	door   *overlay.RendezvousListener // nil: servers do not register
	calls  *callers                    // connections to door
	first  chan overlay.Link           // capacity 1: the link to server 0 that awaitServers has made
	master *master.Master              // nil: no tree was asked for
	failed error                       // why the last attempt to build a tree failed; nil: it did not

	registered registration.Registered // registrations so far
	gathered   *protocol.RouteTable    // the complete registration; nil: not complete
	refused    *registration.Refused   // why the registered servers cannot be used; nil: they can
	endRefusal context.CancelFunc      // ends the goroutine; nil: it was not started
	refusal    sync.WaitGroup          // of the goroutine
}

// reachWait is the minimum time limit for building a tree over registered servers.
const reachWait = 10 * time.Second

// listen opens the rendezvous.
func (b *builder) listen(addr string) error {
	if err := checkRendezvous(addr); err != nil {
		return err
	}
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return fmt.Errorf("--rendezvous %s: %w", addr, err)
	}
	b.calls = &callers{Listener: l}
	b.door, err = overlay.NewRendezvous(b.calls, b.key, b.identity())
	if err != nil {
		l.Close()
		return fmt.Errorf("--rendezvous %s: %w", addr, err)
	}
	b.say("servers register at " + b.door.Addr())
	return nil
}

// identity returns how the master presents itself to servers.
func (b *builder) identity() overlay.Identity {
	host, _ := os.Hostname()
	path, _ := os.Executable()
	return overlay.Identity{Session: b.o.session, Host: host, Program: path, Build: b.build}
}

// open builds the tree; it is an rpc.Open. After a failure it may be called again.
func (b *builder) open(ctx context.Context, s rpc.Setup, note func(string)) (session.Session, session.Report, error) {
	if b.master != nil {
		if err := b.end(ctx); err != nil {
			b.log.Warn("the last tree has not ended well", "err", err)
		}
	}
	wait := time.Duration(s.Wait)
	if wait == 0 {
		wait = b.o.connectWait
	}
	report, err := b.makeTree(ctx, s, wait, note)
	b.failed = err
	if err != nil {
		return nil, report, err
	}
	return b.master, report, nil
}

// reportOf returns the report of a table whose tree cannot be built.
func reportOf(table protocol.RouteTable) session.Report {
	r := session.Report{Servers: table.Size}
	for _, route := range table.Routes {
		r.Ranks = r.Ranks.Union(route.Ranks)
	}
	return r
}

// makeTree makes the master and builds its tree.
func (b *builder) makeTree(ctx context.Context, s rpc.Setup, wait time.Duration,
	note func(string)) (session.Report, error) {
	table, err := b.routes(ctx, s, wait, note)
	if err != nil {
		return reportOf(table), err
	}
	cfg := master.Config{
		Dial: b.dial, Job: b.job, Wait: b.o.wait, Heartbeat: b.o.heartbeat, Silence: b.o.silence,
		Partial: s.Partial, Log: b.log,
	}
	if b.o.heartbeat == 0 {
		cfg.Heartbeat = -1
	}
	if b.inOneLine() && b.own.Size == table.Size+1 {
		cfg.CheckProgram = b.checkProgram
	}
	if b.master, err = master.New(cfg); err != nil {
		return session.Report{}, err
	}
	if wait > 0 && b.gathered != nil { // a short wait must not lose registered servers
		wait = max(wait, reachWait)
	}
	return b.master.Init(ctx, table, max(wait, 0))
}

// firstServer is the vertex of server 0, a child of the root in each shape.
const firstServer tree.NodeID = 1

// takeFirst returns the link that awaitServers has made, once; nil if there is none.
func (b *builder) takeFirst() overlay.Link {
	select {
	case link := <-b.first:
		return link
	default:
		return nil
	}
}

// dial makes a link to a child of the root; see master.Config.
func (b *builder) dial(ctx context.Context, child tree.NodeID, r protocol.Route) (overlay.Link, error) {
	if len(r.Addrs) == 0 {
		return nil, errors.New("it never registered")
	}
	if child == firstServer {
		if link := b.takeFirst(); link != nil {
			return link, nil
		}
	}
	link, _, err := overlay.Dial(ctx, r.Addrs, r.Ports, b.key, b.identity(), child)
	return link, err
}

// inOneLine reports whether we seem to be the last process of the servers' own job: N servers and
// one master are N+1 processes, as the original SDM was started.
func (b *builder) inOneLine() bool {
	return b.own.Size > 1 && b.own.Number == b.own.Size-1
}

// checkProgram is a master.Config.CheckProgram.
func (b *builder) checkProgram(program string) error { return checkProgram(program, b.own.Size) }

// end ends the session with its servers and the ranks that they started.
func (b *builder) end(ctx context.Context) error {
	if b.master == nil {
		return nil
	}
	err := b.master.Close(ctx)
	b.master = nil
	return err
}

// close ends the rendezvous.
func (b *builder) close() error {
	if b.endRefusal != nil {
		b.endRefusal()
		b.refusal.Wait()
	}
	if link := b.takeFirst(); link != nil { // the tree was not built
		link.Close()
	}
	if b.door == nil {
		return nil
	}
	if b.refused != nil {
		b.refused.Report(context.Background(), b.door)
	}
	return b.door.Close()
}

var errNoRoutes = errors.New("where are the servers? name a table, a routing_file or a rendezvous (or start sdm-master with --routing-file or --rendezvous)")
