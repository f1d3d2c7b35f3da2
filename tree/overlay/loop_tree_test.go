// The loop with real vertices.

package overlay

import (
	"context"
	"fmt"
	"testing"
	"time"

	"sdm/protocol"
	"sdm/protocol/canonical"
	"sdm/protocol/rank"
	"sdm/protocol/wire"
	"sdm/tree"
)

// A tree of real vertices and links: Init builds it, a command reaches all ranks,
// one answer comes back, and Quit ends every loop.
func TestTree(t *testing.T) {
	const servers, ranksEach = 6, 4
	secret := NewSecret()
	self := func(v int) Identity { return Identity{Node: tree.NodeID(v), Session: "s", Size: servers} }
	dial := func(v int) func(context.Context, tree.NodeID, protocol.Route) (Link, error) {
		return func(ctx context.Context, child tree.NodeID, r protocol.Route) (Link, error) {
			link, _, err := Dial(ctx, r.Addrs, r.Ports, secret, self(v), child)
			return link, err
		}
	}
	ctx := testContext(t)
	table := protocol.RouteTable{Shape: "binomial", Size: servers}
	var ends []<-chan error
	for i := range servers {
		l := listenAs(t, secret, self(i+1))
		table.Routes = append(table.Routes, protocol.Route{Server: protocol.ServerID(i), Host: fmt.Sprint("node", i),
			Addrs: []string{l.Addr()}, Ranks: rank.Range(rank.ID(i*ranksEach), rank.ID(i*ranksEach+ranksEach-1))})
		ends = append(ends, async(func() error { return serveTree(ctx, l, i, dial(i+1)) }))
	}
	up := make(chan wire.Message, 100)
	root := NewLoop(LoopConfig{Node: tree.New(0), Dial: dial(0), Up: func(m wire.Message) { up <- m }})
	ends = append(ends, async(func() error { return root.Run(ctx) }))
	ask := func(m wire.Message) rank.Set {
		root.Post(tree.FromParent{Msg: m})
		var answered rank.Set
		for {
			reply := await(t, "an answer", up)
			for _, g := range reply.Groups {
				if g.Kind != protocol.KindResult {
					t.Fatalf("answer: %v", reply)
				}
				answered = answered.Union(g.Ranks)
			}
			if reply.Flags&wire.Final != 0 {
				return answered
			}
		}
	}
	if got := ask(wire.Message{Kind: wire.Init, ID: 1, Wait: testTimeout, Body: canonical.JSON(table)}); got.String() != "0-5" {
		t.Fatalf("servers %v are ready", got)
	}
	for id := protocol.RequestID(2); id < 20; id++ {
		got := ask(wire.Message{Kind: wire.Command, ID: id, Wait: time.Minute, Ranks: rank.Range(1, 22), Body: []byte("{}")})
		if got.String() != "1-22" {
			t.Fatalf("ranks %v have answered", got)
		}
	}
	root.Post(tree.FromParent{Msg: quit})
	for _, end := range ends {
		check(t, await(t, "the end", end))
	}
}

// serveTree runs a server whose ranks answer at once.
func serveTree(ctx context.Context, l *Listener, i int, dial func(context.Context, tree.NodeID, protocol.Route) (Link, error)) error {
	link, _, err := l.Accept(ctx)
	if err != nil {
		return err
	}
	var loop *Loop
	loop = NewLoop(LoopConfig{
		Node: tree.New(tree.NodeID(i + 1)), Parent: link, Dial: dial,
		Init: func(tree.DeliverInit) {
			loop.Post(tree.LocalReady{Group: protocol.Group{Kind: protocol.KindResult, Ranks: rank.Of(rank.ID(i)), Body: []byte("{}")}})
		},
		Deliver: func(d tree.Deliver) {
			loop.Post(tree.LocalReply{ID: d.ID, Groups: []protocol.Group{{Kind: protocol.KindResult, Ranks: d.Ranks, Body: []byte("{}")}}})
		},
	})
	return loop.Run(ctx)
}
