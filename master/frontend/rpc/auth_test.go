package rpc

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/hex"
	"errors"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"sdm/master/dial"
	"sdm/protocol/envelope"
)

// These are the example of docs/protocol.md, computed with Python's hmac.
const (
	exampleSecret   = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"
	exampleMaster   = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	exampleFrontEnd = "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
)

func TestProofMatchesTheManual(t *testing.T) {
	secret, err := hex.DecodeString(exampleSecret)
	if err != nil {
		t.Fatal(err)
	}
	manual, err := os.ReadFile("../../../docs/protocol.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, who := range []string{proofMaster, proofFrontEnd} {
		p := proof(secret, who, exampleMaster, exampleFrontEnd, bindingPlain)
		if !strings.Contains(string(manual), p) {
			t.Errorf("the manual does not have the proof of the %s: %s", who, p)
		}
	}
}

func secretOf(letter string) []byte { return []byte(strings.Repeat(letter, 32)) }

// meet lets a master dial a front end's listener on loopback.
func meet(t *testing.T, master, frontEnd Options) (*Conn, *Client, error, error) {
	t.Helper()
	l, err := Listen("127.0.0.1:0", frontEnd)
	if err != nil {
		t.Fatal(err)
	}
	return meetAt(t, l, l.Addr().String(), master)
}

func meetAt(t *testing.T, l *Listener, addr string, master Options) (*Conn, *Client, error, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	type accepted struct {
		c   *Client
		err error
	}
	front := make(chan accepted, 1)
	go func() {
		c, err := l.Accept(ctx)
		front <- accepted{c, err}
	}()
	conn, err := Dial(ctx, addr, master)
	if err != nil {
		cancel() // otherwise the front end would wait for another master
	}
	a := <-front
	return conn, a.c, err, a.err
}

func TestProofs(t *testing.T) {
	a, b := secretOf("a"), secretOf("b")
	for _, tt := range []struct {
		name             string
		master, frontEnd Options
		err              string // part of the master's error; "": both succeed
		secured          bool
	}{
		{"TLS", Options{Secret: a}, Options{Secret: a}, "", true},
		{"TLS although plain text is permitted", Options{Secret: a, Plaintext: true}, Options{Secret: a}, "", true},
		{"plain text, permitted", Options{Secret: a, Plaintext: true}, Options{Secret: a, Plaintext: true}, "", false},
		{"plain text, not permitted", Options{Secret: a}, Options{Secret: a, Plaintext: true}, "--plaintext", false},
		{"other secrets", Options{Secret: a}, Options{Secret: b}, "same secret file", true},
		{"other secrets, plain text", Options{Secret: a, Plaintext: true}, Options{Secret: b, Plaintext: true}, "same secret file", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			conn, client, err, frontErr := meet(t, tt.master, tt.frontEnd)
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) || !strings.Contains(err.Error(), "front end at 127.0.0.1:") {
					t.Errorf("error: %v", err)
				}
				if client != nil || frontErr == nil {
					t.Errorf("the front end accepted: %v", frontErr)
				}
				return
			}
			if err != nil || frontErr != nil {
				t.Fatalf("master: %v, front end: %v", err, frontErr)
			}
			if _, plain := conn.rw.(*peekedConn); plain == tt.secured {
				t.Errorf("connection of type %T", conn.rw)
			}
			conn.Close()
			if err := client.Close(context.Background()); err != nil {
				t.Error(err)
			}
		})
	}
}

// A process that has taken the front end's port relays all messages between the master and the real
// front end, over a TLS connection to each: neither proof is valid.
func TestRelayIsRefused(t *testing.T) {
	o := Options{Secret: secretOf("a")}
	real, err := Listen("127.0.0.1:0", o)
	if err != nil {
		t.Fatal(err)
	}
	between, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer between.Close()
	relayed := make(chan error, 1)
	go func() { relayed <- relay(between, real.Addr().String()) }()
	conn, client, err, frontErr := meetAt(t, real, between.Addr().String(), o)
	if conn != nil || err == nil || !strings.Contains(err.Error(), "same secret file") {
		t.Errorf("the master: %v", err)
	}
	if client != nil || frontErr == nil {
		t.Error("the front end takes the relay for its master")
	}
	if err := <-relayed; err != nil {
		t.Error(err)
	}
}

// relay joins a master that dials and a front end that listens until both have closed. It does not
// know the secret.
func relay(master net.Listener, frontEnd string) error {
	m, err := master.Accept()
	if err != nil {
		return err
	}
	defer m.Close()
	f, err := net.Dial("tcp", frontEnd)
	if err != nil {
		return err
	}
	defer f.Close()
	ours, err := ephemeral()
	if err != nil {
		return err
	}
	toMaster := tls.Client(m, &tls.Config{InsecureSkipVerify: true})
	toFrontEnd := tls.Server(f, &tls.Config{Certificates: []tls.Certificate{ours}})
	var both sync.WaitGroup
	copying := func(to, from net.Conn) {
		_, _ = io.Copy(to, from) // ends with a refusal by either side
		m.Close()
		f.Close()
	}
	both.Go(func() { copying(toMaster, toFrontEnd) })
	both.Go(func() { copying(toFrontEnd, toMaster) })
	both.Wait()
	return nil
}

// raw plays a front end that violates the protocol.
func raw(t *testing.T, master Options, frontEnd func(c net.Conn)) error {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		c, err := l.Accept()
		if err != nil {
			return
		}
		defer c.Close()
		frontEnd(c)
	}()
	conn, err := Dial(context.Background(), l.Addr().String(), master)
	l.Close()
	<-ended
	if err == nil {
		conn.Close()
	}
	return err
}

func TestMasterRefuses(t *testing.T) {
	const challenge = `"challenge":"` + exampleFrontEnd + `"`
	say := func(body string) []byte { return envelope.Append(nil, []byte(body)) }
	for _, tt := range []struct {
		name string
		says []string // bodies
		err  string
	}{
		{"another version", []string{`{"jsonrpc":"2.0","id":1,"method":"hello","params":{"version":99,` + challenge + `}}`}, "version 99, this master version 1"},
		{"a short challenge", []string{`{"jsonrpc":"2.0","id":1,"method":"hello","params":{"version":1,"challenge":"00"}}`}, "64 hexadecimal digits"},
		{"no hello", []string{`{"jsonrpc":"2.0","id":1,"method":"initialize"}`}, `"hello" comes first`},
		{"no JSON", []string{`hello`}, "not JSON"},
		{"no proof", []string{
			`{"jsonrpc":"2.0","id":1,"method":"hello","params":{"version":1,` + challenge + `}}`,
			`{"jsonrpc":"2.0","id":2,"method":"initialize"}`,
		}, `"authenticate" comes first`},
		{"a wrong proof", []string{
			`{"jsonrpc":"2.0","id":1,"method":"hello","params":{"version":1,` + challenge + `}}`,
			`{"jsonrpc":"2.0","id":2,"method":"authenticate","params":{"proof":"00"}}`,
		}, "does not know the secret"},
		{"too much", []string{strings.Repeat(" ", maxUnauthenticatedBody+1)}, "too long"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var heard bytes.Buffer
			err := raw(t, Options{Secret: secretOf("a"), Plaintext: true}, func(c net.Conn) {
				for _, body := range tt.says {
					if _, err := c.Write(say(body)); err != nil {
						return
					}
				}
				_, _ = heard.ReadFrom(c) // until the master closes the connection
			})
			if err == nil || !strings.Contains(err.Error(), tt.err) {
				t.Errorf("error: %v", err)
			}
			if text := heard.String(); tt.name == "another version" && !strings.Contains(text, "version 99") {
				t.Errorf("the front end was told %q", text)
			}
		})
	}
}

func TestMasterTriesTenTimes(t *testing.T) {
	t.Run("without a listener", func(t *testing.T) {
		t.Parallel()
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		addr := l.Addr().String()
		l.Close()
		var log bytes.Buffer
		o := Options{Secret: secretOf("a"), Wait: 12 * time.Second, Log: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))}
		_, err = Dial(context.Background(), addr, o)
		if err == nil || !strings.Contains(err.Error(), addr) || !strings.Contains(err.Error(), "connection refused") || !strings.Contains(err.Error(), "10 tries in ") {
			t.Errorf("error: %v", err)
		}
		if n := strings.Count(log.String(), "try="); n != dial.Tries {
			t.Errorf("%d tries", n)
		}
	})
	t.Run("where somebody hangs up", func(t *testing.T) {
		t.Parallel()
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		tries := make(chan int)
		go func() {
			n := 0
			for {
				c, err := l.Accept()
				if err != nil {
					tries <- n
					return
				}
				n++
				c.Close()
			}
		}()
		_, err = Dial(context.Background(), l.Addr().String(), Options{Secret: secretOf("a"), Wait: 12 * time.Second})
		l.Close()
		if n := <-tries; err == nil || n != dial.Tries {
			t.Errorf("%d tries, error %v", n, err)
		}
	})
	t.Run("and counts only those that it made", func(t *testing.T) {
		l, err := net.Listen("tcp", "127.0.0.1:0") // accepts connections and sends nothing
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		_, err = Dial(context.Background(), l.Addr().String(), Options{Secret: secretOf("a"), Wait: time.Second})
		if err == nil || !strings.Contains(err.Error(), "it says nothing (1 try in 1") { // 1s, or a bit more
			t.Errorf("error: %v", err)
		}
	})
	t.Run("until its context is over", func(t *testing.T) {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		_, err := Dial(ctx, "127.0.0.1:1", Options{Secret: secretOf("a")})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("error: %v", err)
		}
	})
}

// A front end may come late: a starter may start the master before the IDE listens.
func TestMasterAwaitsALateFrontEnd(t *testing.T) {
	l, err := Listen("127.0.0.1:0", Options{Secret: secretOf("a")})
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	l.Close()
	var log syncBuffer
	o := Options{Secret: secretOf("a"), Wait: 6 * time.Second, Log: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))}
	type dialled struct {
		c   *Conn
		err error
	}
	done := make(chan dialled, 1)
	go func() {
		c, err := Dial(context.Background(), addr, o)
		done <- dialled{c, err}
	}()
	log.await("try=1")
	l, err = Listen(addr, Options{Secret: secretOf("a")})
	if err != nil {
		t.Fatal(err)
	}
	client, err := l.Accept(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	d := <-done
	if d.err != nil {
		t.Fatal(d.err)
	}
	d.c.Close()
	if err := client.Close(context.Background()); err != nil {
		t.Error(err)
	}
}

func TestUnixSocket(t *testing.T) {
	path := filepath.Join(t.TempDir(), "door")
	l, err := Listen("unix:"+path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	conn, client, err, frontErr := meetAt(t, l, "unix:"+path, Options{})
	if err != nil || frontErr != nil {
		t.Fatalf("master: %v, front end: %v", err, frontErr)
	}
	conn.Close()
	if err := client.Close(context.Background()); err != nil {
		t.Error(err)
	}
}
