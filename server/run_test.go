package server

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"sdm/backend"
	"sdm/launch/local"
	"sdm/protocol"
	"sdm/protocol/rank"
	"sdm/protocol/wire"
	"sdm/tree"
	"sdm/tree/overlay"
)

// root is a master without a head: it sends commands down a real tree and keeps
// what comes up.
type root struct {
	up   *fakeUp // as the log
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
				in = append(in, tree.LocalReply{ID: m.ID, Group: g})
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

// cut ends the root without a word.
func (r *root) cut() { r.stop(); <-r.done }

func (r *root) send(kind wire.Kind, ranks rank.Set, body any) protocol.RequestID {
	r.id++
	r.loop.Post(tree.FromParent{Msg: wire.Message{Kind: kind, ID: r.id, Ranks: ranks, Wait: patience, Body: protocol.Canonical(body)}})
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
	case <-time.After(patience):
		t.Fatal("the server does not end")
	}
}

// pair makes a root and one server over a memory link; it gives the root's end.
func pair(t *testing.T, cfg Config) (*root, *running, overlay.Link) {
	t.Helper()
	ours, theirs := overlay.Pipe()
	r := newRoot(t, func(context.Context, tree.NodeID, protocol.Route) (overlay.Link, error) { return ours, nil })
	s := start(t, t.Context(), cfg, Links{Parent: theirs})
	r.init(t, "")
	return r, s, ours
}

func sleeper() protocol.Args {
	return protocol.Args{Job: &protocol.Job{Program: "sleep", Args: []string{"1000"}}}
}

// pidOf finds the process of rank 0 in what was told.
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

func TestRunFromInitToQuit(t *testing.T) {
	r, s, _ := pair(t, Config{Slot: &protocol.Job{Program: "sh", Args: []string{"-c", "echo hello; exit 7"}}})
	r.ask(t, 1, "launch", protocol.Args{Job: &protocol.Job{}})
	r.ask(t, 1, "continue", protocol.Args{})
	r.up.untilLine(t, "exited [0]")
	if got := r.up.output("out 0"); got != "hello\n" {
		t.Errorf("output %q", got)
	}
	select {
	case <-s.done:
		t.Error("the slot has ended with its rank and not with the session")
	default:
	}
	r.send(wire.Quit, rank.Set{}, struct{}{})
	s.wait(t)
	if s.status != 7 || s.err != nil {
		t.Errorf("status %d, %v; want that of the rank", s.status, s.err)
	}
}

func TestQuitKillsRanks(t *testing.T) {
	r, s, _ := pair(t, Config{})
	r.ask(t, 1, "launch", sleeper())
	pid := r.pidOf(t)
	r.send(wire.Quit, rank.Set{}, struct{}{})
	s.wait(t)
	if !isGone(pid) || s.status != 0 || s.err != nil {
		t.Errorf("rank gone: %v; status %d, %v", isGone(pid), s.status, s.err)
	}
}

func TestLostParentEndsTheServer(t *testing.T) {
	for _, linger := range []time.Duration{0, 20 * time.Millisecond} {
		t.Run(linger.String(), func(t *testing.T) {
			r, s, _ := pair(t, Config{Linger: linger})
			r.ask(t, 1, "launch", sleeper())
			pid := r.pidOf(t)
			r.cut()
			s.wait(t)
			if !isGone(pid) || s.err != nil {
				t.Errorf("rank gone: %v; %v", isGone(pid), s.err)
			}
		})
	}
}

func TestLostMasterLetsRanksRun(t *testing.T) {
	letGo := make(chan struct{})
	r, s, _ := pair(t, Config{LetRun: true, LetGo: func() { close(letGo) }})
	r.ask(t, 1, "launch", sleeper())
	r.ask(t, 1, "continue", protocol.Args{})
	pid := r.pidOf(t)
	r.cut()
	select {
	case <-s.done:
		t.Error("the server does not stay with the rank that runs on")
	case <-letGo:
	case <-time.After(patience):
		t.Fatal("the rank is not let go")
	}
	if isGone(pid) {
		t.Error("the rank is gone")
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Error(err)
	}
	s.wait(t)
}

func TestContextEndsTheServer(t *testing.T) {
	ours, theirs := overlay.Pipe()
	r := newRoot(t, func(context.Context, tree.NodeID, protocol.Route) (overlay.Link, error) { return ours, nil })
	ctx, cancel := context.WithCancel(t.Context())
	s := start(t, ctx, Config{}, Links{Parent: theirs})
	r.init(t, "")
	r.ask(t, 1, "launch", sleeper())
	pid := r.pidOf(t)
	cancel()
	s.wait(t)
	if !isGone(pid) || !errors.Is(s.err, context.Canceled) {
		t.Errorf("rank gone: %v; %v", isGone(pid), s.err)
	}
}

func TestStarterEndsTheJob(t *testing.T) {
	ending, signals := make(chan string, 1), make(chan syscall.Signal, 1)
	slot := &protocol.Job{Program: "sh", Args: []string{"-c", "trap 'echo usr1' USR1; echo ready; while :; do sleep 0.01; done"}}
	r, s, _ := pair(t, Config{Slot: slot, Ending: ending, Signals: signals, EndingGrace: 50 * time.Millisecond})
	r.ask(t, 1, "launch", protocol.Args{Job: &protocol.Job{}})
	pid := r.pidOf(t)
	r.ask(t, 1, "continue", protocol.Args{})
	r.up.untilLine(t, `out 0 "ready\n"`)
	signals <- syscall.SIGUSR1
	r.up.untilLine(t, `out 0 "usr1\n"`)
	ending <- "the starter is ending the job (SIGTERM)"
	r.up.untilLine(t, `note [0] {"text":"the starter is ending the job (SIGTERM)"}`)
	s.wait(t)
	if !isGone(pid) || s.status != 128+int(syscall.SIGKILL) || s.err != nil {
		t.Errorf("rank gone: %v; status %d, %v", isGone(pid), s.status, s.err)
	}
}

// listening gives links of a server that is dialled, and its address.
func listening(t *testing.T, id protocol.ServerID, key overlay.Secret) (Links, string) {
	t.Helper()
	self := NewSelf(overlay.Identity{Node: tree.NodeID(id) + 1})
	l, err := overlay.Listen("127.0.0.1:0", 1, key, self.Identity)
	if err != nil {
		t.Fatal(err)
	}
	return Links{Self: self, Listener: l, Dial: func(ctx context.Context, child tree.NodeID, r protocol.Route) (overlay.Link, error) {
		link, _, err := overlay.Dial(ctx, r.Addrs, r.Ports, key, self.Identity(), child)
		return link, err
	}}, l.Addr()
}

func TestTreeOfServers(t *testing.T) {
	key := overlay.NewSecret()
	var addrs []string
	var servers []*running
	for i := range 4 {
		links, addr := listening(t, protocol.ServerID(i), key)
		addrs = append(addrs, addr)
		servers = append(servers, start(t, t.Context(), Config{ID: protocol.ServerID(i)}, links))
	}
	r := newRoot(t, func(ctx context.Context, child tree.NodeID, route protocol.Route) (overlay.Link, error) {
		link, _, err := overlay.Dial(ctx, route.Addrs, route.Ports, key, overlay.Identity{}, child)
		return link, err
	})
	r.init(t, addrs...)
	r.ask(t, 4, "launch", protocol.Args{Job: &protocol.Job{Program: "sh", Args: []string{"-c", "echo same"}}})
	r.ask(t, 4, "continue", protocol.Args{})
	r.up.until(t, "four ends", func() bool { return r.up.kinds[protocol.KindExited] == 4 })
	r.send(wire.Quit, rank.Set{}, struct{}{})
	for _, s := range servers {
		if s.wait(t); s.err != nil {
			t.Error(s.err)
		}
	}
}

func TestNewParentWithinLinger(t *testing.T) {
	key := overlay.NewSecret()
	links, addr := listening(t, 0, key)
	s := start(t, t.Context(), Config{Linger: patience}, links)
	dial := func(epoch uint64) func(context.Context, tree.NodeID, protocol.Route) (overlay.Link, error) {
		return func(ctx context.Context, child tree.NodeID, route protocol.Route) (overlay.Link, error) {
			link, _, err := overlay.Dial(ctx, []string{addr}, 1, key, overlay.Identity{Epoch: epoch}, child)
			return link, err
		}
	}
	first := newRoot(t, dial(1))
	first.init(t, addr)
	first.ask(t, 1, "launch", sleeper())
	pid := first.pidOf(t)
	first.cut()
	// The server has its place already: the second one only looks in and ends it.
	link, err := dial(2)(t.Context(), 1, protocol.Route{})
	if err != nil {
		t.Fatal(err)
	}
	defer link.Close()
	if isGone(pid) {
		t.Error("the rank is gone although the server lingers")
	}
	if _, err := dial(1)(t.Context(), 1, protocol.Route{}); !errors.Is(err, overlay.ErrEpoch) {
		t.Errorf("a parent of an older epoch: %v", err)
	}
	if err := link.Send(wire.Message{Kind: wire.Quit}); err != nil {
		t.Fatal(err)
	}
	s.wait(t)
	if !isGone(pid) || s.err != nil {
		t.Errorf("rank gone: %v; %v", isGone(pid), s.err)
	}
}

func TestNobodyComes(t *testing.T) {
	t.Run("in time", func(t *testing.T) {
		links, _ := listening(t, 0, overlay.NewSecret())
		links.ConnectWait = 10 * time.Millisecond
		s := start(t, t.Context(), Config{}, links)
		if s.wait(t); !errors.Is(s.err, ErrNoParent) {
			t.Errorf("got %v", s.err)
		}
	})
	t.Run("and the starter goes", func(t *testing.T) {
		links, _ := listening(t, 0, overlay.NewSecret())
		gone := make(chan struct{})
		links.Gone = gone
		s := start(t, t.Context(), Config{}, links)
		close(gone)
		if s.wait(t); s.err != nil {
			t.Errorf("got %v", s.err)
		}
	})
}

// The master that a server has registered with may go before a parent has come;
// afterwards the server needs it no more.
func TestRegistration(t *testing.T) {
	t.Run("ends before a parent has come", func(t *testing.T) {
		links, _ := listening(t, 0, overlay.NewSecret())
		ours, theirs := overlay.Pipe()
		links.Registration = theirs
		s := start(t, t.Context(), Config{}, links)
		ours.Close()
		if s.wait(t); !errors.Is(s.err, ErrNoParent) || !strings.Contains(s.err.Error(), "is gone") {
			t.Errorf("got %v", s.err)
		}
	})
	t.Run("is ended when a parent has come", func(t *testing.T) {
		key := overlay.NewSecret()
		links, addr := listening(t, 0, key)
		ours, theirs := overlay.Pipe()
		links.Registration = theirs
		s := start(t, t.Context(), Config{}, links)
		parent, _, err := overlay.Dial(t.Context(), []string{addr}, 1, key, overlay.Identity{}, 1)
		if err != nil {
			t.Fatal(err)
		}
		defer parent.Close()
		if m, err := ours.Receive(); err == nil {
			t.Errorf("the master got %v", m)
		}
		if err := parent.Send(wire.Message{Kind: wire.Quit}); err != nil {
			t.Fatal(err)
		}
		if s.wait(t); s.err != nil {
			t.Errorf("got %v", s.err)
		}
	})
}

func TestUselessBackend(t *testing.T) {
	links, _ := listening(t, 0, overlay.NewSecret())
	broken := func(backend.Sink) (backend.Backend, error) { return nil, errors.New("no gdb here") }
	s := start(t, t.Context(), Config{NewBackend: broken}, links)
	if s.wait(t); s.err == nil || !strings.Contains(s.err.Error(), "the back end cannot be used: no gdb here") {
		t.Errorf("got %v", s.err)
	}
}

func TestStrangersAreRefused(t *testing.T) {
	links, addr := listening(t, 0, overlay.NewSecret())
	ctx, end := context.WithCancel(t.Context())
	s := start(t, ctx, Config{}, links)
	defer s.wait(t)
	defer end()
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprint(conn, "GET / HTTP/1.0\r\n\r\n")
	if n, err := conn.Read(make([]byte, 1)); err == nil {
		t.Errorf("a stranger got %d bytes", n)
	}
	conn.Close()
	short, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if _, _, err := overlay.Dial(short, []string{addr}, 1, overlay.NewSecret(), overlay.Identity{}, 1); err == nil {
		t.Error("another secret was good enough")
	}
}

func TestConfigValidate(t *testing.T) {
	good := func(backend.Sink) (backend.Backend, error) { return nil, nil }
	cases := []struct {
		name string
		cfg  Config
		want string
	}{
		{"number", Config{ID: -1, NewBackend: good}, "server number -1"},
		{"back end", Config{}, "no back end"},
		{"linger", Config{NewBackend: good, Linger: -1}, "linger"},
		{"slot", Config{NewBackend: good, Slot: &protocol.Job{}}, "a slot without a program"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if _, err := Run(t.Context(), c.cfg, Links{}); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

func TestLaunchManyAtOnce(t *testing.T) {
	b := newBench(t, nil)
	before := descriptors(t)
	b.shell(t, 64, "echo from $SDM_RANK", rank.Set{})
	b.up.until(t, "all ended", func() bool { return b.up.kinds[protocol.KindExited] == 64 })
	for r := range 64 {
		if got, want := b.up.output(fmt.Sprintf("out %d", r)), fmt.Sprintf("from %d\n", r); got != want {
			t.Errorf("rank %d wrote %q", r, got)
		}
	}
	b.close(t.Context())
	if after := descriptors(t); after > before {
		t.Errorf("%d descriptors before, %d after", before, after)
	}
}

func descriptors(t *testing.T) int {
	t.Helper()
	open, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(open)
}
