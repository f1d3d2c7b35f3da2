package overlay

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"sdm/tree"
	"sdm/tree/sendqueue"
)

// Output of own ranks waits while it is paused; output of children does not.
func TestHeldOutput(t *testing.T) {
	g := newGate(10, func() int { return 0 }, func() {})
	g.pauseOutput(true)
	if !g.takes(sendqueue.Output) {
		t.Error("children may not send")
	}
	over, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("enough"))
	if err := g.pass(over, t.Context()); err == nil || err.Error() != "enough" {
		t.Errorf("output passes: %v", err)
	}
	passed := make(chan error)
	go func() { passed <- g.pass(t.Context(), t.Context()) }()
	g.pauseOutput(false)
	if err := <-passed; err != nil {
		t.Errorf("output waits still: %v", err)
	}
}

// A server that has listened before and does not any more is known to have ended
// long before the time limit; a server that may start late is awaited.
func TestDialOfADeadServer(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	l.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	_, _, err = Dial(withDialOptions(ctx, dialOptions{epoch: 2, listened: true}), []string{addr}, 3, NewSecret(), Identity{}, 1)
	if err == nil || ctx.Err() != nil || !strings.Contains(err.Error(), "connection refused") {
		t.Errorf("no listener: %v", err)
	}
	short, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if _, _, err = Dial(short, []string{addr}, 3, NewSecret(), Identity{}, 1); short.Err() == nil {
		t.Errorf("a server that may come late is given up: %v", err)
	}
}

// The Hello has the epoch of the dial options, whichever side dials.
func TestHelloHasTheEpochOfTheOptions(t *testing.T) {
	key := NewSecret()
	epoch := uint64(5)
	l, err := NewListener(listen(t, "127.0.0.1:0"), key, func() Identity { return Identity{Node: 3, Epoch: epoch} })
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	came := make(chan uint64, 1)
	go func() {
		link, parent, err := l.Accept(t.Context())
		if err == nil {
			defer link.Close()
		}
		came <- parent.Epoch
	}()
	dial := func(e uint64) error {
		link, _, err := Dial(withDialOptions(t.Context(), dialOptions{epoch: e}), []string{l.Addr()}, 1, key, Identity{Epoch: 1}, tree.NodeID(3))
		if err == nil {
			link.Close()
		}
		return err
	}
	if err := dial(4); !errors.Is(err, ErrEpoch) {
		t.Errorf("an older epoch: %v", err)
	}
	if err := dial(6); err != nil {
		t.Errorf("a newer epoch: %v", err)
	}
	if got := <-came; got != 6 {
		t.Errorf("the parent came with epoch %d", got)
	}
}

// The kernel reports the number of retransmissions; on a good link it is 0.
func TestRetries(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	conn, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	raw, err := conn.(*net.TCPConn).SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	if n, err := retries(raw); n != 0 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	conn.Close()
	if _, err := retries(raw); err == nil {
		t.Error("a closed connection can be looked at")
	}
}

// A silent child is regarded as alive while bytes come from it, or while we do not
// read.
func TestBusyNeighbour(t *testing.T) {
	a, b := pipe()
	defer a.Close()
	defer b.Close()
	n := &neighbour{link: a, child: 1}
	if n.isBusy() {
		t.Error("nothing has come")
	}
	sent := make(chan error, 1)
	go func() { sent <- b.Send(command(1, nil)) }()
	if _, err := a.Receive(); err != nil {
		t.Fatal(err)
	}
	if err := <-sent; err != nil {
		t.Fatal(err)
	}
	got := fmt.Sprint(n.isBusy(), n.isBusy())
	n.unread.Store(true)
	if got += fmt.Sprint(n.isBusy()); got != "true falsetrue" {
		t.Errorf("busy: %s", got)
	}
}
