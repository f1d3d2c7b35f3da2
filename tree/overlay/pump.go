// Sending by a function that may wait.

package overlay

import (
	"slices"
	"sync"
	"time"

	"sdm/protocol/wire"
	"sdm/tree/lane"
)

// pump is a way over a function that may wait: the root's Up, and Send of links
// that are not of this package. What waits goes in the order of a lane.
//
// Goroutine: run, started by the loop, ends at close or when the function fails.
// Its queue is bounded by who looks at queued.
type pump struct {
	send func(wire.Message) error
	// try is send where that is possible now and without waiting; it tells whether
	// it was. It is called by flush while nothing waits. nil: never.
	try func(wire.Message) bool

	mu      sync.Mutex
	changed sync.Cond
	batch   []wire.Message // put, not flushed
	lane    lane.Lane
	hand    int // bytes of the packet in run's hands
	room    func()
	ended   bool
}

func newPump(send func(wire.Message) error) *pump {
	p := &pump{send: send}
	p.changed.L = &p.mu
	return p
}

// clone keeps what may be overwritten by the vertex's next step; bodies and
// columns never are.
func clone(m *wire.Message) wire.Message {
	c := *m
	c.Groups = slices.Clone(m.Groups)
	return c
}

func (p *pump) put(m *wire.Message) error {
	p.batch = append(p.batch, clone(m))
	return nil
}

func (p *pump) flush() {
	if p.try != nil && p.queued() == 0 {
		p.sendNow()
	}
	p.mu.Lock()
	if !p.ended {
		for i := range p.batch {
			p.lane.Add(p.batch[i], weight(&p.batch[i]))
		}
		if len(p.batch) > 0 {
			p.changed.Broadcast()
		}
	}
	p.mu.Unlock()
	clear(p.batch)
	p.batch = p.batch[:0]
}

// sendNow saves the change to run's goroutine where it can.
func (p *pump) sendNow() {
	n := 0
	for n < len(p.batch) && p.try(p.batch[n]) {
		n++
	}
	p.batch = slices.Delete(p.batch, 0, n)
}

func (p *pump) queued() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.lane.Size() + p.hand
}

func (p *pump) pressing() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.lane.Pressing()
}

// watch ignores stall: the owner of the root is never lost, and a foreign link
// is to look after itself.
func (p *pump) watch(room func(), stall time.Duration) { p.room = room }

func (p *pump) run() {
	for {
		m, ok := p.next()
		if !ok {
			return
		}
		if p.send(m) != nil { // the link's reader tells why
			p.close()
			return
		}
		p.mu.Lock()
		p.hand = 0
		p.changed.Broadcast()
		p.mu.Unlock()
		if p.room != nil {
			p.room()
		}
	}
}

// next waits for the packet that is to go next; false at the end.
func (p *pump) next() (m wire.Message, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.lane.Size() == 0 && !p.ended {
		p.changed.Wait()
	}
	if p.ended {
		return m, false
	}
	m, p.hand = p.lane.Take()
	return m, true
}

func (p *pump) settle(d time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	waitWhile(&p.changed, d, func() bool { return p.lane.Size()+p.hand > 0 && !p.ended })
}

// close drops what waits; it does not wait for run.
func (p *pump) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ended = true
	p.changed.Broadcast()
}
