// Few readers for many links.

package overlay

import (
	"runtime"
	"sync"
)

// Carriers read the links in memory of a process that has thousands of vertices: a
// few goroutines in place of one for each link. What is on the way through a vertex
// takes some KB of a stack, and a stack that has grown once is not given back while
// others are beside it: with a reader for each end, 16,384 vertices had 400 MB of
// them, and two changes of goroutines for each hop.
//
// Goroutines: the carriers, started by NewCarriers, ended by Close, and one for each
// vertex that takes nothing for a while, until it does or its loop ends. A carrier that
// waits for the rest of a packet waits for the writer of that link, never for another
// carrier.
type Carriers struct {
	mu      sync.Mutex
	changed sync.Cond // something is ready, or all is over
	ready   []*carried
	taken   uint // of ready, so far
	ended   bool
	group   sync.WaitGroup
}

// NewCarriers starts so many of them. Close is owed, behind the end of all loops
// whose links they carry.
func NewCarriers(number int) *Carriers {
	c := &Carriers{}
	c.changed.L = &c.mu
	for range max(number, 1) {
		c.group.Go(c.run)
	}
	return c
}

// Close returns when the carriers have ended. What still comes is not carried.
func (c *Carriers) Close() {
	c.mu.Lock()
	c.ended = true
	c.changed.Broadcast()
	c.mu.Unlock()
	c.group.Wait()
}

// Pipe is as the function of that name, for links that loops get.
func (c *Carriers) Pipe() (a, b Link) {
	there, back := newFlow(), newFlow()
	return c.end(back, there), c.end(there, back)
}

func (c *Carriers) end(in, out *flow) Link {
	return &carriedLink{pipeEnd(in, out), &carried{of: c, in: in}}
}

func (c *Carriers) run() {
	for {
		c.mu.Lock()
		for len(c.ready) == 0 && !c.ended {
			c.changed.Wait()
		}
		if c.ended {
			c.mu.Unlock()
			return
		}
		next := c.next()
		c.mu.Unlock()
		next.work()
		c.done(next)
		runtime.Gosched() // whom a packet has woken, a reader of the session for one, need not wait until nothing is ready
	}
}

// next takes the link that has become ready last: so one subtree is done before the next
// is begun, and less is on its way at a time. Every eighth time it takes the one that
// has waited longest. mu is held.
func (c *Carriers) next() *carried {
	at := len(c.ready) - 1
	if c.taken++; c.taken%8 == 0 {
		at = 0
	}
	next := c.ready[at]
	c.ready[at] = nil
	if at == 0 {
		c.ready = c.ready[1:]
	} else {
		c.ready = c.ready[:at]
	}
	next.state = carriedNow
	return next
}

// done puts a link behind the others when more has come for it meanwhile.
func (c *Carriers) done(d *carried) {
	c.mu.Lock()
	defer c.mu.Unlock()
	again := d.state == carriedAgain
	d.state = carriedIdle
	if again {
		c.add(d)
	}
}

// add makes a link ready; mu is held.
func (c *Carriers) add(d *carried) {
	d.state = carriedReady
	c.ready = append(c.ready, d)
	c.changed.Signal()
}

// carriedState is where a link stands with its carriers.
//
//	idle ──something comes──▶ ready ▶ now ──nothing more──▶ idle
//	                            ▲      └──something comes──▶ again ─┐
//	                            └───────────────────────────────────┘
type carriedState uint8

const (
	carriedIdle carriedState = iota
	carriedReady
	carriedNow
	carriedAgain
)

// carried is the incoming side of a link.
type carried struct {
	of    *Carriers
	in    *flow
	work  func()
	state carriedState // guarded by of.mu
}

// wake tells that something has come.
func (d *carried) wake() {
	d.of.mu.Lock()
	defer d.of.mu.Unlock()
	switch d.state {
	case carriedIdle:
		d.of.add(d)
	case carriedNow:
		d.state = carriedAgain
	}
}

// carriedLink is one end of a link in memory that carriers read.
type carriedLink struct {
	*stream
	*carried
}

// drive has work called whenever something may be read, by one goroutine at a time.
func (l *carriedLink) drive(work func()) {
	l.work = work
	l.carried.in.notify(l.wake)
	l.wake()
}

// aside is called by work, so that the group is not empty.
func (l *carriedLink) aside(do func()) { l.of.group.Go(do) }

// pending tells whether Receive has something to begin with.
func (l *carriedLink) pending() bool { return l.stream.in.Buffered() > 0 || l.carried.in.pending() }
