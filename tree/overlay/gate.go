// Holding back who brings more than goes up.

package overlay

import (
	"context"
	"sync"

	"sdm/tree/lane"
)

// gate holds back those who bring more for the way up while that is congested.
type gate struct {
	most    int        // bytes
	waiting func() int // bytes that are on their way to the vertex
	opened  func()     // there is room again, for output or for events

	mu   sync.Mutex
	way  upward        // to the parent; nil: none
	kept int           // bytes that wait for a parent
	shut chan struct{} // closed when output may come again; nil: it may
	held chan struct{} // closed when the vertex lets output pass; nil: it does
	jam  bool          // no events may come either
}

// upward is a way as far as the gate looks at it, from any goroutine.
type upward interface {
	queued() int
	pressing() int // of queued, what is not only output
}

func newGate(most int, waiting func() int, opened func()) *gate {
	return &gate{most: most, waiting: waiting, opened: opened}
}

// lead tells where the way up goes now and how much waits for a parent.
func (g *gate) lead(w upward, kept int) {
	g.mu.Lock()
	g.way, g.kept = w, kept
	g.mu.Unlock()
	g.look()
}

// look opens or shuts the gate. It is called after each change of what waits, by
// whoever made the change: the last call sees the last state.
func (g *gate) look() {
	if g.change() {
		g.opened()
	}
}

// change tells whether the gate has opened.
func (g *gate) change() (opened bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	n, pressing := g.kept+g.waiting(), g.kept
	if g.way != nil {
		n, pressing = n+g.way.queued(), pressing+g.way.pressing()
	}
	switch {
	case n > g.most && g.shut == nil:
		g.shut = make(chan struct{})
	case n <= g.most && g.shut != nil:
		close(g.shut)
		g.shut, opened = nil, true
	}
	jam := pressing > g.most
	opened = opened || g.jam && !jam
	g.jam = jam
	return opened
}

// takes tells whether there is room for packets of a class.
func (g *gate) takes(c lane.Class) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if c == lane.Output {
		return g.shut == nil
	}
	return !g.jam
}

// hold keeps output back, or lets it pass: the vertex keeps too much that the root
// has not acknowledged. Children are read all the same.
func (g *gate) hold(on bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case on && g.held == nil:
		g.held = make(chan struct{})
	case !on && g.held != nil:
		close(g.held)
		g.held = nil
	}
}

// pass waits until output may pass; it ends with ErrEnded when life does, and
// with the cause of ctx.
func (g *gate) pass(ctx, life context.Context) error {
	for {
		g.mu.Lock()
		shut := g.held
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
