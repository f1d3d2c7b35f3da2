// One server for all slots of a node.

package main

import (
	"context"
	"fmt"
	"net"
	"time"

	"sdm/launch/local"
	"sdm/protocol/rank"
)

// neighbourWait is how long the server of a node waits for its other slots, which starters start at
// about the same time. The master reports missing ranks.
const neighbourWait = 20 * time.Second

// node is what a slot knows of the other slots of its node.
type node struct {
	remotes []*local.Remote // the stand-ins, if we are the server
	ranks   rank.Set        // own and theirs
}

// joinNode decides whether this process is the server of its node (--per-node). If not, it runs as
// a stand-in, and returns the status to exit with. With --ranks the number of controlled slots is
// unknown, and each of them has a server.
func (p *program) joinNode(ctx context.Context) (standIn bool, status int, err error) {
	own := rank.ID(p.number.Number)
	p.cfg.SlotRank = own
	p.node = &node{ranks: rank.Of(own)}
	if !p.sharesNode() {
		p.o.unstage() // no other slot will start it
		return false, 0, nil
	}
	var host *local.NodeHost
	var conn *net.UnixConn
	err = p.unlessEnding(ctx, func(ctx context.Context) (err error) {
		host, conn, err = p.meetNode(ctx)
		return err
	})
	if err != nil {
		return false, 0, err
	}
	if conn != nil {
		s := &local.StandIn{Rank: own, Env: p.env, Forker: p.cfg.Forker, Conn: conn, Ending: p.ending, Signals: p.cfg.Signals}
		if p.cfg.Slot != nil {
			s.Program, s.Args = p.cfg.Slot.Program, p.cfg.Slot.Args
		}
		return true, s.Run(), nil
	}
	err = p.unlessEnding(ctx, func(ctx context.Context) error {
		p.gatherNode(ctx, host)
		return nil
	})
	p.o.unstage() // all slots have started
	return false, 0, err
}

// meetNode makes this process the server of its node, or connects to it. By a routing file the lowest
// rank of the node is the server, because the master dials its port; otherwise the first that comes
// is.
func (p *program) meetNode(ctx context.Context) (*local.NodeHost, *net.UnixConn, error) {
	key, err := p.nodeKey()
	if err != nil {
		return nil, nil, err
	}
	if p.route == nil || p.number.Local == 0 {
		return local.JoinNode(ctx, key)
	}
	ctx, cancel := context.WithTimeout(ctx, neighbourWait)
	defer cancel()
	conn, err := local.FindNode(ctx, key)
	return nil, conn, err
}

// gatherNode waits for the stand-ins.
func (p *program) gatherNode(ctx context.Context, host *local.NodeHost) {
	defer host.Close()
	ctx, cancel := context.WithTimeout(ctx, neighbourWait)
	defer cancel()
	want := p.number.LocalSize - 1
	p.node.remotes = host.Gather(ctx, want, func(text string) {
		select {
		case p.ending <- text:
		default: // an end is announced already
		}
	})
	p.cfg.Remotes = map[rank.ID]*local.Remote{}
	for _, g := range p.node.remotes {
		p.cfg.Remotes[g.Rank] = g
		p.node.ranks = p.node.ranks.Union(rank.Of(g.Rank))
	}
	if have := len(p.node.remotes); have < want {
		p.log.Warn(fmt.Sprintf("only %d of the %d other slots of this node have come in %v", have, want, neighbourWait), "host", p.cfg.Host)
	}
}

// dismiss ends the stand-ins. Each exits as its rank did.
func (n *node) dismiss() {
	if n == nil {
		return
	}
	for _, g := range n.remotes {
		g.Dismiss()
	}
}
