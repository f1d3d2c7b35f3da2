// The sending side of the link to the parent, with flow control.

package overlay

import (
	"sync/atomic"
	"time"

	"sdm/protocol/wire"
	"sdm/tree/lane"
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

// ascent is the sending side of the link to the parent. Answers are sent at once
// and overtake the output of unrelated ranks; events and output are sent as far as
// the parent has granted room. It belongs to the holder of the vertex lock, except
// queued and pressing.
type ascent struct {
	link   way
	lane   lane.Lane
	unpaid [lane.Output + 1]int // bytes sent and not granted again by the parent, by class

	waits, presses atomic.Int64 // sizes of lane, read by any goroutine
}

func (a *ascent) put(m *wire.Message) error {
	class := lane.ClassOf(m)
	if a.lane.Size() == 0 && a.free(class) {
		return a.send(m, class)
	}
	a.lane.Add(clone(m), weight(m))
	return a.advance()
}

// free reports whether a packet of the class may be sent.
func (a *ascent) free(c lane.Class) bool { return c == lane.Answer || a.unpaid[c] < window }

func (a *ascent) send(m *wire.Message, c lane.Class) error {
	a.unpaid[c] += share(m)
	return putParts(a.link, m)
}

// advance sends the packets that may be sent now.
func (a *ascent) advance() (err error) {
	for err == nil {
		class, ok := a.lane.First()
		if !ok || !a.free(class) {
			break
		}
		m, _ := a.lane.Take()
		err = a.send(&m, class)
	}
	a.note()
	return err
}

func (a *ascent) note() {
	a.waits.Store(int64(a.lane.Size()))
	a.presses.Store(int64(a.lane.Pressing()))
}

// room processes a grant of the parent.
func (a *ascent) room(m *wire.Message) error {
	c := lane.Output
	if m.Kind == wire.RoomEvents {
		c = lane.Event
	}
	a.unpaid[c] -= int(min(m.Bytes, uint64(a.unpaid[c])))
	return a.advance()
}

func (a *ascent) flush() { a.link.flush() }

func (a *ascent) queued() int { return int(a.waits.Load()) + a.link.queued() }

func (a *ascent) pressing() int { return int(a.presses.Load()) }

func (a *ascent) watch(room func(), stall time.Duration) { a.link.watch(room, stall) }

// settle sends all packets regardless of the windows: no more grants will come.
func (a *ascent) settle(d time.Duration) {
	for a.lane.Size() > 0 {
		if m, _ := a.lane.Take(); putParts(a.link, &m) != nil {
			return
		}
	}
	a.note()
	a.link.flush()
	a.link.settle(d)
}
