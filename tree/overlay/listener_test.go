// Listening, and unauthenticated connections.

package overlay

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"sdm/protocol/wire"
	"sdm/tree"
)

// accepting accepts parents until the listener is closed, and returns their
// identities.
func accepting(t *testing.T, l *Listener) <-chan Identity {
	came := make(chan Identity, 100)
	var links []Link
	ended := make(chan bool)
	go func() {
		defer close(ended)
		for {
			link, id, err := l.Accept(context.Background())
			if err != nil {
				return
			}
			links = append(links, link)
			came <- id
		}
	}()
	t.Cleanup(func() {
		l.Close()
		<-ended
		for _, link := range links {
			link.Close()
		}
	})
	return came
}

func TestAddresses(t *testing.T) {
	for addr, text := range map[string]string{
		"127.0.0.1":       "missing port",
		"127.0.0.1:http":  "not a number",
		"127.0.0.1:65536": "not a number",
	} {
		if _, _, err := splitAddr(addr); err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("%s: error %v, want %q", addr, err, text)
		}
	}
}

func TestPortsAreBounded(t *testing.T) {
	for name, test := range map[string]struct{ first, ports, last int }{
		"one":          {7000, 0, 7000},
		"some":         {7000, 10, 7009},
		"too many":     {7000, 5000, 7999},
		"at the end":   {65530, 100, 65535},
		"the system's": {0, 100, 0},
		"below zero":   {7000, -5, 7000},
	} {
		if last := lastPort(test.first, test.ports); last != test.last {
			t.Errorf("%s: last port %d, want %d", name, last, test.last)
		}
	}
}

func TestAcceptEnds(t *testing.T) {
	t.Run("with its context", func(t *testing.T) {
		l := listenAs(t, NewSecret(), aChild)
		ctx, cancel := context.WithCancel(context.Background())
		ended := async(func() error { _, _, err := l.Accept(ctx); return err })
		cancel()
		if err := await(t, "Accept", ended); err != context.Canceled {
			t.Errorf("Accept: %v", err)
		}
	})
	t.Run("with Close", func(t *testing.T) {
		l := listenAs(t, NewSecret(), aChild)
		ended := async(func() error { _, _, err := l.Accept(context.Background()); return err })
		check(t, l.Close())
		if err := await(t, "Accept", ended); err != net.ErrClosed {
			t.Errorf("Accept: %v", err)
		}
	})
	t.Run("with the port", func(t *testing.T) {
		l := listenAs(t, NewSecret(), aChild)
		l.acceptor.l.Close()
		if _, _, err := l.Accept(testContext(t)); err == nil || errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Accept: %v", err)
		}
	})
}

// A link that Accept has returned outlives the listener.
func TestLinkOutlivesListener(t *testing.T) {
	a, b := transport{open: openTLS}.pair(t) // its listener is closed by Cleanup, after this
	check(t, a.Send(command(1, nil)))
	check(t, receiveIDs(b, 1))
}

// unauthenticated are unauthenticated connections.
var unauthenticated = []struct {
	name string
	do   func(t *testing.T, addr string) net.Conn
}{
	{"says nothing", func(t *testing.T, addr string) net.Conn { return knock(t, addr, nil) }},
	{"scans the port", func(t *testing.T, addr string) net.Conn {
		conn := knock(t, addr, nil)
		conn.Close()
		return conn
	}},
	{"resets the connection", func(t *testing.T, addr string) net.Conn {
		conn := knock(t, addr, nil)
		conn.(*net.TCPConn).SetLinger(0)
		conn.Close()
		return conn
	}},
	{"sends garbage", func(t *testing.T, addr string) net.Conn {
		return knock(t, addr, []byte(strings.Repeat("garbage ", 10000)))
	}},
	{"speaks HTTP", func(t *testing.T, addr string) net.Conn {
		return knock(t, addr, []byte("GET / HTTP/1.1\r\nHost: x\r\n\r\n"))
	}},
	{"speaks our packets without TLS", func(t *testing.T, addr string) net.Conn {
		return knock(t, addr, helloOfVersion(1, ""))
	}},
	{"speaks TLS", func(t *testing.T, addr string) net.Conn {
		return speakTLS(t, addr, &tls.Config{InsecureSkipVerify: true})
	}},
	{"knows another secret", func(t *testing.T, addr string) net.Conn {
		own, err := newCredentials(NewSecret(), forLinks)
		check(t, err)
		return speakTLS(t, addr, own.config(own.tokens.fresh()))
	}},
	{"starts a record and stops", func(t *testing.T, addr string) net.Conn {
		return knock(t, addr, []byte{22, 3, 1, 2})
	}},
}

// knock connects and sends p.
func knock(t testing.TB, addr string, p []byte) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	check(t, err)
	t.Cleanup(func() { conn.Close() })
	conn.Write(p) // it may be closed already
	return conn
}

// counting counts the bytes that are received.
type counting struct {
	net.Conn
	n int
}

func (c *counting) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.n += n
	return n, err
}

// speakTLS tries a handshake, which must fail without receiving a byte.
func speakTLS(t testing.TB, addr string, config *tls.Config) net.Conn {
	t.Helper()
	conn := knock(t, addr, nil)
	c := &counting{Conn: conn}
	config.ServerName = "x"
	if err := tls.Client(c, config).HandshakeContext(testContext(t)); err == nil {
		t.Error("a stranger's handshake succeeded")
	}
	if c.n != 0 {
		t.Errorf("a stranger got %d bytes", c.n)
	}
	return conn
}

// An unauthenticated peer receives nothing but the end of the connection, and a real peer can
// connect while it is there.
func TestStrangers(t *testing.T) {
	for _, stranger := range unauthenticated {
		t.Run(stranger.name, func(t *testing.T) {
			secret := NewSecret()
			l := listenAs(t, secret, aChild)
			came := accepting(t, l)
			conn := stranger.do(t, l.Addr())
			link, _, err := Dial(testContext(t), []string{l.Addr()}, 1, secret, aParent, 5)
			check(t, err)
			defer link.Close()
			if id := await(t, "the parent", came); id != aParent {
				t.Errorf("%+v came", id)
			}
			check(t, l.Close()) // closes silent connections
			if p, _ := io.ReadAll(conn); len(p) > 0 {
				t.Errorf("a stranger got %q", p)
			}
		})
	}
}

// Silent connections do not occupy a place that a peer needs for longer than
// permitted.
func TestManyStrangers(t *testing.T) {
	secret := NewSecret()
	l := listenAs(t, secret, aChild)
	came := accepting(t, l)
	for range 200 {
		knock(t, l.Addr(), nil)
	}
	start := time.Now()
	link, _, err := Dial(testContext(t), []string{l.Addr()}, 1, secret, aParent, 5)
	check(t, err)
	defer link.Close()
	await(t, "the parent", came)
	t.Logf("behind 200 silent connections a peer got in after %v", time.Since(start))
	l.acceptor.mu.Lock()
	defer l.acceptor.mu.Unlock()
	if n := len(l.acceptor.places); n > maxHandshakes {
		t.Errorf("%d handshakes at once", n)
	}
}

// Many peers are all accepted, though only 16 at a time do the handshake.
func TestManyPeers(t *testing.T) {
	secret := NewSecret()
	l := listenAs(t, secret, aChild)
	came := accepting(t, l)
	var dials []<-chan error
	for i := range 60 {
		dials = append(dials, async(func() error {
			link, _, err := Dial(testContext(t), []string{l.Addr()}, 1, secret, Identity{Node: tree.NodeID(i), Session: "s1", Epoch: 3}, 5)
			if err == nil {
				defer link.Close()
			}
			return err
		}))
	}
	for _, dial := range dials {
		check(t, await(t, "a peer", dial))
	}
	for range dials {
		await(t, "a parent", came)
	}
}

// A peer that proves the secret and sends no Hello loses its place.
func TestPeerWithoutHello(t *testing.T) {
	secret := NewSecret()
	l := listenAs(t, secret, aChild)
	came := accepting(t, l)
	own, err := newCredentials(secret, forLinks)
	check(t, err)
	for name, say := range map[string]func(*stream){
		"wrong kind": func(s *stream) { s.Send(command(1, nil)) },
		"no JSON":    func(s *stream) { s.Send(wire.Message{Kind: wire.Hello, Body: []byte("{")}) },
		"goes":       func(s *stream) { s.Close() },
	} {
		s, err := connect(testContext(t), l.Addr(), own)
		check(t, err)
		say(s)
		if m, err := s.Receive(); err == nil {
			t.Errorf("%s: got %v", name, m)
		}
		s.Close()
	}
	link, _, err := Dial(testContext(t), []string{l.Addr()}, 1, secret, aParent, 5)
	check(t, err)
	defer link.Close()
	await(t, "the parent", came)
}

// The secret of links does not open a rendezvous, nor the other way round.
func TestSecretOfLinksOpensNoRendezvous(t *testing.T) {
	secret := NewSecret()
	l := listenAs(t, secret, aChild)
	told(t, func(ctx context.Context) error {
		_, _, err := Register(ctx, []string{l.Addr()}, secret, Registration{}, nil)
		return err
	}, func(err error) bool { return errors.Is(err, ErrSecret) })
}

func TestSecretsDiffer(t *testing.T) {
	s := NewSecret()
	seen := map[Secret]string{s: "itself", NewSecret(): "a new one"}
	for _, session := range []string{"", "a", "b"} {
		d := s.ForSession(session)
		if d != s.ForSession(session) {
			t.Errorf("session %q has two secrets", session)
		}
		if other, double := seen[d]; double {
			t.Errorf("session %q has the secret of %s", session, other)
		}
		seen[d] = "session " + session
	}
}
