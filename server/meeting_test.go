package server

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"sdm/protocol"
	"sdm/protocol/rank"
	"sdm/protocol/wire"
	"sdm/tree"
	"sdm/tree/overlay"
	"sdm/tree/overlay/overlaytest"
)

// listening returns the Links of a server that is dialled, and its address.
func listening(t *testing.T, id protocol.ServerID, key overlay.Secret) (Links, string) {
	t.Helper()
	self := NewSelf(overlay.Identity{Node: tree.NodeID(id) + 1})
	l, err := overlaytest.Listen(key, self.Identity)
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
	s := start(t, t.Context(), Config{Linger: testTimeout}, links)
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
	// The server has its place in the tree already: the second parent only connects and ends it.
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

func TestNoParentConnects(t *testing.T) {
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

// A parent that closes its link before it has sent Init may have taken a slow server for a port
// that does not answer. The server continues to wait for a parent, and its registration stays.
func TestParentHangsUpDuringTheGreeting(t *testing.T) {
	key := overlay.NewSecret()
	links, addr := listening(t, 0, key)
	ours, theirs := overlaytest.Pipe()
	links.Registration, links.ConnectWait = theirs, testTimeout
	s := start(t, t.Context(), Config{}, links)
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	conn.Close()
	dial := func(ctx context.Context, child tree.NodeID, route protocol.Route) (overlay.Link, error) {
		link, _, err := overlay.Dial(ctx, []string{addr}, 1, key, overlay.Identity{}, child)
		return link, err
	}
	for range 3 { // a handshake, then the link is closed
		link, err := dial(t.Context(), 1, protocol.Route{})
		if err != nil {
			t.Fatal(err)
		}
		link.Close()
		if m, err := link.Receive(); err == nil {
			t.Errorf("the server says %v before its Init", m)
		}
	}
	r := newRoot(t, dial)
	r.init(t, addr)
	r.ask(t, 1, "launch", sleeper())
	if m, err := ours.Receive(); err == nil {
		t.Errorf("the master got %v over the registration", m)
	}
	r.send(wire.Quit, rank.Set{}, struct{}{})
	if s.wait(t); s.err != nil {
		t.Error(s.err)
	}
}

// The master that a server has registered with may end before a parent has come.
func TestRegistrationEnds(t *testing.T) {
	links, _ := listening(t, 0, overlay.NewSecret())
	ours, theirs := overlaytest.Pipe()
	links.Registration = theirs
	s := start(t, t.Context(), Config{}, links)
	ours.Close()
	if s.wait(t); !errors.Is(s.err, ErrNoParent) || !strings.Contains(s.err.Error(), "is gone") {
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
