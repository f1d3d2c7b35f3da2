// Vertices and loops for tests.

package overlay

import (
	"context"
	"fmt"
	"testing"
	"time"

	"sdm/protocol"
	"sdm/protocol/rank"
	"sdm/protocol/wire"
	"sdm/tree"
)

// script is a vertex that records its inputs and does what a test says.
type script struct {
	seen chan tree.Input
	do   func(now time.Duration, in tree.Input) []tree.Output
}

func newScript(do func(time.Duration, tree.Input) []tree.Output) *script {
	return &script{seen: make(chan tree.Input, 10000), do: do}
}

func (s *script) Step(now time.Duration, in tree.Input) []tree.Output {
	s.seen <- in
	return s.do(now, in)
}

// vertex returns a minimal behaviour of a vertex: commands go to child 1 if connect
// is set and to its own ranks otherwise, everything else goes up.
func vertex(connect bool) func(time.Duration, tree.Input) []tree.Output {
	return func(_ time.Duration, in tree.Input) []tree.Output {
		switch in := in.(type) {
		case tree.FromParent:
			switch {
			case in.Msg.Kind == wire.Init:
				return []tree.Output{tree.Connect{Child: 1, Wait: time.Second}}
			case in.Msg.Kind == wire.Quit:
				return []tree.Output{tree.ToChild{Child: 1, Msg: in.Msg}, tree.DeliverQuit{}}
			case connect:
				return []tree.Output{tree.ToChild{Child: 1, Msg: in.Msg}}
			}
			return []tree.Output{tree.Deliver{ID: in.Msg.ID, Body: in.Msg.Body}}
		case tree.FromChild:
			return []tree.Output{tree.ToParent{Msg: in.Msg}}
		case tree.LocalEvents:
			return []tree.Output{tree.ToParent{Msg: wire.Message{Kind: wire.Events, Groups: in.Groups}}}
		case tree.LocalReply:
			return []tree.Output{tree.ToParent{Msg: wire.Message{Kind: wire.Reply, ID: in.ID, Groups: in.Groups}}}
		}
		return nil
	}
}

// running is a loop that runs until stop, which returns the result of Run.
type running struct {
	*Loop
	node  *script
	ended <-chan error
	stop  func() error
}

func run(t *testing.T, cfg LoopConfig, do func(time.Duration, tree.Input) []tree.Output) *running {
	t.Helper()
	node := newScript(do)
	cfg.Node = node
	ctx, cancel := context.WithCancel(context.Background())
	r := &running{Loop: NewLoop(cfg), node: node}
	done := make(chan error, 1)
	r.ended = done
	go func() {
		done <- r.Run(ctx)
		close(done)
	}()
	r.stop = func() error {
		cancel()
		return <-done // nil at the second call
	}
	t.Cleanup(func() { r.stop() })
	return r
}

// seen waits for an input of a type and skips others.
func seen[T tree.Input](t *testing.T, r *running) T {
	t.Helper()
	for {
		if in, ok := await(t, fmt.Sprintf("%T", *new(T)), r.node.seen).(T); ok {
			return in
		}
	}
}

// withChild runs a root whose only child is at the other end of the given link.
func withChild(t *testing.T, cfg LoopConfig, link Link) *running {
	t.Helper()
	cfg.Dial = func(context.Context, tree.NodeID, protocol.Route) (Link, error) { return link, nil }
	r := run(t, cfg, vertex(true))
	r.Post(tree.FromParent{Msg: wire.Message{Kind: wire.Init}})
	seen[tree.Connected](t, r)
	return r
}

func down(id int) tree.Input { return tree.FromParent{Msg: command(id, nil)} }

func answer(id int) tree.Input {
	return tree.LocalReply{ID: protocol.RequestID(id), Groups: []protocol.Group{{Kind: protocol.KindResult, Ranks: rank.Of(0)}}}
}

func events(id int, size int) wire.Message {
	return wire.Message{Kind: wire.Events, ID: protocol.RequestID(id),
		Groups: []protocol.Group{{Kind: protocol.KindStdout, Ranks: rank.Of(1), Body: make([]byte, size)}}}
}
