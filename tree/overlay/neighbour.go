// One link of the vertex, and its reader.

package overlay

import (
	"context"
	"fmt"
	"sync/atomic"

	"sdm/protocol/wire"
	"sdm/tree"
	"sdm/tree/sendqueue"
)

// readBatch is the number of packets that a reader brings at once.
const readBatch = 64

// neighbour is one link of the vertex, with the state that the loop keeps about it.
// It belongs to the holder of the vertex lock; its reader uses link and the last
// three fields.
type neighbour struct {
	link     Link // nil if this is the owner of the root
	out      sender
	child    tree.NodeID // 0 is the parent
	dirty    bool        // in Loop.dirty
	large    int         // size of the longest packet since the queue was empty
	gone     bool        // closed; packets that still arrive are ignored
	silent   bool        // a parent that is left because of its silence
	received uint64      // bytes received at the last call of isBusy
	// ungranted is the number of bytes, by class, that a child has sent and for which
	// it has not got a new grant.
	ungranted [sendqueue.Output + 1]int

	unread atomic.Bool // its reader waits for room in the inbox
	batch  []entry     // of its reader: entries to bring
	done   bool        // of its reader: the link has ended
}

// isBusy reports whether bytes, perhaps no whole packet, have arrived since the
// last call, or whether this side does not read. Then silence means nothing.
func (n *neighbour) isBusy() bool {
	r, ok := n.link.(interface{ received() uint64 })
	if !ok {
		return n.unread.Load()
	}
	before := n.received
	n.received = r.received()
	return n.received != before || n.unread.Load()
}

func (n *neighbour) close() {
	n.gone = true
	if n.link != nil {
		n.link.Close()
	}
	w := n.out
	if a, ok := w.(*uplink); ok {
		w = a.link
	}
	if p, ok := w.(*blockingWriter); ok {
		p.close()
	}
}

// attach returns a neighbour for a link and starts its reader.
func (l *Loop) attach(link Link, child tree.NodeID) *neighbour {
	n := &neighbour{link: link, child: child}
	w, ok := link.(sender)
	if !ok {
		p := newBlockingWriter(func(m wire.Message) error { return link.Send(m) })
		l.group.Go(p.run)
		w = p
	}
	if child == 0 {
		n.out = &uplink{link: w}
		w.onRoom(l.upper.update, 0)
	} else {
		n.out = w
		w.onRoom(nil, stallTime)
	}
	if d, ok := link.(driven); ok {
		d.drive(func() { l.readPooled(n, d) })
	} else {
		l.group.Go(func() { l.read(n) })
	}
	return n
}

// readPooled brings the packets of a link that a pool reads, one batch at a time. While
// the inbox is full, a separate goroutine waits, because other links wait for the
// pool.
func (l *Loop) readPooled(n *neighbour, link driven) {
	switch {
	case n.done || !link.pending():
	case !l.inbox.hasRoom():
		n.unread.Store(true)
		link.aside(func() {
			if l.mayRead(n) {
				link.wake()
			}
		})
	default:
		n.done = !l.readOn(n)
		link.wake()
	}
}

// read brings packets until the link ends.
func (l *Loop) read(n *neighbour) {
	waiter, _ := n.link.(waiter)
	for l.mayRead(n) {
		if waiter != nil {
			waiter.await()
		}
		if !l.readOn(n) {
			return
		}
	}
}

// mayRead waits until the inbox has room for packets of n; it returns false after
// the end.
func (l *Loop) mayRead(n *neighbour) bool {
	n.unread.Store(true)
	if !l.inbox.room() {
		return false
	}
	n.unread.Store(false)
	return true
}

// readOn brings the packets that have arrived; it returns false when the link has
// ended.
func (l *Loop) readOn(n *neighbour) bool {
	var err error
	n.batch, err = receiveBatch(n, n.batch[:0])
	l.submit(n.batch...)
	if err != nil {
		l.submit(entry{do: func() { l.lose(n, cause(err)) }})
		return false
	}
	clear(n.batch)
	return true
}

// receiveBatch waits for one packet and adds those that have arrived with it.
func receiveBatch(n *neighbour, batch []entry) ([]entry, error) {
	more, _ := n.link.(batchReader)
	for {
		m, err := n.link.Receive()
		if err != nil {
			return batch, err
		}
		batch = append(batch, entry{from: n, msg: m, size: weight(&m)})
		if more == nil || len(batch) == readBatch || !more.ready() {
			return batch, nil
		}
	}
}

// receive processes one packet of a neighbour. The vertex gets packets of permitted
// kinds only.
func (l *Loop) receive(n *neighbour, m *wire.Message) {
	if n.gone {
		return
	}
	switch m.Kind {
	case wire.Ping:
		if n.child == 0 { // the vertex monitors its parent
			l.step(tree.FromParent{Msg: *m})
			return
		}
		l.put(n, &wire.Message{Kind: wire.Pong, ID: m.ID})
	case wire.Pong:
		if n.child != 0 {
			l.step(tree.FromChild{Child: n.child, Msg: *m})
		}
	case wire.Init, wire.Command, wire.Quit, wire.Heal, wire.Resend, wire.Ack, wire.GivenUp:
		if n.child != 0 {
			l.lose(n, fmt.Sprintf("sends a packet of kind %v upwards", m.Kind))
			return
		}
		l.step(tree.FromParent{Msg: *m})
	case wire.Reply, wire.Events:
		if n.child == 0 {
			l.lose(n, fmt.Sprintf("sends a packet of kind %v downwards", m.Kind))
			return
		}
		l.step(tree.FromChild{Child: n.child, Msg: *m})
		l.countReceived(n, m)
	case wire.RoomEvents, wire.RoomOutput:
		a, ok := n.out.(*uplink)
		if !ok {
			l.lose(n, fmt.Sprintf("sends a packet of kind %v upwards", m.Kind))
			return
		}
		l.sent(n, a.room(m))
	default:
		l.lose(n, fmt.Sprintf("sends a packet of kind %v, which is not for here", m.Kind))
	}
}

// put adds a packet for the next flush.
func (l *Loop) put(n *neighbour, m *wire.Message) {
	if n.child != 0 && n.overfull(weight(m)) {
		l.lose(n, fmt.Sprintf("does not read: over %d MiB wait for it", maxDown>>20))
		return
	}
	if a, ok := n.out.(*uplink); ok {
		l.sent(n, a.put(m))
	} else {
		l.sent(n, putParts(n.out, m))
	}
}

// sent marks a neighbour for the next flush, or handles the error of a put.
func (l *Loop) sent(n *neighbour, err error) {
	if err != nil {
		l.lose(n, cause(err))
		return
	}
	if !n.dirty {
		n.dirty = true
		l.dirty = append(l.dirty, n)
	}
}

// countReceived counts what a child has sent and grants room for more, now or later.
func (l *Loop) countReceived(n *neighbour, m *wire.Message) {
	c := sendqueue.ClassOf(m)
	if c == sendqueue.Answer || n.gone {
		return
	}
	if n.ungranted[c] > maxUngranted {
		l.lose(n, fmt.Sprintf("sends more than %d MiB without a grant", maxUngranted>>20))
		return
	}
	n.ungranted[c] += windowUse(m)
	l.grantRoom(n, c)
}

// grantRoom grants a child room for more packets of a class, if it has used half of
// its window and the link to the parent has room.
func (l *Loop) grantRoom(n *neighbour, c sendqueue.Class) {
	if n.ungranted[c] < window/2 || !l.upper.takes(c) {
		return
	}
	m := wire.Message{Kind: wire.RoomEvents, Bytes: uint64(n.ungranted[c])}
	if c == sendqueue.Output {
		m.Kind = wire.RoomOutput
	}
	n.ungranted[c] = 0
	l.put(n, &m)
}

// grantAll grants room to all children when the link to the parent has room again.
func (l *Loop) grantAll() {
	for _, n := range l.children {
		l.grantRoom(n, sendqueue.Event)
		l.grantRoom(n, sendqueue.Output)
	}
}

// overfull reports whether too many bytes are queued for one more packet of this
// size. The longest packet is not counted, because one packet may exceed the limit
// alone.
func (n *neighbour) overfull(size int) bool {
	queued := n.out.queued()
	if queued == 0 {
		n.large = 0
	}
	if queued-n.large > maxDown {
		return true
	}
	n.large = max(n.large, size)
	return false
}

// lose processes the loss of a neighbour.
func (l *Loop) lose(n *neighbour, why string) {
	if n.gone {
		return
	}
	n.close()
	if n.child == 0 {
		l.parent = nil
		l.upper.setUplink(nil, l.keptSize)
		l.orphaned(n, why)
		return
	}
	delete(l.children, n.child)
	l.step(tree.ChildLost{Child: n.child, Cause: why})
	l.checkOver() // a child closes after its Quit
}

// disconnect closes the link to a child at the vertex's request; no loss is reported.
func (l *Loop) disconnect(child tree.NodeID) {
	if n := l.children[child]; n != nil {
		n.close()
		delete(l.children, child)
		l.checkOver()
	}
}

// connect dials a child.
func (l *Loop) connect(c tree.Connect) {
	if l.cfg.Dial == nil {
		l.step(tree.ConnectFailed{Child: c.Child, Cause: "this vertex does not dial"})
		return
	}
	if l.quitting {
		l.telling++
	}
	telling := l.quitting
	told := func() {
		if telling {
			l.telling--
			l.checkOver()
		}
	}
	l.group.Go(func() {
		ctx, cancel := withDialOptions(l.ctx, dialOptions{c.Epoch, c.Adopt || c.Route.Listening}),
			context.CancelFunc(func() {})
		if c.Wait > 0 {
			ctx, cancel = context.WithTimeout(ctx, c.Wait)
		}
		link, err := l.cfg.Dial(ctx, c.Child, c.Route)
		cancel()
		if err != nil {
			l.submit(entry{do: func() {
				l.step(tree.ConnectFailed{Child: c.Child, Cause: err.Error()})
				told()
			}})
			return
		}
		l.submit(entry{link: link, do: func() {
			l.disconnect(c.Child)
			l.children[c.Child] = l.attach(link, c.Child)
			l.step(tree.Connected{Child: c.Child})
			told()
		}})
	})
}
