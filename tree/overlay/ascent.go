// The way up a link: what waits, and what the parent has room for.

package overlay

import (
	"sync/atomic"
	"time"

	"sdm/protocol/wire"
	"sdm/tree/lane"
)

// window is how many bytes of events, and again of output, may be on their way to
// a parent that has not said that it has taken them in: what is with the transport
// can be overtaken no more. With a round trip of 1 ms it lets 32 MB pass in a
// second; with 1,000 children that all write at once the parent has 64 MB to hold.
const window = 32 << 10

// maxUnpaid is how many bytes a child may send beyond its windows before it is
// lost: at the end of a session it sends all that it has, room or not.
const maxUnpaid = 32 << 20

// ascent is the way up a link. Answers leave at once and pass the output of ranks
// that have nothing to do with them; events and output leave as far as the parent
// has made room. It belongs to the holder of the baton, except queued and pressing.
type ascent struct {
	link   way
	lane   lane.Lane
	unpaid [lane.Output + 1]int // bytes sent that the parent has not taken in, by class

	waits, presses atomic.Int64 // of lane, for whoever looks
}

func (a *ascent) put(m *wire.Message) error {
	class := lane.ClassOf(m)
	if a.lane.Size() == 0 && a.free(class) {
		return a.send(m, class)
	}
	a.lane.Add(clone(m), weight(m))
	return a.advance()
}

// free tells whether a packet of the class may leave.
func (a *ascent) free(c lane.Class) bool { return c == lane.Answer || a.unpaid[c] < window }

func (a *ascent) send(m *wire.Message, c lane.Class) error {
	a.unpaid[c] += share(m)
	return putParts(a.link, m)
}

// advance sends what may leave by now.
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

// room takes in what the parent says of its room.
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

// settle sends all that waits, room or not: nobody will make more.
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
