// Holding back who brings more than goes up.

package overlay

import (
	"context"
	"sync"
)

// gate holds back those who bring more for the way up while that is congested.
type gate struct {
	most    int        // bytes
	waiting func() int // bytes that are on their way to the vertex

	mu   sync.Mutex
	way  way           // to the parent; nil: none
	kept int           // bytes that wait for a parent
	shut chan struct{} // closed when the gate opens; nil: it is open
	held chan struct{} // closed when the vertex lets output pass; nil: it does
}

func newGate(most int, waiting func() int) *gate { return &gate{most: most, waiting: waiting} }

// lead tells where the way up goes now and how much waits for a parent.
func (g *gate) lead(w way, kept int) {
	g.mu.Lock()
	g.way, g.kept = w, kept
	g.mu.Unlock()
	g.look()
}

// look opens or shuts the gate. It is called after each change of what waits, by
// whoever made the change: the last call sees the last state.
func (g *gate) look() {
	g.mu.Lock()
	defer g.mu.Unlock()
	n := g.kept + g.waiting()
	if g.way != nil {
		n += g.way.queued()
	}
	switch {
	case n > g.most && g.shut == nil:
		g.shut = make(chan struct{})
	case n <= g.most && g.shut != nil:
		close(g.shut)
		g.shut = nil
	}
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

// open waits until children may be read; it ends with ErrEnded when life does.
func (g *gate) open(life context.Context) error {
	return g.wait(life, life, func() chan struct{} { return g.shut })
}

// isOpen tells whether open would wait.
func (g *gate) isOpen() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.shut == nil
}

// pass waits until output may pass; it ends with ErrEnded when life does, and
// with the cause of ctx.
func (g *gate) pass(ctx, life context.Context) error {
	return g.wait(ctx, life, func() chan struct{} {
		if g.held != nil {
			return g.held
		}
		return g.shut
	})
}

func (g *gate) wait(ctx, life context.Context, closed func() chan struct{}) error {
	for {
		g.mu.Lock()
		shut := closed()
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
