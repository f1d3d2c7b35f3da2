// A server with simulated ranks whose stops contain the time.

package main

import (
	"context"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"sdm/backend"
	"sdm/backend/sim"
	"sdm/launch/secret"
	"sdm/protocol"
	"sdm/protocol/column"
	"sdm/protocol/rank"
	"sdm/server"
	"sdm/tree"
	"sdm/tree/overlay"
)

// stepTime is how long a scripted rank takes for a step: longer than any vertex holds events back,
// so that the tree is quiet when the rank stops.
const stepTime = 150 * time.Millisecond

// columnAt is the time of a stop, in ns since 1970. All processes are on one machine.
const columnAt = "at"

// serveScripted is sdm-server with another back end: --server I --listen-fd 3 --secret-fd 4.
func serveScripted(args []string) {
	number, err := strconv.Atoi(args[0])
	if err != nil {
		fatal("scripted server", err)
	}
	key, err := secret.Read(os.NewFile(4, "secret"))
	if err != nil {
		fatal("scripted server", err)
	}
	l, err := net.FileListener(os.NewFile(3, "listener"))
	if err != nil {
		fatal("scripted server", err)
	}
	self := server.NewSelf(overlay.Identity{Node: tree.NodeID(number) + 1, Size: manyServers})
	listener, err := overlay.NewListener(l, overlay.Secret(key), self.Identity)
	if err != nil {
		fatal("scripted server", err)
	}
	_, err = server.Run(context.Background(), server.Config{
		ID: protocol.ServerID(number), NewBackend: newScripted,
	}, server.Links{Self: self, Listener: listener,
		Dial: func(ctx context.Context, child tree.NodeID, r protocol.Route) (overlay.Link, error) {
			link, _, err := overlay.Dial(ctx, r.Addrs, r.Ports, overlay.Secret(key), self.Identity(), child)
			return link, err
		}})
	if err != nil {
		fatal("scripted server", err)
	}
}

// newScripted makes ranks that reach main at once, run without end when they are continued, and
// take stepTime for a step.
func newScripted(sink backend.Sink) (backend.Backend, error) {
	return sim.New(sim.Config{
		Size: manyServers, Loop: rank.Range(0, manyServers-1), Clock: sim.Wall{},
		RunTime: func(_ rank.ID, run int) time.Duration {
			if run == 1 {
				return 0
			}
			return stepTime
		},
	}, stamped{sink}), nil
}

// stamped adds the time to stops.
type stamped struct{ backend.Sink }

// Event implements backend.Sink.
func (s stamped) Event(groups ...protocol.Group) {
	now := strconv.FormatInt(time.Now().UnixNano(), 10)
	for i, g := range groups {
		if first, ok := g.Ranks.Min(); ok && g.Kind == protocol.KindStopped {
			columns := append(slices.Clone(g.Columns), column.New(columnAt, first, now, 0))
			slices.SortFunc(columns, func(a, b column.Column) int { return strings.Compare(a.Name, b.Name) })
			groups[i].Columns = columns
		}
	}
	s.Sink.Event(groups...)
}
