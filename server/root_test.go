package server

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"sdm/backend"
	"sdm/launch/local"
	"sdm/protocol"
	"sdm/protocol/canonical"
	"sdm/protocol/rank"
	"sdm/protocol/wire"
	"sdm/tree"
	"sdm/tree/overlay"
	"sdm/tree/overlay/overlaytest"
)

// root is a root of the tree without a master: it sends commands down a real tree and records what
// comes up.
type root struct {
	up   *fakeUp // records replies and events
	loop *overlay.Loop
	id   protocol.RequestID
	stop context.CancelFunc
	done chan struct{}
}

func newRoot(t *testing.T, dial func(ctx context.Context, child tree.NodeID, r protocol.Route) (overlay.Link, error)) *root {
	t.Helper()
	r := &root{up: newFakeUp(), done: make(chan struct{})}
	r.loop = overlay.NewLoop(overlay.LoopConfig{Node: tree.New(0), Dial: dial, Up: func(m wire.Message) {
		var in []tree.Input
		if m.Kind == wire.Events {
			in = []tree.Input{tree.LocalEvents{Groups: m.Groups}}
		}
		for _, g := range m.Groups {
			if m.Kind == wire.Reply {
				in = append(in, tree.LocalReply{ID: m.ID, Groups: []protocol.Group{g}})
			}
		}
		r.up.Post(in...)
	}})
	var ctx context.Context
	ctx, r.stop = context.WithCancel(context.Background())
	go func() { defer close(r.done); r.loop.Run(ctx) }()
	t.Cleanup(r.cut)
	return r
}

// cut ends the root without a Quit.
func (r *root) cut() { r.stop(); <-r.done }

func (r *root) send(kind wire.Kind, ranks rank.Set, body any) protocol.RequestID {
	r.id++
	r.loop.Post(tree.FromParent{Msg: wire.Message{Kind: kind, ID: r.id, Ranks: ranks, Wait: testTimeout, Body: canonical.JSON(body)}})
	return r.id
}

// ask sends a command to ranks 0..n-1 and waits for all answers.
func (r *root) ask(t *testing.T, n int, name string, args protocol.Args) {
	t.Helper()
	id := r.send(wire.Command, rank.Range(0, rank.ID(n-1)), protocol.Command{Name: name, Args: args})
	r.answered(t, id, n)
}

func (r *root) answered(t *testing.T, id protocol.RequestID, n int) {
	t.Helper()
	r.up.until(t, fmt.Sprintf("%d answers to %d", n, id), func() bool { return r.up.ranks[id] >= n })
	for _, l := range r.up.lines() {
		if text, ok := strings.CutPrefix(l, fmt.Sprintf("%d: ", id)); ok && !strings.HasPrefix(text, "reply") {
			t.Fatalf("answer to %d: %s", id, text)
		}
	}
}

// init builds a tree of servers with one rank each.
func (r *root) init(t *testing.T, addrs ...string) {
	t.Helper()
	table := protocol.RouteTable{Shape: "binomial", Size: len(addrs)}
	for i, a := range addrs {
		table.Routes = append(table.Routes, protocol.Route{Server: protocol.ServerID(i), Addrs: []string{a}, Ranks: one(rank.ID(i))})
	}
	r.answered(t, r.send(wire.Init, rank.Set{}, table), len(addrs))
}

// running is a server in this process.
type running struct {
	status int
	err    error
	done   chan struct{}
}

func start(t *testing.T, ctx context.Context, cfg Config, links Links) *running {
	t.Helper()
	cfg.Host, cfg.Forker = "here", local.NewForker()
	if cfg.NewBackend == nil {
		cfg.NewBackend = func(k backend.Sink) (backend.Backend, error) {
			return &fakeBackend{sink: k, targets: map[rank.ID]backend.Target{}}, nil
		}
	}
	r := &running{done: make(chan struct{})}
	go func() { defer close(r.done); r.status, r.err = Run(ctx, cfg, links) }()
	return r
}

func (r *running) wait(t *testing.T) {
	t.Helper()
	select {
	case <-r.done:
	case <-time.After(testTimeout):
		t.Fatal("the server does not end")
	}
}

// pair makes a root and one server over a memory link; it returns the root's end of the link.
func pair(t *testing.T, cfg Config) (*root, *running, overlay.Link) {
	t.Helper()
	ours, theirs := overlaytest.Pipe()
	r := newRoot(t, func(context.Context, tree.NodeID, protocol.Route) (overlay.Link, error) { return ours, nil })
	s := start(t, t.Context(), cfg, Links{Parent: theirs})
	r.init(t, "")
	return r, s, ours
}

func sleeper() protocol.Args {
	return protocol.Args{Job: &protocol.Job{Program: "sleep", Args: []string{"1000"}}}
}

// pidOf returns the process of rank 0, from the started event.
func (r *root) pidOf(t *testing.T) int {
	t.Helper()
	line := r.up.untilLine(t, "started [0]")
	_, text, _ := strings.Cut(line, "pid=")
	var pid int
	if _, err := fmt.Sscanf(text, "%d[0]", &pid); err != nil {
		t.Fatalf("no pid in %q", line)
	}
	return pid
}
