package main

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"strconv"
	"sync"
	"time"

	"sdm/cmd/internal/startup"
	"sdm/launch/local"
	"sdm/launch/secret"
	"sdm/master"
	"sdm/master/session"
	"sdm/protocol"
	"sdm/protocol/rank"
	"sdm/tree"
	"sdm/tree/overlay"
)

// cluster consists of the servers on this machine and the master, which runs in this process.
type cluster struct {
	servers *local.Servers
	key     secret.Key
	self    overlay.Identity
	master  *master.Master

	mu   sync.Mutex
	link *local.Ends // to the only server; nil after its use
}

// startCluster starts the servers, and a master without a tree.
func startCluster(o *options, log *slog.Logger) (*cluster, error) {
	c := &cluster{key: secret.Fresh()}
	var err error
	c.servers, err = local.StartServers(local.ServersSpec{N: o.servers(), Args: o.serverArgs(), Key: c.key})
	if err != nil {
		return nil, err
	}
	c.link = c.servers.Link
	host, err := os.Hostname()
	if err != nil {
		host = "localhost"
	}
	path, _ := os.Executable()
	c.self = overlay.Identity{Size: o.servers(), Host: host, Program: path, Build: startup.Build()}
	if c.master, err = master.New(o.masterConfig(c.dial, o.servers() == 1, log)); err != nil {
		c.servers.Kill()
		return nil, err
	}
	return c, nil
}

// dialer connects to a child of the root; see master.Config.
type dialer func(context.Context, tree.NodeID, protocol.Route) (overlay.Link, error)

// masterConfig returns the configuration of the master according to the options. A single server on
// a socket pair (alone) gets no heartbeats: no other server could adopt its ranks, and the kernel
// reports its end.
func (o *options) masterConfig(dial dialer, alone bool, log *slog.Logger) master.Config {
	cfg := master.Config{Dial: dial, Wait: o.wait, Heartbeat: o.heartbeat, Silence: o.silence, Log: log}
	if o.heartbeat == 0 || alone {
		cfg.Heartbeat = -1
	}
	return cfg
}

// serverArgs returns the arguments of the servers.
func (o *options) serverArgs() []string {
	args := append(o.log.Args(), "--linger", o.linger.String(), "--when-lost", o.whenLost)
	if o.connectWait > 0 {
		args = append(args, "--start-wait", o.connectWait.String())
	}
	return append(args, o.gdb.Line()...)
}

// dial connects to a child of the root: over the socket pair, or by its address.
func (c *cluster) dial(ctx context.Context, child tree.NodeID, r protocol.Route) (overlay.Link, error) {
	if len(r.Addrs) > 0 {
		link, _, err := overlay.Dial(ctx, r.Addrs, r.Ports, overlay.Secret(c.key), c.self, child)
		return link, err
	}
	c.mu.Lock()
	ends := c.link
	c.link = nil
	c.mu.Unlock()
	if ends == nil {
		return nil, errors.New("the connection to the server is used up")
	}
	link, err := overlay.FromFiles(ends.In, ends.Out, "server "+strconv.Itoa(int(r.Server)))
	if err == nil {
		_, err = overlay.Greet(ctx, link, c.self, child)
	}
	return link, err
}

// build builds the tree. Each server gets a block of consecutive ranks.
func (c *cluster) build(ctx context.Context, o *options) (session.Report, error) {
	ranks := make([]rank.ID, o.np)
	for i := range ranks {
		ranks[i] = rank.ID(i)
	}
	return c.buildOver(ctx, o, ranks)
}

// buildOver builds the tree over the given ranks, of which there are o.np.
func (c *cluster) buildOver(ctx context.Context, o *options, ranks []rank.ID) (session.Report, error) {
	table := protocol.RouteTable{Shape: o.shape(), Size: o.servers()}
	per := o.ranksPerServer
	if per == 0 {
		per = o.np
	}
	for i, route := range c.servers.Routes {
		route.Ranks = rank.Of(ranks[i*per : min((i+1)*per, o.np)]...)
		table.Routes = append(table.Routes, route)
	}
	return c.master.Init(ctx, table, o.clock.servers())
}

// lastWait is how long servers may take to end after the tree has ended. They have had the time of
// its orderly end for their own.
const lastWait = 2 * time.Second

// close ends the master, unless it has ended already, and waits for the servers. The error names
// the servers that ended badly, with the last lines of their standard error.
func (c *cluster) close() error {
	ctx, cancel := closing()
	defer cancel()
	err := c.master.Close(ctx)
	ctx, cancel = context.WithTimeout(context.Background(), lastWait)
	defer cancel()
	return errors.Join(c.servers.Close(ctx), err)
}
