// A pool of readers for many links.

package overlay

import (
	"runtime"
	"sync"
)

// ReaderPool is a pool of goroutines that read in-memory links, for a process with
// thousands of vertices. Processing a packet takes some KB of stack, and a stack
// that has grown is not returned while other goroutines use memory next to it. With
// a reader for each link end, 16,384 vertices had 400 MB of stacks, and two
// goroutine switches for each hop.
//
// Goroutines: the readers of the pool, started by NewReaderPool and ended by Close, and one for
// each vertex whose inbox is full, until it has room or its loop ends. A pool goroutine that waits
// for the rest of a packet waits for the writer of that link, never for another pool goroutine.
type ReaderPool struct {
	mu      sync.Mutex
	changed sync.Cond // a link is ready, or the pool is closed
	ready   []*pooledInput
	taken   uint // number of links taken from ready
	ended   bool
	group   sync.WaitGroup
}

// NewReaderPool starts a pool of this size. Close must be called after the end of all
// loops whose links it reads.
func NewReaderPool(number int) *ReaderPool {
	p := &ReaderPool{}
	p.changed.L = &p.mu
	for range max(number, 1) {
		p.group.Go(p.run)
	}
	return p
}

// Close ends the pool and waits for its goroutines. Packets that arrive later are
// not read.
func (p *ReaderPool) Close() {
	p.mu.Lock()
	p.ended = true
	p.changed.Broadcast()
	p.mu.Unlock()
	p.group.Wait()
}

// Pipe returns the two ends of an in-memory link that the pool reads, for use by
// loops.
func (p *ReaderPool) Pipe() (a, b Link) {
	there, back := newFlow(), newFlow()
	return p.end(back, there), p.end(there, back)
}

func (p *ReaderPool) end(in, out *flow) Link {
	return &pooledLink{pipeEnd(in, out), &pooledInput{of: p, in: in}}
}

func (p *ReaderPool) run() {
	for {
		p.mu.Lock()
		for len(p.ready) == 0 && !p.ended {
			p.changed.Wait()
		}
		if p.ended {
			p.mu.Unlock()
			return
		}
		next := p.next()
		p.mu.Unlock()
		next.work()
		p.done(next)
		runtime.Gosched() // for goroutines that the packet has woken, such as a session's reader
	}
}

// next takes the link that has become ready last: one subtree is finished before
// the next is begun, and fewer packets are in flight. Every eighth time it takes
// the link that has waited longest. The caller holds mu.
func (p *ReaderPool) next() *pooledInput {
	at := len(p.ready) - 1
	if p.taken++; p.taken%8 == 0 {
		at = 0
	}
	next := p.ready[at]
	p.ready[at] = nil
	if at == 0 {
		p.ready = p.ready[1:]
	} else {
		p.ready = p.ready[:at]
	}
	next.state = pooledNow
	return next
}

// done queues a link again if more has arrived meanwhile.
func (p *ReaderPool) done(d *pooledInput) {
	p.mu.Lock()
	defer p.mu.Unlock()
	again := d.state == pooledAgain
	d.state = pooledIdle
	if again {
		p.add(d)
	}
}

// add queues a link. The caller holds mu.
func (p *ReaderPool) add(d *pooledInput) {
	d.state = pooledReady
	p.ready = append(p.ready, d)
	p.changed.Signal()
}

// pooledState is the state of a link in its pool.
//
//	idle ──data arrives──▶ ready ▶ now ──no more data──▶ idle
//	                         ▲      └──data arrives──▶ again ─┐
//	                         └────────────────────────────────┘
type pooledState uint8

const (
	pooledIdle pooledState = iota
	pooledReady
	pooledNow
	pooledAgain
)

// pooledInput is the receiving side of a link.
type pooledInput struct {
	of    *ReaderPool
	in    *flow
	work  func()
	state pooledState // guarded by of.mu
}

// wake reports that data has arrived.
func (d *pooledInput) wake() {
	d.of.mu.Lock()
	defer d.of.mu.Unlock()
	switch d.state {
	case pooledIdle:
		d.of.add(d)
	case pooledNow:
		d.state = pooledAgain
	}
}

// pooledLink is one end of an in-memory link that a pool reads.
type pooledLink struct {
	*stream
	*pooledInput
}

// drive registers work, which is called whenever something may be read, by one
// goroutine at a time.
func (l *pooledLink) drive(work func()) {
	l.work = work
	l.pooledInput.in.notify(l.wake)
	l.wake()
}

// aside runs a function on a goroutine of the group. Only work calls it, so the
// group is not empty.
func (l *pooledLink) aside(do func()) { l.of.group.Go(do) }

// pending reports whether Receive has something to start with.
func (l *pooledLink) pending() bool { return l.stream.in.Buffered() > 0 || l.pooledInput.in.pending() }
