// Backpressure: the sources of output wait while the link to the parent is
// congested.

package overlay

import (
	"context"
	"sync"

	"sdm/tree/sendqueue"
)

// gate blocks the sources of output and events while the link to the parent is
// congested.
type gate struct {
	most    int        // number of bytes at which the gate shuts
	waiting func() int // returns the bytes of output in the inbox
	opened  func()     // called when there is room again, for output or for events

	mu         sync.Mutex
	parent     uplinkState   // link to the parent; nil: none
	kept       int           // bytes that wait for a parent
	shut       chan struct{} // closed when output may be sent again; nil: it may
	paused     chan struct{} // closed when the vertex resumes output; nil: it is not paused
	eventsFull bool          // events may not be sent either
}

// uplinkState is the part of a sender that the gate reads, from any goroutine.
type uplinkState interface {
	queued() int
	urgent() int // bytes of queued that are not only output
}

func newGate(most int, waiting func() int, opened func()) *gate {
	return &gate{most: most, waiting: waiting, opened: opened}
}

// setUplink sets the link to the parent and the number of bytes that wait for a parent.
func (g *gate) setUplink(w uplinkState, kept int) {
	g.mu.Lock()
	g.parent, g.kept = w, kept
	g.mu.Unlock()
	g.update()
}

// update opens or shuts the gate. It is called after each change of the queues, by
// the goroutine that made the change, so that the last call sees the last state.
func (g *gate) update() {
	if g.change() {
		g.opened()
	}
}

// change updates the state and reports whether the gate has opened.
func (g *gate) change() (opened bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	n, urgent := g.kept+g.waiting(), g.kept
	if g.parent != nil {
		n, urgent = n+g.parent.queued(), urgent+g.parent.urgent()
	}
	switch {
	case n > g.most && g.shut == nil:
		g.shut = make(chan struct{})
	case n <= g.most && g.shut != nil:
		close(g.shut)
		g.shut, opened = nil, true
	}
	eventsFull := urgent > g.most
	opened = opened || g.eventsFull && !eventsFull
	g.eventsFull = eventsFull
	return opened
}

// takes reports whether there is room for packets of a class.
func (g *gate) takes(c sendqueue.Class) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if c == sendqueue.Output {
		return g.shut == nil
	}
	return !g.eventsFull
}

// pauseOutput pauses or resumes output of own ranks: too many of their events are
// unacknowledged. Children are not affected.
func (g *gate) pauseOutput(on bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case on && g.paused == nil:
		g.paused = make(chan struct{})
	case !on && g.paused != nil:
		close(g.paused)
		g.paused = nil
	}
}

// pass waits until output may be sent. Its error is ErrEnded when life ends, else
// the cause of ctx.
func (g *gate) pass(ctx, life context.Context) error {
	for {
		g.mu.Lock()
		shut := g.paused
		if shut == nil {
			shut = g.shut
		}
		g.mu.Unlock()
		if life.Err() != nil {
			return ErrEnded
		}
		if shut == nil {
			return nil
		}
		select {
		case <-shut:
		case <-life.Done():
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}
