// Servers on this host, with the master in this process.

package servers

import (
	"context"
	"errors"
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

// Local consists of the servers on this host and the master, which runs in this process.
type Local struct {
	Master *master.Master

	shape   string
	per     int // ranks of one server, if there are several servers
	clock   *Clock
	servers *local.Servers
	key     secret.Key
	self    overlay.Identity

	mu   sync.Mutex
	link *local.Ends // to the only server; nil after its use
}

// StartLocal starts n servers, with more arguments than those that all servers get, and a master
// without a tree.
func (b *Builder) StartLocal(n int, more ...string) (*Local, error) {
	l := &Local{shape: b.Shape(), per: b.PerServer, clock: b.Clock, key: secret.Fresh()}
	var err error
	l.servers, err = local.StartServers(local.ServersSpec{N: n, Args: append(b.serverArgs(), more...), Key: l.key})
	if err != nil {
		return nil, err
	}
	l.link = l.servers.Link
	path, _ := os.Executable()
	l.self = overlay.Identity{Size: n, Host: HostName(), Program: path, Build: startup.Build()}
	if l.Master, err = master.New(b.masterConfig(l.dial, n == 1)); err != nil {
		l.servers.Kill()
		return nil, err
	}
	return l, nil
}

// dialer connects to a child of the root; see master.Config.
type dialer func(context.Context, tree.NodeID, protocol.Route) (overlay.Link, error)

// dial connects to a child of the root: over the socket pair, or by its address.
func (l *Local) dial(ctx context.Context, child tree.NodeID, r protocol.Route) (overlay.Link, error) {
	if len(r.Addrs) > 0 {
		link, _, err := overlay.Dial(ctx, r.Addrs, r.Ports, overlay.Secret(l.key), l.self, child)
		return link, err
	}
	l.mu.Lock()
	ends := l.link
	l.link = nil
	l.mu.Unlock()
	if ends == nil {
		return nil, errors.New("the connection to the server is used up")
	}
	link, err := overlay.FromFiles(ends.In, ends.Out, "server "+strconv.Itoa(int(r.Server)))
	if err == nil {
		_, err = overlay.Greet(ctx, link, l.self, child)
	}
	return link, err
}

// Build builds the tree over the given ranks. Each server gets a block of consecutive ones.
func (l *Local) Build(ctx context.Context, ranks []rank.ID) (session.Report, error) {
	table := protocol.RouteTable{Shape: l.shape, Size: len(l.servers.Routes)}
	per := l.per
	if table.Size == 1 {
		per = len(ranks)
	}
	for i, route := range l.servers.Routes {
		route.Ranks = rank.Of(ranks[i*per : min((i+1)*per, len(ranks))]...)
		table.Routes = append(table.Routes, route)
	}
	return l.Master.Init(ctx, table, l.clock.ForServers())
}

// lastWait is how long servers may take to end after the tree has ended. Most of them end with the
// tree.
const lastWait = 2 * time.Second

// Close ends the master, unless it has ended already, and waits for the servers. The error names
// the servers that ended badly, with the last lines of their standard error.
func (l *Local) Close() error {
	err := CloseInTime(l.Master)
	ctx, cancel := context.WithTimeout(context.Background(), lastWait)
	defer cancel()
	return errors.Join(l.servers.Close(ctx), err)
}
