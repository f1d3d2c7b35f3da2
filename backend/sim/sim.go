// The parts around the machine: a lock, the clock, the Sink.

package sim

import (
	"context"
	"sync"
	"time"

	"sdm/backend"
	"sdm/protocol"
	"sdm/protocol/rank"
)

// Backend debugs simulated ranks. It starts no goroutine. Without delays the Sink is called before
// the method that causes the call returns; with delays the clock's goroutines call it too. The
// Sink must not call the Backend.
type Backend struct {
	sink  backend.Sink
	clock Clock // nil: no delays
	start time.Time

	mu     sync.Mutex
	m      *machine
	closed bool
	stop   func() // stops the timer that is set, or nil
	alarm  time.Duration
}

var _ backend.Backend = (*Backend)(nil)

// New makes a back end without ranks; Attach adds them. It panics if Validate refuses the Config.
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

// Attach implements backend.Backend: held ranks begin before main, others are stopped in helper.
func (b *Backend) Attach(id protocol.RequestID, targets []backend.Target, stopAt string, _ time.Duration) {
	b.step(func(now time.Duration) { b.m.attach(now, id, targets, stopAt) })
}

// Do implements backend.Backend.
func (b *Backend) Do(req backend.Request) {
	b.step(func(now time.Duration) { b.m.do(now, req) })
}

// Ended implements backend.Backend.
func (b *Backend) Ended(r rank.ID, exit protocol.Exit) {
	b.step(func(now time.Duration) { b.m.ended(now, r, exit) })
}

// Close implements backend.Backend. The Sink is not called after it has returned.
func (b *Backend) Close(context.Context) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	b.stopTimer()
	return nil
}

// step passes an input to the machine, after all that was due before, and its outputs to the Sink.
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

// setAlarm sets the timer for the next time in the agenda.
func (b *Backend) setAlarm(now time.Duration) {
	due, ok := b.m.agenda.first()
	if ok && b.stop != nil && b.alarm == due {
		return
	}
	b.stopTimer()
	if ok {
		b.alarm = due
		b.stop = b.clock.AfterFunc(due-now, b.timerFired)
	}
}

// timerFired is called by the timer. A call after stop is harmless: it only executes what is due.
func (b *Backend) timerFired() {
	b.step(func(time.Duration) { b.stopTimer() })
}

func (b *Backend) stopTimer() {
	if b.stop != nil {
		b.stop()
		b.stop = nil
	}
}
