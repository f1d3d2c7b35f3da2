// Package gdb is the back end that debugs ranks with GDB: it starts gdb processes, each with one rank
// or several, and executes what package debugger decides about them.
//
// The loop owns all state. A gdbProcess is the process of a gdb, a rankEntry the entry of a rank.
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
// their own; the read of a file ends when the file server answers, or Close gives up waiting.
// The loop calls the Sink: calls do not overlap.
type Engine struct {
	cfg   Config
	poll  *poller
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
	go newLoop(e, sink).run()
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

// Do implements backend.Backend.
func (e *Engine) Do(r backend.Request) { e.post(func(l *loop) { l.do(r) }) }

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
