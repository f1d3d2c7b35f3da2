// A flood of output: which packets wait, which do not, and how much is queued.

package overlay

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"sdm/protocol"
	"sdm/protocol/rank"
	"sdm/protocol/wire"
	"sdm/tree"
	"sdm/tree/sendqueue"
)

// dammed is a root whose owner accepts nothing before release, above servers in a
// row; the last one is farthest from the root.
type dammed struct {
	root    *running
	servers []*running
	up      chan wire.Message
	release func()
}

func dam(t *testing.T, tr transport, servers int) *dammed {
	t.Helper()
	d := &dammed{up: make(chan wire.Message, 100_000)}
	open := make(chan bool)
	d.release = sync.OnceFunc(func() { close(open) })
	t.Cleanup(d.release)
	x, y := tr.pair(t)
	d.root = withChild(t, LoopConfig{Up: func(m wire.Message) { <-open; d.up <- m }}, x)
	for i := range servers {
		var low *running
		ready := make(chan bool)
		cfg := LoopConfig{Parent: y, Deliver: func(r tree.Deliver) {
			<-ready
			low.Post(answer(int(r.ID)))
		}}
		if i < servers-1 {
			x, y = tr.pair(t)
			below := x
			cfg.Dial = func(context.Context, tree.NodeID, protocol.Route) (Link, error) { return below, nil }
		}
		low = run(t, cfg, vertex(i < servers-1))
		close(ready)
		d.servers = append(d.servers, low)
		if i < servers-1 {
			low.Post(tree.FromParent{Msg: wire.Message{Kind: wire.Init}})
			seen[tree.Connected](t, low)
		}
	}
	return d
}

// last returns the server that has ranks: rank 0 answers (see answer), rank 1
// writes.
func (d *dammed) last() *running { return d.servers[len(d.servers)-1] }

// flood writes until limit bytes have been accepted, or ctx ends.
func (d *dammed) flood(ctx context.Context, limit int, taken *atomic.Int64) error {
	const size = 8 << 10
	for i := 1; i <= limit/size; i++ {
		if err := d.last().AwaitRoom(ctx); err != nil {
			return err
		}
		d.last().Post(tree.LocalEvents{Groups: events(i, size).Groups})
		taken.Add(size)
	}
	return nil
}

// waitForDam waits until nothing moves any more: from the root down, each link to a
// parent is full, and no packet is in flight.
func (d *dammed) waitForDam() {
	above := d.root
	for _, low := range d.servers {
		for {
			above.waitForGate()
			var sent, taken, waits int
			low.inside(func() {
				if low.parent != nil {
					a := low.parent.out.(*uplink)
					sent, waits = a.ungranted[sendqueue.Output], a.queue.Size()
				}
			})
			above.inside(func() { taken = above.children[1].ungranted[sendqueue.Output] })
			if sent >= window && sent == taken && waits > 0 {
				break
			}
			runtime.Gosched()
		}
		above = low
	}
	above.waitForGate()
}

// inside runs a function with the vertex lock.
func (r *running) inside(do func()) {
	done := make(chan bool)
	r.leave(entry{do: func() { do(); close(done) }})
	<-done
}

// The answer of another rank overtakes all queued output, on every kind of link.
// Only the packet that the owner of the root is processing comes before it.
func TestAnswersPassOutput(t *testing.T) {
	for _, tr := range transports {
		t.Run(tr.name, func(t *testing.T) {
			d := dam(t, tr, 3)
			var taken atomic.Int64
			ctx, cancel := context.WithCancel(testContext(t))
			flooded := async(func() error { return d.flood(ctx, 1<<30, &taken) })
			d.waitForDam()
			for id := 1; id <= 50; id++ {
				d.root.Post(down(id))
			}
			for range 50 {
				for in := range d.root.node.seen {
					if m, ok := in.(tree.FromChild); ok && m.Msg.Kind == wire.Reply {
						break
					}
				}
			}
			d.root.inside(d.root.flush) // flushes the last packet up
			cancel()
			if err := await(t, "the flood", flooded); !errors.Is(err, context.Canceled) {
				t.Errorf("the flood: %v", err)
			}
			d.release()
			before := 0
			for id := protocol.RequestID(1); id <= 50; {
				m := await(t, "an answer", d.up)
				if m.Kind != wire.Reply {
					before++
				} else if m.ID != id {
					t.Fatalf("answer %d came where %d was expected", m.ID, id)
				} else {
					id++
				}
			}
			if before > 1 {
				t.Errorf("%d packets of output came before the answers", before)
			}
		})
	}
}

// An answer of the writing rank comes after its output.
func TestAnswerOfAWriterWaits(t *testing.T) {
	d := dam(t, transports[0], 2)
	var taken atomic.Int64
	flooded := async(func() error { return d.flood(testContext(t), 1<<20, &taken) })
	d.waitForDam()
	d.last().Post(tree.LocalReply{ID: 7, Groups: []protocol.Group{{Kind: protocol.KindResult, Ranks: rank.Of(1)}}})
	written := int(taken.Load()) // what was accepted before; the flood may be one ahead
	d.release()
	heard := 0
	for {
		m := await(t, "the answer", d.up)
		if m.Kind == wire.Reply {
			break
		}
		heard += len(m.Groups[0].Body)
	}
	if heard < written {
		t.Errorf("%d bytes were written before the answer, %d heard", written, heard)
	}
	check(t, await(t, "the flood", flooded))
}

// The queues are bounded however much is written, and no byte is lost.
func TestFloodIsBounded(t *testing.T) {
	for _, tr := range transports {
		t.Run(tr.name, func(t *testing.T) {
			const servers, all = 3, 8 << 20
			d := dam(t, tr, servers)
			var taken atomic.Int64
			flooded := async(func() error { return d.flood(testContext(t), all, &taken) })
			d.waitForDam()
			// Each vertex queues maxUp, each link a window, and each one packet more.
			if held, most := int(taken.Load()), (servers+1)*(maxUp+window+3*(8<<10)); held > most {
				t.Errorf("%d bytes are held, want at most %d", held, most)
			}
			d.release()
			check(t, await(t, "the flood", flooded))
			heard := 0
			for heard < all {
				heard += len(await(t, "output", d.up).Groups[0].Body)
			}
			if heard != all {
				t.Errorf("%d bytes written, %d heard", all, heard)
			}
		})
	}
}

// Events have a window of their own: stops overtake a flood, but no more of them
// than there is room for.
func TestEventsPassOutput(t *testing.T) {
	d := dam(t, transports[0], 2)
	var taken atomic.Int64
	ctx, cancel := context.WithCancel(testContext(t))
	flooded := async(func() error { return d.flood(ctx, 1<<30, &taken) })
	d.waitForDam()
	stop := protocol.Group{Kind: protocol.KindStopped, Ranks: rank.Of(2), Body: make([]byte, 1<<10)}
	const stops = 1000 // 1 MB
	for range stops {
		d.last().Post(tree.LocalEvents{Groups: []protocol.Group{stop}})
	}
	for range 20 {
		for in := range d.root.node.seen {
			if m, ok := in.(tree.FromChild); ok && m.Msg.Groups[0].Kind == protocol.KindStopped {
				break
			}
		}
	}
	d.last().inside(func() {
		if n := d.last().parent.out.(*uplink).queue.Urgent(); n < 500<<10 {
			t.Errorf("%d bytes of stops wait where they came from, want most of a megabyte", n)
		}
	})
	cancel()
	await(t, "the flood", flooded)
	d.release()
	for range stops {
		for await(t, "a stop", d.up).Groups[0].Kind != protocol.KindStopped {
		}
	}
}

// A child that ignores its windows is lost before it fills the memory.
func TestChildThatIgnoresItsWindow(t *testing.T) {
	x, y := pipe()
	open := make(chan bool)
	defer close(open)
	r := withChild(t, LoopConfig{Up: func(wire.Message) { <-open }}, x)
	sent := async(func() error {
		for i := 1; ; i++ {
			if err := y.Send(events(i, 1<<20)); err != nil {
				return err
			}
		}
	})
	if lost := seen[tree.ChildLost](t, r); lost.Cause != "sends more than 32 MiB without a grant" {
		t.Errorf("%+v", lost)
	}
	if err := await(t, "the child", sent); err == nil {
		t.Error("the link is open")
	}
	y.Close()
}

// At the end of a session all queued packets are sent, even without a grant.
func TestLaneIsEmptiedAtTheEnd(t *testing.T) {
	const n = 40
	x, y := pipe()
	defer y.Close()
	r := run(t, LoopConfig{Parent: x}, vertex(false))
	for i := 1; i <= n; i++ {
		r.Post(tree.LocalEvents{Groups: events(i, 16<<10).Groups})
	}
	_, err := y.Receive()
	check(t, err) // so the parent is set
	r.inside(func() {
		if r.parent.out.queued() == 0 {
			t.Error("nothing waits for room")
		}
	})
	check(t, y.Send(quit))
	for i := range n - 1 {
		if m, err := y.Receive(); err != nil || m.Kind != wire.Events {
			t.Fatalf("packet %d is %v, %v", i, m.Kind, err)
		}
	}
	check(t, await(t, "Run", r.ended))
}
