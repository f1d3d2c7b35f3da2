// Loss, adoption and the end of a session.

package overlay

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"sdm/protocol"
	"sdm/protocol/wire"
	"sdm/tree"
)

var quit = wire.Message{Kind: wire.Quit}

func TestRunEndsWithContext(t *testing.T) {
	x, y := pipe()
	cause := errors.New("told to")
	l := NewLoop(LoopConfig{Node: newScript(vertex(false)), Parent: x})
	ctx, cancel := context.WithCancelCause(context.Background())
	ended := async(func() error { return l.Run(ctx) })
	cancel(cause)
	if err := await(t, "Run", ended); err != cause {
		t.Errorf("Run: %v", err)
	}
	if _, err := y.Receive(); err == nil {
		t.Error("the parent's link is open")
	}
	y.Close()
}

// Quit goes down, the owner cleans up, events of the clean-up still go up, and Run
// ends when all children have closed their links.
func TestQuit(t *testing.T) {
	x, y := pipe()
	up := make(chan wire.Message, 10)
	top := withChild(t, LoopConfig{Up: func(m wire.Message) { up <- m }}, x)
	cleaning, cleaned := make(chan bool), make(chan bool)
	var lost []string
	low := run(t, LoopConfig{
		Parent: y,
		Quit:   func() { close(cleaning); <-cleaned },
		Lost:   func(why string) { lost = append(lost, why) },
	}, vertex(false))
	top.Post(tree.FromParent{Msg: quit})
	await(t, "Quit", cleaning)
	low.Post(answer(7))
	if m := await(t, "what goes up while cleaning", up); m.ID != 7 {
		t.Errorf("%+v", m)
	}
	low.Post(answer(8))
	close(cleaned)
	check(t, await(t, "the server's end", low.ended))
	check(t, await(t, "the master's end", top.ended))
	if m := await(t, "the last words", up); m.ID != 8 {
		t.Errorf("%+v", m)
	}
	if len(lost) > 0 {
		t.Errorf("after Quit the parent is lost: %q", lost)
	}
	closed := 0
	for len(top.node.seen) > 0 {
		if _, ok := (<-top.node.seen).(tree.ChildLost); ok {
			closed++
		}
	}
	if closed != 1 { // otherwise the vertex takes the child for silent
		t.Errorf("the vertex is told %d times that its child has closed", closed)
	}
}

// The wait for a child that does not close its link is bounded.
func TestWaitForChildrenIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x, y := pipe()
		r := withChild(t, LoopConfig{}, x)
		start := time.Now()
		r.Post(tree.FromParent{Msg: quit})
		check(t, await(t, "Run", r.ended))
		if took := time.Since(start); took != quitGrace {
			t.Errorf("took %v, want %v", took, quitGrace)
		}
		if m, err := y.Receive(); err != nil || m.Kind != wire.Quit {
			t.Errorf("the child got %+v, %v", m, err)
		}
		y.Close()
	})
}

func TestParentLost(t *testing.T) {
	x, y := pipe()
	lost := make(chan string, 10)
	r := run(t, LoopConfig{Parent: x, Lost: func(why string) { lost <- why }}, vertex(false))
	y.Close()
	if why := await(t, "Lost", lost); why != "closed by the other side" {
		t.Errorf("lost because %q", why)
	}
	// The vertex continues, and its packets wait for the next parent.
	r.Post(answer(1), answer(2))
	x2, y2 := pipe()
	defer y2.Close()
	r.SetParent(x2)
	r.Post(answer(3))
	check(t, receiveIDs(y2, 3))
	check(t, y2.Send(command(5, nil)))
	if in := seen[tree.FromParent](t, r); in.Msg.ID != 5 {
		t.Errorf("%+v", in)
	}
	// A parent that is replaced is not lost.
	x3, y3 := pipe()
	defer y3.Close()
	r.SetParent(x3)
	r.Post(answer(1))
	check(t, receiveIDs(y3, 1))
	if _, err := y2.Receive(); err == nil {
		t.Error("the old parent's link is open")
	}
	y3.Close()
	await(t, "the loss of the third", lost)
	r.stop()
	if len(lost) > 0 {
		t.Errorf("lost once more: %q", <-lost)
	}
}

// If Lost is nil, the loss of the parent is a Quit.
func TestParentLostIsQuit(t *testing.T) {
	x, y := pipe()
	called := make(chan bool, 1)
	r := run(t, LoopConfig{Parent: x, Quit: func() { called <- true }}, vertex(false))
	y.Close()
	await(t, "Quit", called)
	check(t, await(t, "Run", r.ended))
}

func TestDropReportsNoLoss(t *testing.T) {
	x, y := pipe()
	defer y.Close()
	r := run(t, LoopConfig{Dial: func(context.Context, tree.NodeID, protocol.Route) (Link, error) { return x, nil }},
		func(_ time.Duration, in tree.Input) []tree.Output {
			switch in.(type) {
			case tree.FromParent:
				return []tree.Output{tree.Connect{Child: 1}}
			case tree.Connected:
				return []tree.Output{tree.Disconnect{Child: 1}, tree.ToChild{Child: 1, Msg: quit}, tree.Disconnect{Child: 2}}
			}
			return nil
		})
	r.Post(down(1))
	if m, err := y.Receive(); err == nil {
		t.Errorf("a dropped child got %+v", m)
	}
	r.stop()
	close(r.node.seen)
	for in := range r.node.seen {
		if _, ok := in.(tree.ChildLost); ok {
			t.Errorf("dropped, and then %+v", in)
		}
	}
}

// A child that does not read is lost when too much is queued for it, or for too
// long. Others are served meanwhile.
func TestChildThatDoesNotRead(t *testing.T) {
	t.Run("too much", func(t *testing.T) {
		x, y := pipe()
		r := withChild(t, LoopConfig{}, x)
		body := make([]byte, 1<<20)
		for i := range maxDown>>20 + 8 {
			r.Post(tree.FromParent{Msg: command(i, body)})
		}
		if lost := seen[tree.ChildLost](t, r); lost.Cause != "does not read: over 16 MiB wait for it" {
			t.Errorf("%+v", lost)
		}
		y.Close()
	})
	t.Run("too long", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			x, y := pipe()
			r := withChild(t, LoopConfig{}, x)
			start := time.Now()
			r.Post(tree.FromParent{Msg: command(1, make([]byte, 1<<20))})
			lost := seen[tree.ChildLost](t, r)
			if took := time.Since(start); lost.Cause != errStalled.Error() || took != stallTime {
				t.Errorf("%+v after %v", lost, took)
			}
			r.stop()
			y.Close()
		})
	})
	t.Run("one large command is not too much", func(t *testing.T) {
		x, y := pipe()
		defer y.Close()
		r := withChild(t, LoopConfig{}, x)
		r.Post(tree.FromParent{Msg: command(1, make([]byte, 2*maxDown))}, down(2))
		check(t, receiveIDs(y, 2))
	})
}

// waitForGate waits until the link to the parent is congested.
func (r *running) waitForGate() {
	shut := func() bool {
		r.upper.mu.Lock()
		defer r.upper.mu.Unlock()
		return r.upper.shut != nil
	}
	for !shut() {
		runtime.Gosched()
	}
}

// AwaitRoom ends with the loop.
func TestAwaitRoomEndsWithTheLoop(t *testing.T) {
	x, y := pipe()
	defer y.Close()
	r := run(t, LoopConfig{Parent: x}, vertex(false))
	flood := async(func() error {
		for {
			if err := r.AwaitRoom(context.Background()); err != nil {
				return err
			}
			r.Post(tree.LocalEvents{Groups: events(1, 64<<10).Groups})
		}
	})
	r.waitForGate()
	r.stop()
	if err := await(t, "AwaitRoom", flood); err != ErrEnded {
		t.Errorf("AwaitRoom: %v", err)
	}
}

// A silent parent is left at the vertex's request. Silent is called if it is set,
// else Lost, and only once.
func TestSilentParentIsLeft(t *testing.T) {
	for _, told := range []bool{true, false} {
		x, y := pipe()
		said := make(chan string, 4)
		cfg := LoopConfig{Parent: x, Lost: func(why string) { said <- "lost: " + why }}
		want := "lost: silent for 1h"
		if told {
			cfg.Silent, want = func(why string) { said <- "silent: " + why }, "silent: silent for 1h"
		}
		r := run(t, cfg, func(_ time.Duration, in tree.Input) []tree.Output {
			if in, ok := in.(tree.FromParent); ok && in.Msg.Kind == wire.Ping {
				return []tree.Output{tree.LeaveParent{Cause: "silent for 1h"}}
			}
			return nil
		})
		check(t, y.Send(wire.Message{Kind: wire.Ping}))
		seen[tree.FromParent](t, r)
		if why := await(t, "the loss", said); why != want {
			t.Errorf("%q, want %q", why, want)
		}
		seen[tree.ParentLost](t, r)
		if _, err := y.Receive(); err == nil {
			t.Error("the link is open")
		}
		r.stop()
		if len(said) > 0 {
			t.Errorf("and then %q", <-said)
		}
		y.Close()
	}
}
