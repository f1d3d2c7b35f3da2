// Package cluster is a complete debugger in one process: a master, servers with simulated ranks,
// and in-memory links between them. The vertices are the same as in real sessions, and packets are
// encoded as on real links.
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

// RanksPerServer is the default number of ranks of a server, as on a large node.
const RanksPerServer = 64

// Config tells how large the cluster is and what its ranks do.
type Config struct {
	Ranks int
	// Servers is the number of servers. Each has a block of consecutive ranks. 0: one for each
	// RanksPerServer ranks, and at least 4 (or one for each rank), so that the tree has some
	// depth.
	Servers int
	// Shape is the shape of the tree, see topology.ParseShape. "": binomial.
	Shape string
	// Script tells what the ranks do.
	Script Script
	// Wait is the default wait of calls; see master.Config.
	Wait time.Duration
	// Linger is how long servers wait for a new parent; see server.Config.
	Linger time.Duration
	Log    *slog.Logger // nil: no log
	// Sink returns an observer between the back end of a server and its vertex. nil: none.
	Sink func(backend.Sink) backend.Sink
}

// WithDefaults replaces zero values by the defaults.
func (c Config) WithDefaults() Config {
	if c.Servers == 0 {
		c.Servers = max((c.Ranks+RanksPerServer-1)/RanksPerServer, min(c.Ranks, 4))
	}
	if c.Shape == "" {
		c.Shape = "binomial"
	}
	return c
}

// Validate returns an error that names the invalid field.
func (c Config) Validate() error {
	switch c = c.WithDefaults(); {
	case c.Ranks < 1 || c.Ranks > int(rank.MaxID):
		return fmt.Errorf("%d ranks: their number is 1 to %d", c.Ranks, rank.MaxID)
	case c.Servers < 1 || c.Servers > c.Ranks:
		return fmt.Errorf("%d servers: their number is 1 to that of the ranks, %d", c.Servers, c.Ranks)
	}
	return nil
}

// Cluster is a master and its servers. New starts them, Build builds the tree, and Close must be
// called.
//
// Goroutines: one for each server (its server.Run, which lists its own), the carriers of the links,
// the ringers of the clock, and from Build on one that executes the script's actions. Close waits
// for all.
type Cluster struct {
	Master    *master.Master
	carriers  *overlay.ReaderPool
	clock     *clock     // nil: ranks take no time
	behaviour sim.Config // of the ranks of all servers
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
	kill  context.CancelFunc // ends it as kill -9 would
	err   error              // of Run; read after the group has ended
}

// New starts the servers, and a master without a tree.
func New(cfg Config) (*Cluster, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	c := &Cluster{cfg: cfg.WithDefaults()}
	c.behaviour = c.cfg.Script.Behaviour
	c.behaviour.Size, c.behaviour.Library = c.cfg.Ranks, sim.NewLibrary()
	c.ctx, c.cancel = context.WithCancel(context.Background())
	var err error
	c.Master, err = master.New(master.Config{Dial: c.dialer(overlay.Identity{Size: c.cfg.Servers, Host: "here"}),
		Wait: c.cfg.Wait, Log: c.cfg.Log,
		Heartbeat: -1}) // an in-memory link ends with its server
	if err != nil {
		c.cancel()
		return nil, err
	}
	c.carriers = overlay.NewReaderPool(runtime.GOMAXPROCS(0))
	if c.behaviour.Clock != nil {
		c.clock = newClock(runtime.GOMAXPROCS(0) / 2) // the other half carries packets
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

// newNode returns server i, which is not started.
func (c *Cluster) newNode(i int) *node {
	first := func(i int) int { return int(int64(i) * int64(c.cfg.Ranks) / int64(c.cfg.Servers)) }
	return &node{
		ranks: rank.Range(rank.ID(first(i)), rank.ID(first(i+1)-1)),
		self:  server.NewSelf(overlay.Identity{Node: tree.NodeID(i) + 1, Size: c.cfg.Servers, Host: host(i)}),
		door:  newDoor(c.carriers),
	}
}

// host returns the name of the simulated host of a server.
func host(i int) string { return "node" + strconv.Itoa(i) }

// serve runs one server.
func (c *Cluster) serve(ctx context.Context, i int, n *node) error {
	r, err := c.prepare(i, n)
	if err != nil {
		return err
	}
	if _, err = r.Run(ctx); err != nil && ctx.Err() != nil {
		return nil // the server or the cluster was killed
	}
	return err
}

// prepare makes the vertex of a server.
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

// answers returns how many answers a server keeps for expand. Real servers have memory of their
// own; the servers of a large cluster share it.
func (c *Cluster) answers() int {
	const most, ranks = 64, 16 << 10
	return min(max(most*ranks/c.cfg.Ranks, 1), most)
}

// dialer returns the function by which a vertex connects to its children.
func (c *Cluster) dialer(self overlay.Identity) func(
	context.Context, tree.NodeID, protocol.Route) (overlay.Link, error) {
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
			me = c.servers[me.Node-1].self.Identity() // of the current epoch
		}
		_, err = overlay.Greet(ctx, link, me, child)
		return link, err
	}
}

// Build builds the tree within wait (0: no limit). The times of the script's actions count from its
// end.
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

// act executes the script's actions.
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

// Kill ends servers as kill -9 would. Invalid numbers are ignored.
func (c *Cluster) Kill(servers rank.Set) {
	for s := range servers.All() {
		if int(s) < len(c.servers) {
			c.servers[s].door.Close()
			c.servers[s].kill()
		}
	}
}

// Ranks returns the ranks of servers.
func (c *Cluster) Ranks(servers rank.Set) rank.Set {
	var all rank.Set
	for s := range servers.All() {
		if int(s) < len(c.servers) {
			all = all.Union(c.servers[s].ranks)
		}
	}
	return all
}

// Close ends the session, unless it has ended already, and waits for the servers. When ctx ends,
// they are killed. The error names servers that ended badly.
func (c *Cluster) Close(ctx context.Context) error {
	err := c.Master.Close(ctx)
	stop := context.AfterFunc(ctx, c.cancel)
	over := make(chan struct{})
	go func() {
		defer close(over)
		for _, n := range c.servers {
			<-n.door.shut
		}
		c.cancel() // only act is left
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
