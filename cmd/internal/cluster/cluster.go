// Package cluster is a whole debugger in one process: a master, servers with
// simulated ranks, and links in memory between them. The vertices are the ones
// of real sessions, and packets cross the links as bytes.
package cluster

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"strconv"
	"sync"
	"time"

	"sdm/backend"
	"sdm/backend/sim"
	"sdm/master"
	"sdm/master/session"
	"sdm/protocol"
	"sdm/protocol/rank"
	"sdm/server"
	"sdm/tree"
	"sdm/tree/overlay"
)

// RanksPerServer is how many ranks a server has when nothing else is said: those
// of a large node.
const RanksPerServer = 64

// Config says how large the cluster is and what its ranks do.
type Config struct {
	Ranks int
	// Servers is how many there are; the ranks are spread over them in blocks.
	// 0: one for each RanksPerServer ranks, and at least 4 if there are ranks for
	// them, so that there is a tree to see.
	Servers int
	// Shape of the tree, as topology.ParseShape takes it. "" is binomial.
	Shape string
	// Script is what the ranks do.
	Script Script
	// Wait of calls that do not say; see master.Config.
	Wait time.Duration
	// Linger is how long servers wait for a new parent; see server.Config.
	Linger time.Duration
	Log    *slog.Logger // nil: nothing is logged
	// Sink may stand between the back end of a server and its vertex, to look at
	// what is said. nil: nothing does.
	Sink func(backend.Sink) backend.Sink
}

// WithDefaults fills in what zero stands for.
func (c Config) WithDefaults() Config {
	if c.Servers == 0 {
		c.Servers = max((c.Ranks+RanksPerServer-1)/RanksPerServer, min(c.Ranks, 4))
	}
	if c.Shape == "" {
		c.Shape = "binomial"
	}
	return c
}

// Validate says which field is wrong and why.
func (c Config) Validate() error {
	switch c = c.WithDefaults(); {
	case c.Ranks < 1 || c.Ranks > int(rank.MaxID):
		return fmt.Errorf("%d ranks: their number is 1 to %d", c.Ranks, rank.MaxID)
	case c.Servers < 1 || c.Servers > c.Ranks:
		return fmt.Errorf("%d servers: their number is 1 to that of the ranks, %d", c.Servers, c.Ranks)
	}
	return nil
}

// Cluster is one master over its servers. New starts it, Build makes the tree,
// and Close is owed.
//
// Goroutines: one for each server (its server.Run, which lists its own), the carriers
// of the links, the ringers of the clock, and from Build on one that carries out the
// script's actions. Close waits for all.
type Cluster struct {
	Master    *master.Master
	carriers  *overlay.Carriers
	clock     *clock // nil: there is no time
	behaviour sim.Config
	cfg       Config
	servers   []*node
	group     sync.WaitGroup
	ctx       context.Context
	cancel    context.CancelFunc
}

// node is one server.
type node struct {
	ranks rank.Set
	door  *door
	self  *server.Self
	kill  context.CancelFunc // as kill -9 would
	err   error              // of Run; read when the group has ended
}

// New starts the servers, and a master that has no tree yet.
func New(cfg Config) (*Cluster, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	c := &Cluster{cfg: cfg.WithDefaults()}
	c.behaviour = c.cfg.Script.Behaviour
	c.behaviour.Size, c.behaviour.Library = c.cfg.Ranks, sim.NewLibrary()
	c.ctx, c.cancel = context.WithCancel(context.Background())
	var err error
	c.Master, err = master.New(master.Config{Dial: c.dialer(overlay.Identity{Size: c.cfg.Servers, Host: "here"}), Wait: c.cfg.Wait, Log: c.cfg.Log,
		Heartbeat: -1}) // links in memory end when their servers do
	if err != nil {
		c.cancel()
		return nil, err
	}
	c.carriers = overlay.NewCarriers(runtime.GOMAXPROCS(0))
	if c.behaviour.Clock != nil {
		c.clock = newClock(runtime.GOMAXPROCS(0) / 2) // the other half carries
		c.behaviour.Clock = c.clock
	}
	for i := range c.cfg.Servers {
		c.servers = append(c.servers, c.newNode(i))
	}
	for i, n := range c.servers {
		ctx, kill := context.WithCancel(c.ctx)
		n.kill = kill
		c.group.Go(func() { n.err = c.serve(ctx, i, n) })
	}
	return c, nil
}

func (c *Cluster) newNode(i int) *node {
	first := func(i int) int { return int(int64(i) * int64(c.cfg.Ranks) / int64(c.cfg.Servers)) }
	return &node{
		ranks: rank.Range(rank.ID(first(i)), rank.ID(first(i+1)-1)),
		self:  server.NewSelf(overlay.Identity{Node: tree.NodeID(i) + 1, Size: c.cfg.Servers, Host: host(i)}),
		door:  newDoor(c.carriers),
	}
}

// host is the name of the machine that a server pretends to be on.
func host(i int) string { return "node" + strconv.Itoa(i) }

// serve is the life of one server.
func (c *Cluster) serve(ctx context.Context, i int, n *node) error {
	r, err := c.prepare(i, n)
	if err != nil {
		return err
	}
	if _, err = r.Run(ctx); err != nil && ctx.Err() != nil {
		return nil // it was killed, or the cluster was
	}
	return err
}

func (c *Cluster) prepare(i int, n *node) (*server.Runner, error) {
	n.door.self = n.self
	return server.Prepare(server.Config{
		ID: protocol.ServerID(i), Host: host(i), SimulatedPID: sim.PID, Env: []string{}, Linger: c.cfg.Linger, Log: c.cfg.Log,
		Answers: c.answers(),
		NewBackend: func(s backend.Sink) (backend.Backend, error) {
			if c.cfg.Sink != nil {
				s = c.cfg.Sink(s)
			}
			return sim.New(c.behaviour, s), nil
		},
	}, server.Links{Self: n.self, Listener: n.door, Dial: c.dialer(n.self.Identity())})
}

// answers is how many answers a server keeps for expand. Real servers have
// memory of their own; those of a large cluster share one.
func (c *Cluster) answers() int {
	const most, ranks = 8, 128 << 10
	return min(max(most*ranks/c.cfg.Ranks, 1), most)
}

// dialer makes links to children for a vertex.
func (c *Cluster) dialer(self overlay.Identity) func(context.Context, tree.NodeID, protocol.Route) (overlay.Link, error) {
	return func(ctx context.Context, child tree.NodeID, _ protocol.Route) (overlay.Link, error) {
		if int(child) < 1 || int(child) > len(c.servers) {
			return nil, fmt.Errorf("there is no server %d", child-1)
		}
		link, err := c.servers[child-1].door.knock(ctx)
		if err != nil {
			return nil, err
		}
		me := self
		if me.Node > 0 {
			me = c.servers[me.Node-1].self.Identity() // of the present epoch
		}
		_, err = overlay.Greet(ctx, link, me, child)
		return link, err
	}
}

// Build makes the tree, within wait (0 is no limit), and lets the time of the
// script's actions begin.
func (c *Cluster) Build(ctx context.Context, wait time.Duration) (session.Report, error) {
	table := protocol.RouteTable{Shape: c.cfg.Shape, Size: c.cfg.Servers}
	for i, n := range c.servers {
		table.Routes = append(table.Routes, protocol.Route{Server: protocol.ServerID(i), Host: host(i), Ranks: n.ranks})
	}
	report, err := c.Master.Init(ctx, table, wait)
	if err == nil && len(c.cfg.Script.Actions) > 0 {
		c.group.Go(c.act)
	}
	return report, err
}

// act carries out what the script has planned.
func (c *Cluster) act() {
	began := time.Now()
	for _, a := range c.cfg.Script.Actions {
		timer := time.NewTimer(a.After - time.Since(began))
		select {
		case <-timer.C:
			c.Kill(a.Kill)
		case <-c.ctx.Done():
			timer.Stop()
			return
		}
	}
}

// Kill ends servers without a word, as kill -9 would. Numbers that are none are
// passed over.
func (c *Cluster) Kill(servers rank.Set) {
	for s := range servers.All() {
		if int(s) < len(c.servers) {
			c.servers[s].door.Close()
			c.servers[s].kill()
		}
	}
}

// Ranks are those of the servers.
func (c *Cluster) Ranks(servers rank.Set) rank.Set {
	var all rank.Set
	for s := range servers.All() {
		if int(s) < len(c.servers) {
			all = all.Union(c.servers[s].ranks)
		}
	}
	return all
}

// Close ends the session, which may have been done already, and waits for the
// servers; when ctx is over they are killed. The error tells which of them ended
// badly.
func (c *Cluster) Close(ctx context.Context) error {
	err := c.Master.Close(ctx)
	stop := context.AfterFunc(ctx, c.cancel)
	over := make(chan struct{})
	go func() {
		defer close(over)
		for _, n := range c.servers {
			<-n.door.shut
		}
		c.cancel() // nobody is left but the one who acts
	}()
	c.group.Wait()
	<-over
	stop()
	c.carriers.Close()
	if c.clock != nil {
		c.clock.close()
	}
	errs := []error{err}
	for i, n := range c.servers {
		if n.err != nil && len(errs) < 10 {
			errs = append(errs, fmt.Errorf("server %d: %w", i, n.err))
		}
	}
	return errors.Join(errs...)
}
