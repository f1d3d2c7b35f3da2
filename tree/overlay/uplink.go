// The sending side of the link to the parent, with flow control.

package overlay

import (
	"sync/atomic"
	"time"

	"sdm/protocol/wire"
	"sdm/tree/sendqueue"
)

// window is the number of bytes of events, and again of output, that may be in
// flight to a parent without a grant: packets that the transport has accepted can
// not be overtaken any more. With a round trip of 1 ms it allows 32 MB per second;
// with 1,000 children that write at once the parent must hold 64 MB.
const window = 32 << 10

// maxUnpaid is the number of bytes that a child may send beyond its windows before
// it is lost: at the end of a session it sends all it has, regardless of the
// windows.
const maxUnpaid = 32 << 20

// uplink is the sending side of the link to the parent. Answers are sent at once
// and overtake the output of unrelated ranks; events and output are sent as far as
// the parent has granted room. It belongs to the holder of the vertex lock, except
// queued and urgent.
type uplink struct {
	link   way
	queue  sendqueue.Queue
	unpaid [sendqueue.Output + 1]int // bytes sent and not granted again by the parent, by class

	size, urgentSize atomic.Int64 // sizes of queue, read by any goroutine
}

func (a *uplink) put(m *wire.Message) error {
	class := sendqueue.ClassOf(m)
	if a.queue.Size() == 0 && a.free(class) {
		return a.send(m, class)
	}
	a.queue.Add(clone(m), weight(m))
	return a.advance()
}

// free reports whether a packet of the class may be sent.
func (a *uplink) free(c sendqueue.Class) bool { return c == sendqueue.Answer || a.unpaid[c] < window }

func (a *uplink) send(m *wire.Message, c sendqueue.Class) error {
	a.unpaid[c] += share(m)
	return putParts(a.link, m)
}

// advance sends the packets that may be sent now.
func (a *uplink) advance() (err error) {
	for err == nil {
		class, ok := a.queue.First()
		if !ok || !a.free(class) {
			break
		}
		m, _ := a.queue.Take()
		err = a.send(&m, class)
	}
	a.note()
	return err
}

func (a *uplink) note() {
	a.size.Store(int64(a.queue.Size()))
	a.urgentSize.Store(int64(a.queue.Urgent()))
}

// room processes a grant of the parent.
func (a *uplink) room(m *wire.Message) error {
	c := sendqueue.Output
	if m.Kind == wire.RoomEvents {
		c = sendqueue.Event
	}
	a.unpaid[c] -= int(min(m.Bytes, uint64(a.unpaid[c])))
	return a.advance()
}

func (a *uplink) flush() { a.link.flush() }

func (a *uplink) queued() int { return int(a.size.Load()) + a.link.queued() }

func (a *uplink) urgent() int { return int(a.urgentSize.Load()) }

func (a *uplink) watch(room func(), stall time.Duration) { a.link.watch(room, stall) }

// settle sends all packets regardless of the windows: no more grants will come.
func (a *uplink) settle(d time.Duration) {
	for a.queue.Size() > 0 {
		if m, _ := a.queue.Take(); putParts(a.link, &m) != nil {
			return
		}
	}
	a.note()
	a.link.flush()
	a.link.settle(d)
}
