package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"sdm/backend"
	"sdm/launch/secret"
	"sdm/protocol"
	"sdm/protocol/canonical"
	"sdm/protocol/column"
	"sdm/protocol/rank"
	"sdm/server"
	"sdm/tree"
	"sdm/tree/overlay"
	"sdm/tree/overlay/overlaytest"
)

// patience limits every wait of these tests.
const patience = 60 * time.Second

// puppets is a back end whose ranks stop whenever they are resumed.
type puppets struct {
	sink   backend.Sink
	closed func()
}

func (p *puppets) Attach(id protocol.RequestID, targets []backend.Target, _ string, _ time.Duration) {
	for _, t := range targets {
		p.sink.Reply(id, group(protocol.KindResult, t.Rank, struct{}{}))
		p.stop(t.Rank, protocol.Stop{Reason: "entry", Frame: &protocol.Frame{Func: "main", File: "work.c", Line: 48}})
	}
}

func (p *puppets) stop(r rank.ID, why protocol.Stop) {
	p.sink.Event(group(protocol.KindRunning, r, struct{}{}), group(protocol.KindStopped, r, why))
}

func (p *puppets) Do(q backend.Request) {
	for r := range q.Ranks.All() {
		g := group(protocol.KindResult, r, struct{}{})
		switch q.Command.Name {
		case "print":
			g = group(protocol.KindResult, r, map[string]string{"expr": q.Command.Args.Expr})
			g.Columns = []column.Column{column.New("value", r, strings.Repeat("1", int(r)+1), 0)}
		case "continue":
			p.stop(r, protocol.Stop{Reason: "breakpoint-hit", Breakpoint: 1})
		}
		p.sink.Reply(q.ID, g)
	}
}

func (p *puppets) Ended(rank.ID, protocol.Exit) {}

func (p *puppets) Close(context.Context) error {
	p.closed()
	return nil
}

func group(k protocol.Kind, r rank.ID, body any) protocol.Group {
	return protocol.Group{Kind: k, Ranks: rank.Of(r), Body: canonical.JSON(body)}
}

// crew represents servers in this process.
type crew struct {
	t      *testing.T
	key    overlay.Secret
	slot   string // their slot's program
	ctx    context.Context
	group  sync.WaitGroup
	mu     sync.Mutex
	ended  int // number of servers whose back end was closed
	errors []string
}

func newCrew(t *testing.T, secretFile string) *crew {
	t.Helper()
	key, err := secret.File(secretFile)
	if err != nil {
		t.Fatal(err)
	}
	c := &crew{t: t, key: overlay.Secret(key).ForSession("")}
	var cancel context.CancelFunc
	c.ctx, cancel = context.WithTimeout(context.Background(), patience)
	t.Cleanup(func() { cancel(); c.group.Wait() })
	return c
}

// listen opens the listener of server i.
func (c *crew) listen(i int) (*overlay.Listener, *server.Self) {
	self := server.NewSelf(overlay.Identity{Node: tree.NodeID(i + 1), Host: "here"})
	l, err := overlaytest.Listen(c.key, self.Identity)
	if err != nil {
		c.t.Fatal(err)
	}
	return l, self
}

// serve runs server i.
func (c *crew) serve(i int, l *overlay.Listener, self *server.Self, registration overlay.Link) {
	c.group.Go(func() {
		// A failing test cancels it.
		_, _ = server.Run(c.ctx, server.Config{
			ID: protocol.ServerID(i), Host: "here",
			NewBackend: func(s backend.Sink) (backend.Backend, error) {
				return &puppets{sink: s, closed: func() { c.mu.Lock(); c.ended++; c.mu.Unlock() }}, nil
			},
		}, server.Links{Self: self, Listener: l, Dial: c.dial(self), Registration: registration})
	})
}

func (c *crew) dial(self *server.Self) func(context.Context, tree.NodeID, protocol.Route) (overlay.Link, error) {
	return func(ctx context.Context, child tree.NodeID, r protocol.Route) (overlay.Link, error) {
		link, _, err := overlay.Dial(ctx, r.Addrs, r.Ports, c.key, self.Identity(), child)
		return link, err
	}
}

// register lets servers register at a rendezvous, in a job of size processes.
func (c *crew) register(addr string, size int, ids ...int) {
	for _, i := range ids {
		c.come(addr, i, overlay.Registration{Server: protocol.ServerID(i), Size: size, PID: 1000 + i})
	}
}

// registerNode lets a server register that has these ranks, those of all slots of its node. The
// master assigns its number.
func (c *crew) registerNode(addr string, size int, first, last rank.ID) {
	c.come(addr, int(first), overlay.Registration{Ranks: rank.Range(first, last), Size: size, PID: 1000 + int(first)})
}

func (c *crew) come(addr string, i int, r overlay.Registration) {
	c.group.Go(func() {
		l, self := c.listen(i)
		r.Host, r.Addrs, r.Slot = "here", []string{l.Addr()}, c.slot
		link, number, err := overlay.Register(c.ctx, []string{addr}, c.key, r, nil)
		if err != nil {
			l.Close()
			c.mu.Lock()
			c.errors = append(c.errors, err.Error())
			c.mu.Unlock()
			return
		}
		self.Number(number)
		c.serve(int(number), l, self, link)
	})
}

// secretFile makes a secret and returns its path.
func secretFile(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(path, []byte(strings.Repeat("ab", 32)+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// running is a master in this process.
type running struct {
	t      *testing.T
	stderr *watched
	status chan int
}

func start(t *testing.T, env []string, args ...string) *running {
	t.Helper()
	m := &running{t: t, stderr: newWatched(), status: make(chan int, 1)}
	go func() {
		m.status <- run(append([]string{"sdm-master"}, args...), env, strings.NewReader(""), m.stderr, m.stderr)
	}()
	return m
}

// rendezvous returns the address at which servers register.
func (m *running) rendezvous() string { return m.stderr.after(m.t, "servers register at ") }

func (m *running) exit(want int) {
	m.t.Helper()
	select {
	case got := <-m.status:
		if got != want {
			m.t.Errorf("exit status %d, want %d: %s", got, want, m.stderr.text())
		}
	case <-time.After(patience):
		m.t.Fatalf("the master has not ended: %s", m.stderr.text())
	}
}

// watched is an output that a test can wait on.
type watched struct {
	mu   sync.Mutex
	more chan struct{} // closed and replaced with each write
	b    strings.Builder
}

func newWatched() *watched { return &watched{more: make(chan struct{})} }

func (w *watched) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	close(w.more)
	w.more = make(chan struct{})
	return w.b.Write(p)
}

func (w *watched) text() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.b.String()
}

// after waits for a text and returns the rest of its line.
func (w *watched) after(t *testing.T, text string) string {
	t.Helper()
	late := time.After(patience)
	for {
		w.mu.Lock()
		all, more := w.b.String(), w.more
		w.mu.Unlock()
		if _, rest, ok := strings.Cut(all, text); ok {
			if line, _, whole := strings.Cut(rest, "\n"); whole {
				return strings.TrimSpace(line)
			}
		}
		select {
		case <-more:
		case <-late:
			t.Fatalf("%q was never said: %s", text, all)
		}
	}
}
