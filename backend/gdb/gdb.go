// Package gdb provides GDB as a back end: gdb processes, each with one rank or
// several.
//
// A machine (pure) knows what one rank does, a debugger (pure) what the gdb does that it
// may share with others; the loop carries out what they want. A keeper holds the process of
// a debugger, a slot that of a rank. Terms: a target is what is debugged, an inferior is gdb's word for
// it; a call is one command to gdb, a request one of a person.
//
// A file with commands speaks of one rank only, and never needs to know whether its gdb is
// shared, if it keeps to this:
//
//   - m.at(q) names the thread and the frame of a request in every command that looks at a stopped
//     rank; m.here() the rank in one that is about a program or a process, m.where(q) is
//     the one or the other. m.group is the inferior's name where it is an
//     argument (-target-detach, -list-thread-groups).
//   - thread numbers are ours, equal on all ranks: m.gdbThread(id) is what gdb calls one,
//     m.thread(n) finds ours for a number in what gdb tells.
//   - a breakpoint gets the condition m.only(condition), and m.mine gives what gdb tells
//     of one as if the rank were alone; -break-list shows those of the others,
//     too (m.points.claimed), and a list of no numbers would be all of them.
//   - what gdb has once for all of its inferiors (signals, convenience variables, follow-fork-mode, …) goes
//     through the keeper of that thing, or is refused where m.gdb.shared().
package gdb

import (
	"context"
	"sync"
	"time"

	"sdm/backend"
	"sdm/protocol"
	"sdm/protocol/rank"
)

// Engine is a backend.Backend. Its methods may be called from any goroutine
// and do not block, but for Close.
//
// It starts two goroutines, which end with Close: the loop, which owns all machines and
// processes, and the forker. Source files that a file server does not deliver keep
// a goroutine each until it does. The Sink is called by the loop, or by Do while
// the loop waits: never by two at once.
type Engine struct {
	cfg   Config
	poll  *poller
	loop  *loop
	work  sync.Mutex    // who holds it may touch loop; free while the loop waits
	done  chan struct{} // closed when the loop has ended
	mu    sync.Mutex
	inbox []func(*loop) // in order; bounded by what was asked
	shut  bool
}

var _ backend.Backend = (*Engine)(nil)

// New starts the engine; gdbs are started by Attach. An error means that the
// configuration or this machine cannot do it at all.
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

// post gives the loop something to do; after Close it is dropped.
func (e *Engine) post(f func(*loop)) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.shut {
		e.inbox = append(e.inbox, f)
		e.poll.wake()
	}
}

// Do implements backend.Backend. While the loop only waits, the caller does the
// work himself: waking the loop would cost more than that (10 µs of 70 for a
// print on one rank).
func (e *Engine) Do(r backend.Request) {
	if !rowOf(r.Command.Name).reads && e.work.TryLock() {
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
