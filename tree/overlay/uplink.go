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

// maxUngranted is the number of bytes that a child may send beyond its windows before
// it is lost: at the end of a session it sends all it has, regardless of the
// windows.
const maxUngranted = 32 << 20

// uplink is the sending side of the link to the parent. Answers are sent at once
// and overtake the output of unrelated ranks; events and output are sent as far as
// the parent has granted room. It belongs to the holder of the vertex lock, except
// queued and urgent.
type uplink struct {
	link      sender
	queue     sendqueue.Queue
	ungranted [sendqueue.Output + 1]int // bytes sent and not granted again by the parent, by class

	size, urgentSize atomic.Int64 // sizes of queue, read by any goroutine
}

func (u *uplink) put(m *wire.Message) error {
	class := sendqueue.ClassOf(m)
	if u.queue.Size() == 0 && u.free(class) {
		return u.send(m, class)
	}
	u.queue.Add(clone(m), weight(m))
	return u.advance()
}

// free reports whether a packet of the class may be sent.
func (u *uplink) free(c sendqueue.Class) bool {
	return c == sendqueue.Answer || u.ungranted[c] < window
}

func (u *uplink) send(m *wire.Message, c sendqueue.Class) error {
	u.ungranted[c] += windowUse(m)
	return putParts(u.link, m)
}

// advance sends the packets that may be sent now.
func (u *uplink) advance() (err error) {
	for err == nil {
		class, ok := u.queue.First()
		if !ok || !u.free(class) {
			break
		}
		m, _ := u.queue.Take()
		err = u.send(&m, class)
	}
	u.publishSizes()
	return err
}

func (u *uplink) publishSizes() {
	u.size.Store(int64(u.queue.Size()))
	u.urgentSize.Store(int64(u.queue.Urgent()))
}

// room processes a grant of the parent.
func (u *uplink) room(m *wire.Message) error {
	c := sendqueue.Output
	if m.Kind == wire.RoomEvents {
		c = sendqueue.Event
	}
	u.ungranted[c] -= int(min(m.Bytes, uint64(u.ungranted[c])))
	return u.advance()
}

func (u *uplink) flush() { u.link.flush() }

func (u *uplink) queued() int { return int(u.size.Load()) + u.link.queued() }

func (u *uplink) urgent() int { return int(u.urgentSize.Load()) }

func (u *uplink) onRoom(room func(), stall time.Duration) { u.link.onRoom(room, stall) }

// settle sends all packets regardless of the windows: no more grants will come.
func (u *uplink) settle(d time.Duration) {
	for u.queue.Size() > 0 {
		if m, _ := u.queue.Take(); putParts(u.link, &m) != nil {
			return
		}
	}
	u.publishSizes()
	u.link.flush()
	u.link.settle(d)
}
