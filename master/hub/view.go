// The session of one front end.

package hub

import (
	"context"
	"fmt"
	"sync"

	"sdm/master/session"
	"sdm/protocol"
	"sdm/protocol/canonical"
)

// View is the session as one front end has it. Its events are the answers to its own calls and what concerns
// everybody; its calls have the numbers of the shared session. All methods may be called from any goroutine.
type View struct {
	hub    *Hub
	front  protocol.FrontEnd
	stream *session.Stream

	welcome session.Welcome

	// Guarded by the lock of the hub.
	left   bool
	quits  bool   // its quit was refused once
	missed uint64 // events that were not given to it, since it does not read; 0: it is not behind
}

var _ session.Shared = (*View)(nil)

// Welcome returns what the front end was told when it joined; see session.Shared.
func (v *View) Welcome() session.Welcome { return v.welcome }

// Do gives a call to the session; see session.Session. A quit ends the session for everybody; while others are there
// it is refused once.
func (v *View) Do(ctx context.Context, c session.Call) (protocol.RequestID, error) {
	h := v.hub
	h.mu.Lock()
	defer h.mu.Unlock()
	if v.left || h.over {
		return 0, ErrOver
	}
	if c.Command == "quit" {
		if fault := h.refuseQuit(v); fault != nil {
			return 0, fault
		}
		if h.beforeQuit(); h.over {
			return 0, ErrOver
		}
	}
	if c.Command == "cancel" && h.owners.of(c.Args.Of) != v {
		return 0, &protocol.Fault{Kind: protocol.FaultUsage, Op: "cancel", Message: fmt.Sprintf("request %d is not of this front end", c.Args.Of)}
	}
	if fault := h.intents.check(c); fault != nil {
		return 0, fault
	}
	id, err := h.cfg.Session.Do(ctx, c)
	if err != nil {
		return 0, err
	}
	h.intents.add(c, id)
	h.ending = h.ending || c.Command == "quit"
	h.started = true
	h.owners.add(id, v)
	h.points.ask(id, c)
	if info, ok := protocol.LookupCommand(c.Command); ok && protocol.PermissionFor(info, c.Args) > protocol.Look {
		h.publish(session.NewEvent(protocol.Group{Kind: protocol.KindCommand, Body: canonical.JSON(protocol.Commanded{
			Front: v.front.Number, Name: v.front.Name, ID: id,
			Command: protocol.Summary(c.Command, c.Args), Set: protocol.Clip(c.Ranks),
		})}))
	}
	return id, nil
}

// beforeQuit lets the owner of the session do what has to be done while ranks are still held. The lock is not held
// meanwhile: events go on.
func (h *Hub) beforeQuit() {
	if h.cfg.Quitting == nil {
		return
	}
	h.ending = true // Join is refused from now on
	h.mu.Unlock()
	defer h.mu.Lock()
	h.quitting.Do(func() { h.cfg.Quitting(h.States()) })
}

// Events returns the stream; see session.Session. It ends with the session, or when the front end leaves.
func (v *View) Events() <-chan session.Event { return v.stream.Events() }

// Close leaves the session, which goes on, as a front end does whose connection broke: what it has not taken from
// Events counts as not seen.
func (v *View) Close(context.Context) error {
	v.leave("lost", nil)
	return nil
}

// Leave leaves the session, which goes on; see session.Shared.
func (v *View) Leave(cursor uint64) { v.leave("left", &cursor) }

// leave takes the front end out of the session. Events must not be read any more.
func (v *View) leave(change string, cursor *uint64) {
	h := v.hub
	h.mu.Lock()
	defer h.mu.Unlock()
	if v.left {
		return
	}
	seen := h.record.end()
	if v.missed > 0 {
		seen -= min(seen, v.missed)
	}
	for _, e := range v.stream.Left() {
		if e.Cursor != 0 {
			seen = e.Cursor - 1
			break
		}
	}
	if cursor != nil {
		seen = *cursor
	}
	h.remove(v, seen, change)
}

// Bounds of what waits for a front end that does not read, while others do.
const (
	maxWaiting      = 16_384
	maxWaitingBytes = 4 << 20
)

// offer gives the front end an event of everybody, unless it has fallen too far behind. The lock of the hub must be
// held.
func (v *View) offer(e session.Event) {
	if v.missed > 0 {
		v.missed++
		return
	}
	if events, bytes := v.stream.Queued(); events < maxWaiting && bytes < maxWaitingBytes {
		v.stream.Push(e)
		return
	}
	v.missed = 1
	v.hub.running.Go(v.recover)
}

// recover waits until the front end reads again, and tells it what it has missed.
func (v *View) recover() {
	if v.stream.Room(context.Background()) != nil {
		return
	}
	h := v.hub
	h.mu.Lock()
	defer h.mu.Unlock()
	if v.left {
		return
	}
	snapshot, _ := h.record.from(h.record.end())
	v.stream.Push(gap(protocol.Gap{Missed: v.missed, Snapshot: len(snapshot)}))
	v.stream.Push(snapshot...)
	v.missed = 0
}

// awaitReader holds output back until some front end has room for it. With none there it does not wait: the record
// keeps what it can.
func (h *Hub) awaitReader() {
	for {
		h.mu.Lock()
		streams := make([]*session.Stream, 0, len(h.views))
		for _, v := range h.views {
			if v.stream.HasRoom() {
				streams = nil
				break
			}
			streams = append(streams, v.stream)
		}
		changed := h.arrived
		h.mu.Unlock()
		if len(streams) == 0 {
			return
		}
		awaitAny(streams, changed)
	}
}

// awaitAny returns when one of the streams has room, or changed is closed.
func awaitAny(streams []*session.Stream, changed <-chan struct{}) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var wg sync.WaitGroup
	for _, s := range streams {
		wg.Go(func() {
			_ = s.Room(ctx) // or another one has
			cancel()
		})
	}
	select {
	case <-changed:
		cancel()
	case <-ctx.Done():
	}
	wg.Wait()
}
