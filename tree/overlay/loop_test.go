// The loop.

package overlay

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"sdm/protocol"
	"sdm/protocol/wire"
	"sdm/tree"
)

// Commands pass two loops and answers come back, in order, over every kind of link.
func TestLoopCarries(t *testing.T) {
	for _, tr := range append(transports, transport{"foreign", openForeign}) {
		t.Run(tr.name, func(t *testing.T) {
			const n = 500
			x, y := tr.pair(t)
			up := make(chan wire.Message, n)
			top := withChild(t, LoopConfig{Up: func(m wire.Message) { up <- m }}, x)
			var low *running
			ready := make(chan bool)
			low = run(t, LoopConfig{Parent: y, Deliver: func(d tree.Deliver) {
				<-ready
				low.Post(answer(int(d.ID)))
			}}, vertex(false))
			close(ready)
			for i := 1; i <= n; i++ {
				top.Post(down(i))
			}
			for i := 1; i <= n; i++ {
				if m := await(t, "an answer", up); m.Kind != wire.Reply || m.ID != protocol.RequestID(i) {
					t.Fatalf("answer %d is %v %d", i, m.Kind, m.ID)
				}
			}
			if err := low.stop(); err != context.Canceled {
				t.Errorf("Run: %v", err)
			}
			if lost := seen[tree.ChildLost](t, top); lost.Child != 1 || !strings.Contains(lost.Cause, "closed by the other side") {
				t.Errorf("%+v", lost)
			}
		})
	}
}

// foreign is a link that implements none of the optional interfaces.
type foreign struct{ Link }

func openForeign(t testing.TB) (raw io.ReadWriteCloser, link Link) {
	raw, link = openMemory(t)
	return raw, foreign{link}
}

// A caller of Post may hold a lock that Deliver takes.
func TestPostUnderLock(t *testing.T) {
	var mu sync.Mutex
	delivered := make(chan protocol.RequestID, 100)
	r := run(t, LoopConfig{Deliver: func(d tree.Deliver) {
		mu.Lock()
		defer mu.Unlock()
		delivered <- d.ID
	}}, vertex(false))
	for i := 1; i <= 100; i += 2 {
		mu.Lock()
		r.Post(down(i), down(i+1))
		mu.Unlock()
	}
	for i := 1; i <= 100; i++ {
		if id := await(t, "a request", delivered); id != protocol.RequestID(i) {
			t.Fatalf("request %d was delivered as number %d", id, i)
		}
	}
}

// Inputs that many goroutines post at once are each processed once, in the order of
// each goroutine.
func TestPostFromMany(t *testing.T) {
	up := make(chan wire.Message, 10000)
	r := run(t, LoopConfig{Up: func(m wire.Message) { up <- m }}, vertex(false))
	const posters, each = 8, 200
	for p := range posters {
		go func() {
			for i := range each {
				r.Post(answer(p*each + i))
			}
		}()
	}
	next := [posters]int{}
	for range posters * each {
		id := int(await(t, "an answer", up).ID)
		if id%each != next[id/each] {
			t.Fatalf("poster %d: number %d came where %d was expected", id/each, id%each, next[id/each])
		}
		next[id/each]++
	}
}

// writes counts the writes under a link.
type writes struct {
	*duplex
	n *int
}

func (w writes) tryWrite(p []byte) (int, error) { *w.n++; return w.duplex.tryWrite(p) }

// Packets that arrive together are forwarded in one write.
func TestLoopWritesBatches(t *testing.T) {
	there, back := newFlow(), newFlow()
	n := 0
	link := NewStream(writes{&duplex{in: back, out: there}, &n}, "counted")
	other := NewStream(&duplex{in: there, out: back}, "other")
	defer other.Close()
	r := withChild(t, LoopConfig{}, link)
	var in []tree.Input
	for i := 1; i <= 100; i++ {
		in = append(in, down(i))
	}
	r.Post(in...)
	check(t, receiveIDs(other, 100))
	r.stop()
	if n != 1 {
		t.Errorf("100 commands left in %d writes", n)
	}
}

func TestLoopTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var ticks []time.Duration
		r := run(t, LoopConfig{}, func(now time.Duration, in tree.Input) []tree.Output {
			switch in := in.(type) {
			case tree.Tick:
				ticks = append(ticks, now)
			case tree.FromParent: // its Wait is the Wake to request
				at := in.Msg.Wait
				if at > 0 {
					at += now
				}
				return []tree.Output{tree.Wake{At: at}}
			}
			return nil
		})
		wish := func(d time.Duration) { r.Post(tree.FromParent{Msg: wire.Message{Wait: d}}) }
		wait := func(d time.Duration) { <-time.After(d); synctest.Wait() }
		wish(50 * time.Millisecond)
		wait(100 * time.Millisecond)
		wish(time.Hour)
		wish(30 * time.Millisecond) // earlier
		wait(50 * time.Millisecond)
		wish(10 * time.Millisecond)
		wish(40 * time.Millisecond) // later
		wait(100 * time.Millisecond)
		wish(10 * time.Millisecond)
		wish(0) // never
		wait(time.Hour)
		r.stop()
		want := []time.Duration{50, 130, 190}
		if len(ticks) != len(want) {
			t.Fatalf("ticks at %v, want %v ms", ticks, want)
		}
		for i, at := range ticks {
			if at != want[i]*time.Millisecond {
				t.Errorf("tick at %v, want %v ms", at, want[i])
			}
		}
	})
}

func TestConnectFails(t *testing.T) {
	tests := []struct {
		name string
		dial func(context.Context, tree.NodeID, protocol.Route) (Link, error)
		text string
	}{
		{"with its reason", func(context.Context, tree.NodeID, protocol.Route) (Link, error) {
			return nil, errors.New("host is down")
		}, "host is down"},
		{"in time", func(ctx context.Context, _ tree.NodeID, _ protocol.Route) (Link, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}, "deadline exceeded"},
		{"without a way", nil, "does not dial"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := run(t, LoopConfig{Dial: test.dial}, vertex(true))
				start := time.Now()
				r.Post(tree.FromParent{Msg: wire.Message{Kind: wire.Init}})
				failed := seen[tree.ConnectFailed](t, r)
				if failed.Child != 1 || !strings.Contains(failed.Cause, test.text) {
					t.Errorf("%+v", failed)
				}
				if took := time.Since(start); took > time.Second {
					t.Errorf("took %v, the wait was 1s", took)
				}
				r.stop()
			})
		})
	}
}

// A dial that returns after the end of the loop leaks nothing.
func TestDialAfterTheEnd(t *testing.T) {
	x, y := pipe()
	defer y.Close()
	r := run(t, LoopConfig{Dial: func(ctx context.Context, _ tree.NodeID, _ protocol.Route) (Link, error) {
		<-ctx.Done()
		return x, nil
	}}, vertex(true))
	r.Post(tree.FromParent{Msg: wire.Message{Kind: wire.Init}})
	seen[tree.FromParent](t, r)
	r.stop()
	if _, err := y.Receive(); err == nil {
		t.Error("the link is open")
	}
}

// Neighbours that violate the protocol are lost.
func TestLoopRefusesPackets(t *testing.T) {
	for _, kind := range []wire.Kind{wire.Init, wire.Command, wire.Quit, wire.Hello, 77} {
		t.Run(fmt.Sprintf("kind %d from a child", kind), func(t *testing.T) {
			x, y := pipe()
			r := withChild(t, LoopConfig{}, x)
			check(t, y.Send(wire.Message{Kind: kind}))
			if lost := seen[tree.ChildLost](t, r); !strings.Contains(lost.Cause, fmt.Sprintf("packet of kind %v", kind)) {
				t.Errorf("%+v", lost)
			}
			y.Close()
		})
	}
	for _, kind := range []wire.Kind{wire.Reply, wire.Events, wire.Welcome, 77} {
		t.Run(fmt.Sprintf("kind %d from the parent", kind), func(t *testing.T) {
			x, y := pipe()
			lost := make(chan string, 2)
			run(t, LoopConfig{Parent: x, Lost: func(why string) { lost <- why }}, vertex(false))
			check(t, y.Send(wire.Message{Kind: kind}))
			if why := await(t, "the loss", lost); !strings.Contains(why, fmt.Sprintf("packet of kind %v", kind)) {
				t.Error(why)
			}
			y.Close()
		})
	}
}

func TestLoopAnswersPing(t *testing.T) {
	x, y := pipe()
	defer y.Close()
	withChild(t, LoopConfig{}, x)
	check(t, y.Send(wire.Message{Kind: wire.Pong}, wire.Message{Kind: wire.Ping, ID: 9}))
	m, err := y.Receive()
	check(t, err)
	if m.Kind != wire.Pong || m.ID != 9 {
		t.Errorf("Ping is answered by %+v", m)
	}
}

func TestPostAfterTheEnd(t *testing.T) {
	x, y := pipe()
	defer y.Close()
	r := run(t, LoopConfig{}, vertex(false))
	r.stop()
	r.Post(down(1))
	if err := r.AwaitRoom(testContext(t)); err != ErrEnded {
		t.Errorf("AwaitRoom: %v", err)
	}
	r.SetParent(x)
	if _, err := y.Receive(); err == nil {
		t.Error("SetParent after the end leaves the link open")
	}
	if len(r.node.seen) > 0 {
		t.Error("the vertex has seen something")
	}
}

// Inputs posted before Run are processed by Run.
func TestPostBeforeRun(t *testing.T) {
	up := make(chan wire.Message, 1)
	node := newScript(vertex(false))
	l := NewLoop(LoopConfig{Node: node, Up: func(m wire.Message) { up <- m }})
	l.Post(answer(3))
	if len(node.seen) > 0 {
		t.Error("Post works before Run")
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := async(func() error { return l.Run(ctx) })
	if m := await(t, "the answer", up); m.ID != 3 {
		t.Errorf("%+v", m)
	}
	cancel()
	await(t, "Run", ended)
}
