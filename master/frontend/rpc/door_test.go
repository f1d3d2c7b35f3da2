// Tests of the port for front ends, before a peer has proved the secret.

package rpc

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func TestDoorWithoutASecret(t *testing.T) {
	if _, err := Listen("127.0.0.1:0", Options{}); err == nil {
		t.Error("a door over TCP without a secret was opened")
	}
	if _, err := Dial(context.Background(), "127.0.0.1:1", Options{}); err == nil || !strings.Contains(err.Error(), "Secret") {
		t.Errorf("dialled without a secret: %v", err)
	}
}

// Unauthenticated connections must not block the master.
func TestListenerSurvivesStrangers(t *testing.T) {
	var log bytes.Buffer // read when all goroutines have ended
	l, err := Listen("127.0.0.1:0", Options{Secret: secretOf("a"), Log: slog.New(slog.NewTextHandler(&log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	strangers(t, l.Addr().String(), 100)
	conn, client, err, frontErr := meetAt(t, l, l.Addr().String(), Options{Secret: secretOf("a")})
	if err != nil || frontErr != nil {
		t.Fatalf("master: %v, front end: %v", err, frontErr)
	}
	conn.Close()
	if err := client.Close(context.Background()); err != nil {
		t.Error(err)
	}
	if n := strings.Count(log.String(), "refused a connection"); n > maxRefusals || strings.Contains(log.String(), "closed network connection") {
		t.Errorf("%d connections were told of: %s", n, log.String())
	}
}

// strangers makes connections that send half a ClientHello, and again when they are closed, until the test
// ends.
func strangers(t *testing.T, addr string, n int) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	var group sync.WaitGroup
	t.Cleanup(func() { cancel(); group.Wait() })
	var come sync.WaitGroup
	for range n {
		come.Add(1)
		group.Go(func() {
			first := sync.OnceFunc(come.Done)
			defer first()
			for ctx.Err() == nil {
				c, err := (&net.Dialer{}).DialContext(ctx, "tcp", addr)
				if err != nil {
					return // nobody listens any more
				}
				c.Write([]byte{22, 3, 1, 0, 200, 1, 0, 0, 196, 3, 3})
				first()
				stop := context.AfterFunc(ctx, func() { c.Close() })
				io.Copy(io.Discard, c)
				stop()
				c.Close()
			}
		})
	}
	come.Wait()
}

// A master at which no front end comes says who came instead.
func TestNoFrontEndButStrangers(t *testing.T) {
	l, err := Listen("127.0.0.1:0", Options{Secret: secretOf("a"), Wait: 300 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	strangers(t, l.Addr().String(), 3)
	_, err = l.AcceptFrontEnd(context.Background())
	want := fmt.Sprintf("none in 300ms; 3 connections have not proved our secret (from 127.0.0.1, user %d)", os.Geteuid())
	if err == nil || !strings.HasSuffix(err.Error(), want) {
		t.Errorf("%v, want %q", err, want)
	}
}

// The newest displaces the oldest of the peer that has most.
func TestPlaces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newUnauthenticated()
		enter := func(peer string) net.Conn {
			c, other := net.Pipe()
			t.Cleanup(func() { c.Close(); other.Close() })
			if s.take(unauthenticatedConn{conn: c, peer: peer}) != 0 {
				return nil
			}
			return c
		}
		ours := enter("front end")
		var flood []net.Conn
		for range maxUnauthenticated - 1 {
			flood = append(flood, enter("stranger"))
		}
		if enter("stranger") != nil {
			t.Error("one is displaced at once")
		}
		<-time.After(ownTime)
		second := enter("front end")
		if second == nil || s.leave(flood[0], false) {
			t.Error("the oldest of the strangers keeps its place")
		}
		if !s.leave(ours, true) || !s.leave(second, true) || !s.leave(flood[1], false) {
			t.Error("one is displaced who should not be")
		}
		if err := s.with(io.EOF); err.Error() != "EOF; 2 connections have not proved our secret (from stranger)" {
			t.Error(err)
		}
	})
}

// A stranger that comes a thousand times is shown only a few times.
func TestRefusalsAreBounded(t *testing.T) {
	var log bytes.Buffer
	logger := slog.New(slog.NewTextHandler(&log, nil))
	c, other := net.Pipe()
	defer c.Close()
	defer other.Close()
	var r refusals
	for range 1000 {
		r.report(logger, c, errReplaced)
	}
	if log.Len() > 0 {
		t.Errorf("of those who said nothing: %s", log.String())
	}
	for range 1000 {
		r.report(logger, c, io.ErrUnexpectedEOF)
	}
	text := log.String()
	if strings.Count(text, "refused a connection") != maxRefusals || strings.Count(text, "\n") != maxRefusals+1 || !strings.Contains(text, "--log-level debug") {
		t.Errorf("said: %s", text)
	}
}
