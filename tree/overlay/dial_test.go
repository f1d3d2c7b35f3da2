// Dialling servers, and the errors if there is none.

package overlay

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"testing"
	"time"

	"sdm/tree"
)

// shortly returns a context for dials that cannot succeed.
func shortly(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), 60*time.Millisecond)
	t.Cleanup(cancel)
	return ctx
}

// closedPort returns the address of a closed port.
func closedPort(t *testing.T) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	check(t, err)
	defer l.Close()
	return l.Addr().String()
}

func TestDialSaysWhy(t *testing.T) {
	secret := NewSecret()
	server := listenAs(t, secret, aChild)
	accepting(t, server)
	plain, err := net.Listen("tcp", "127.0.0.1:0")
	check(t, err)
	defer plain.Close()
	talker, err := net.Listen("tcp", "127.0.0.1:0")
	check(t, err)
	defer talker.Close()
	go func() {
		for {
			conn, err := talker.Accept()
			if err != nil {
				return
			}
			conn.Write([]byte("220 mail.example ESMTP\r\n"))
			conn.Close()
		}
	}()
	tests := []struct {
		name   string
		addrs  []string
		secret Secret
		self   Identity
		want   tree.NodeID
		err    error // nil: any
		text   string
	}{
		{"no listener", []string{closedPort(t)}, secret, aParent, 5, nil, "connection refused"},
		{"wrong secret", []string{server.Addr()}, NewSecret(), aParent, 5, ErrSecret, "closes without an answer"},
		{"another program that talks", []string{talker.Addr().String()}, secret, aParent, 5, ErrSecret, "no server of ours"},
		{"another program that waits", []string{plain.Addr().String()}, secret, aParent, 5, ErrSecret, "says nothing"},
		{"wrong number", []string{server.Addr()}, secret, aParent, 9, ErrNumber, "found server 4 on node07 instead of server 8"},
		{"wrong session", []string{server.Addr()}, secret, aParent.inSession("s2"), 5, ErrSession, "another session"},
		{"older epoch", []string{server.Addr()}, secret, aParent.inEpoch(1), 5, ErrEpoch, "epoch 1 is older"},
		{"each address has its reason", []string{closedPort(t), server.Addr()}, secret, aParent, 9, ErrNumber, "connection refused; "},
		{"no address", nil, secret, aParent, 5, nil, "no address is known"},
		{"no port", []string{"127.0.0.1"}, secret, aParent, 5, nil, "missing port"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			told(t, func(ctx context.Context) error {
				_, _, err := Dial(ctx, test.addrs, 1, test.secret, test.self, test.want)
				return err
			}, func(err error) bool {
				return (test.err == nil || errors.Is(err, test.err)) && strings.Contains(err.Error(), test.text) && names(err, test.addrs)
			})
		})
	}
}

// told expects an error from a call that retries until its time is over. It extends
// the time, because a busy machine may need more of it to find the right error.
func told(t *testing.T, call func(context.Context) error, right func(error) bool) {
	t.Helper()
	var err error
	for wait := 60 * time.Millisecond; wait < testTimeout; wait *= 4 {
		ctx, cancel := context.WithTimeout(context.Background(), wait)
		err = call(ctx)
		cancel()
		if err != nil && right(err) {
			return
		}
	}
	t.Fatalf("error %v", err)
}

// names reports whether an error contains all addresses.
func names(err error, addrs []string) bool {
	for _, addr := range addrs {
		if !strings.Contains(err.Error(), addr) {
			return false
		}
	}
	return true
}

// The server may listen on a port above the base port.
func TestDialFindsThePort(t *testing.T) {
	secret := NewSecret()
	base := listenAs(t, secret, aChild.inSession("s2"))
	accepting(t, base)
	_, port, err := splitAddr(base.Addr())
	check(t, err)
	var server *Listener
	silent := 0
	for ; server == nil; port++ { // the next ports belong to a silent program and to the server
		addr := net.JoinHostPort("127.0.0.1", strconv.Itoa(port+1))
		if silent == 0 {
			if l, err := net.Listen("tcp", addr); err == nil {
				defer l.Close()
				silent++
			}
			continue
		}
		if l, err := net.Listen("tcp", addr); err == nil {
			server, err = NewListener(l, secret, func() Identity { return aChild })
			check(t, err)
		}
	}
	defer server.Close()
	came := accepting(t, server)
	link, met, err := Dial(testContext(t), []string{base.Addr()}, MaxPorts, secret, aParent, 5)
	check(t, err)
	defer link.Close()
	if met != aChild || link.Peer() != server.Addr() {
		t.Errorf("found %+v at %s, want it at %s", met, link.Peer(), server.Addr())
	}
	await(t, "the parent", came)
}

// A server that starts late is found within one pause.
func TestDialWaitsForTheServer(t *testing.T) {
	secret, addr := NewSecret(), closedPort(t)
	dialled := async(func() error {
		link, _, err := Dial(testContext(t), []string{addr}, 1, secret, aParent, 5)
		if err == nil {
			link.Close()
		}
		return err
	})
	if _, _, err := Dial(shortly(t), []string{addr}, 1, secret, aParent, 5); err == nil {
		t.Fatal("somebody listens already")
	}
	l, err := NewListener(listen(t, addr), secret, func() Identity { return aChild })
	check(t, err)
	came := accepting(t, l)
	check(t, await(t, "Dial", dialled))
	await(t, "the parent", came)
}

// A final error is returned at once.
func TestDialGivesUpOnVersion(t *testing.T) {
	tests := map[string]struct {
		err  error
		more bool
	}{"version": {ErrVersion, false}, "refused": {ErrRefused, false}, "epoch": {ErrEpoch, false}, "number": {ErrNumber, true}}
	for kind, test := range tests {
		err := fmt.Errorf("127.0.0.1:1: %w", &refusal{kind, "reason"})
		if !errors.Is(err, test.err) || isFinal(err) == test.more {
			t.Errorf("a refusal because of %s: final is %v", kind, isFinal(err))
		}
	}
}

func TestDialEndsWithContext(t *testing.T) {
	secret := NewSecret()
	ctx, cancel := context.WithCancel(context.Background())
	addr := closedPort(t)
	ended := async(func() error { _, _, err := Dial(ctx, []string{addr}, MaxPorts, secret, aParent, 5); return err })
	cancel()
	if err := await(t, "Dial", ended); err == nil {
		t.Error("Dial found somebody")
	}
}
