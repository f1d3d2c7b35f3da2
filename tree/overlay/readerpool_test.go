package overlay

import (
	"context"
	"errors"
	"sync"
	"testing"

	"sdm/protocol"
	"sdm/protocol/rank"
	"sdm/protocol/wire"
	"sdm/tree"
)

// readerPoolFor returns a pool that is closed after the loops of the test. It must
// be called before the loops are made.
func readerPoolFor(t *testing.T, number int) *ReaderPool {
	c := NewReaderPool(number)
	t.Cleanup(c.Close)
	return c
}

// chain returns a root above this number of vertices in a row, and the packets that the root sends
// up. The last vertex answers a command with its body.
func chain(t *testing.T, c *ReaderPool, vertices int) (root *running, up <-chan wire.Message) {
	answers := make(chan wire.Message, 1000)
	cfg := LoopConfig{Up: func(m wire.Message) { answers <- m }}
	for range vertices {
		above, below := c.Pipe()
		r := withChild(t, cfg, above)
		if root == nil {
			root = r
		}
		cfg = LoopConfig{Parent: below}
	}
	var last *running
	cfg.Deliver = func(d tree.Deliver) {
		last.Post(tree.LocalReply{ID: d.ID, Groups: []protocol.Group{{Kind: protocol.KindResult, Ranks: rank.Of(0), Body: d.Body}}})
	}
	node := newScript(vertex(false))
	cfg.Node = node
	last = &running{Loop: NewLoop(cfg), node: node}
	ctx, cancel := context.WithCancel(context.Background())
	ended := async(func() error { return last.Run(ctx) })
	t.Cleanup(func() {
		cancel()
		<-ended
	})
	return root, answers
}

// One reader is enough for any number of links, also for packets larger than the
// buffer of a link. Order is kept.
func TestOneReaderForAllLinks(t *testing.T) {
	root, up := chain(t, readerPoolFor(t, 1), 3)
	sizes := []int{0, 100, pipeBuffer - 100, pipeBuffer + 1, 10, 3 * pipeBuffer, 1}
	for i, size := range sizes {
		root.Post(tree.FromParent{Msg: command(1+i, make([]byte, size))})
	}
	for i, size := range sizes {
		m := await(t, "an answer", up)
		if m.ID != protocol.RequestID(i+1) || len(m.Groups) != 1 || len(m.Groups[0].Body) != size {
			t.Fatalf("answer %d is %v", i+1, m)
		}
	}
}

// While the inbox of one vertex is full, because its own packets are not accepted,
// the reader serves others. Nothing is lost.
func TestCarrierDoesNotWaitForAFullVertex(t *testing.T) {
	c := readerPoolFor(t, 1)
	gate, up := make(chan struct{}), make(chan wire.Message, 1000)
	free := sync.OnceFunc(func() { close(gate) })
	defer free()
	above, below := c.Pipe()
	busy := withChild(t, LoopConfig{Up: func(m wire.Message) { up <- m }}, above)
	at := make(chan struct{})
	busy.leave(entry{do: func() { close(at); <-gate }}) // from here on the inbox is not processed
	<-at
	const packets, size = 30, 64 << 10
	sent := async(func() error {
		for id := 1; id <= packets; id++ {
			if err := below.Send(events(id, size)); err != nil {
				return err
			}
		}
		return nil
	})
	other, answers := chain(t, c, 2)
	for id := 1; id <= 50; id++ {
		other.Post(down(id))
		if m := await(t, "an answer elsewhere", answers); m.ID != protocol.RequestID(id) {
			t.Fatalf("answer %d is %v", id, m)
		}
	}
	select {
	case err := <-sent:
		t.Fatalf("more has been taken than there is room for (%v)", err)
	default:
	}
	free()
	check(t, await(t, "the sending", sent))
	for id := 1; id <= packets; id++ {
		if m := await(t, "what has waited", up); m.ID != protocol.RequestID(id) {
			t.Fatalf("packet %d is %v", id, m)
		}
	}
	below.Close()
}

// The end of a link is reported once, after all that was sent.
func TestCarriedLinkEnds(t *testing.T) {
	up := make(chan wire.Message, 10)
	above, below := readerPoolFor(t, 1).Pipe()
	r := withChild(t, LoopConfig{Up: func(m wire.Message) { up <- m }}, above)
	check(t, below.Send(events(1, 10)))
	below.Close()
	await(t, "what was sent", up)
	if lost := seen[tree.ChildLost](t, r); lost.Child != 1 {
		t.Errorf("%+v", lost)
	}
}

// Before a loop has such a link, it can be read like any other; see Greet.
func TestCarriedLinkBeforeTheLoop(t *testing.T) {
	a, b := readerPoolFor(t, 1).Pipe()
	defer a.Close()
	check(t, a.Send(command(7, nil)))
	if m, err := b.Receive(); err != nil || m.ID != 7 {
		t.Errorf("got %v, %v", m, err)
	}
	b.Close()
	if _, err := b.Receive(); err == nil || errors.Is(err, ErrTooLong) {
		t.Errorf("after the end: %v", err)
	}
}
