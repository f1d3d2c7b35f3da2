// The thin edge around the machine: a lock, the clock, the Sink.

package sim

import (
	"context"
	"sync"
	"time"

	"sdm/backend"
	"sdm/protocol"
	"sdm/protocol/rank"
)

// Backend debugs simulated ranks. It starts no goroutine; without delays
// everything is said to the Sink before the method that caused it returns, with
// them also from wherever the clock calls. The Sink must not call the Backend
// back from within.
type Backend struct {
	sink  backend.Sink
	clock Clock // nil: there is no time
	start time.Time

	mu     sync.Mutex
	m      *machine
	closed bool
	stop   func() // the alarm that is set, or nil
	alarm  time.Duration
}

var _ backend.Backend = (*Backend)(nil)

// New makes a back end without ranks; Attach brings them. It panics on a Config
// that Validate refuses.
func New(cfg Config, sink backend.Sink) *Backend {
	if err := cfg.Validate(); err != nil {
		panic("sim: " + err.Error())
	}
	b := &Backend{sink: sink, clock: cfg.Clock, m: newMachine(cfg)}
	if b.clock != nil {
		b.start = b.clock.Now()
	}
	return b
}

// Attach brings ranks in: held ones before main, others stopped in helper.
func (b *Backend) Attach(id protocol.RequestID, targets []backend.Target, stopAt string, _ time.Duration) {
	b.step(func(now time.Duration) { b.m.attach(now, id, targets, stopAt) })
}

// Do carries out a command.
func (b *Backend) Do(req backend.Request) {
	b.step(func(now time.Duration) { b.m.do(now, req) })
}

// Ended takes in that a rank is gone.
func (b *Backend) Ended(r rank.ID, exit protocol.Exit) {
	b.step(func(now time.Duration) { b.m.ended(now, r, exit) })
}

// Close forgets all ranks; nothing is said to the Sink after it has returned.
func (b *Backend) Close(context.Context) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	b.quiet()
	return nil
}

// step lets the machine do something now, after what was due before.
func (b *Backend) step(f func(now time.Duration)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return
	}
	now := b.now()
	b.m.wake(now)
	f(now)
	for _, o := range b.m.take() {
		if o.reply {
			b.sink.Reply(o.id, o.groups...)
		} else {
			b.sink.Event(o.groups...)
		}
	}
	b.setAlarm(now)
}

func (b *Backend) now() time.Duration {
	if b.clock == nil {
		return 0
	}
	return b.clock.Now().Sub(b.start)
}

// setAlarm has the clock call when the next thing is due.
func (b *Backend) setAlarm(now time.Duration) {
	due, ok := b.m.agenda.first()
	if ok && b.stop != nil && b.alarm == due {
		return
	}
	b.quiet()
	if ok {
		b.alarm = due
		b.stop = b.clock.AfterFunc(due-now, b.ring)
	}
}

// ring is the alarm. One that was stopped too late does no harm: it wakes the
// machine, which does what is due and no more.
func (b *Backend) ring() {
	b.step(func(time.Duration) { b.quiet() })
}

func (b *Backend) quiet() {
	if b.stop != nil {
		b.stop()
		b.stop = nil
	}
}
