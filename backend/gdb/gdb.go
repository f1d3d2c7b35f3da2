// Package gdb is the back end that debugs ranks with GDB: it drives gdb processes, each
// with one rank or several.
//
// A machine (pure) knows the state of one rank. A debugger (pure) knows the state of
// one gdb, which its machines may share. The loop executes what they put out. A keeper
// holds the process of a debugger, a slot that of a rank. A target is what is debugged;
// an inferior is gdb's word for it. A call is one command to gdb, a request is one
// command of a user.
//
// A file with commands handles one rank and need not know whether its gdb is shared, if
// it follows these rules:
//
//   - Commands that look at a stopped rank begin with m.at(q), the thread and frame of the
//     request. Commands about a program or a process begin with m.here(), the rank. m.where(q) is
//     the first for a stopped rank and the second otherwise. m.group is the name of the inferior
//     where that is an argument (-target-detach, -list-thread-groups).
//   - Thread numbers are sdm's, equal on all ranks: m.gdbThread(id) is gdb's number of a thread,
//     m.thread(n) finds the thread of a number that gdb reports.
//   - A breakpoint gets the condition m.only(condition), and m.mine translates gdb's report of one
//     to what it would be for the rank alone. -break-list also lists the breakpoints of other
//     ranks (m.points.claimed), and a command with an empty list of numbers applies to all.
//   - What gdb has once for all inferiors (signals, convenience variables, follow-fork-mode, …) is
//     changed only by the file that manages it, or is refused if m.gdb.shared().
package gdb

import (
	"context"
	"sync"
	"time"

	"sdm/backend"
	"sdm/protocol"
	"sdm/protocol/rank"
)

// Engine is a backend.Backend. Any goroutine may call its methods; only Close blocks.
//
// It starts two goroutines, which end with Close: the loop, which owns all machines and
// processes, and the forker. Reads of memory and of source files have goroutines of
// their own; one that a file server does not answer stays until it does. The loop calls
// the Sink, or Do while the loop waits: never two at once.
type Engine struct {
	cfg   Config
	poll  *poller
	loop  *loop
	work  sync.Mutex    // its holder may use loop; free while the loop waits
	done  chan struct{} // closed when the loop has ended
	mu    sync.Mutex
	inbox []func(*loop) // in order; bounded by the number of requests
	shut  bool
}

var _ backend.Backend = (*Engine)(nil)

// New starts the engine; Attach starts gdbs. It fails if the configuration is invalid
// or this machine lacks something.
func New(cfg Config, sink backend.Sink) (*Engine, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	p, err := newPoller()
	if err != nil {
		return nil, err
	}
	e := &Engine{cfg: cfg, poll: p, done: make(chan struct{})}
	e.loop = newLoop(e, sink)
	go e.loop.run()
	return e, nil
}

// post queues a function for the loop; after Close it is dropped.
func (e *Engine) post(f func(*loop)) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.shut {
		e.inbox = append(e.inbox, f)
		e.poll.wake()
	}
}

// Do implements backend.Backend. While the loop waits, the caller executes the request
// itself: waking the loop would cost more (10 of the 70 µs of a print on one rank).
func (e *Engine) Do(r backend.Request) {
	if !readsMemory(r.Command.Name) && e.work.TryLock() {
		defer e.work.Unlock()
		e.loop.turn(func(l *loop) { l.do(r) })
		return
	}
	e.post(func(l *loop) { l.do(r) })
}

// take empties the inbox.
func (e *Engine) take() []func(*loop) {
	e.mu.Lock()
	defer e.mu.Unlock()
	all := e.inbox
	e.inbox = nil
	return all
}

// Attach implements backend.Backend.
func (e *Engine) Attach(id protocol.RequestID, targets []backend.Target, stopAt string, wait time.Duration) {
	e.post(func(l *loop) { l.attach(id, targets, stopAt, wait) })
}

// Ended implements backend.Backend.
func (e *Engine) Ended(r rank.ID, exit protocol.Exit) {
	e.post(func(l *loop) { l.ended(r, exit) })
}

// Close implements backend.Backend. It may be called again.
func (e *Engine) Close(ctx context.Context) error {
	e.post(func(l *loop) { l.close(ctx, false) })
	select {
	case <-e.done:
		return nil
	case <-ctx.Done():
	}
	e.post(func(l *loop) { l.close(ctx, true) })
	<-e.done
	return ctx.Err()
}
