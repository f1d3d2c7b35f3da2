// Sending with a function that may block.

package overlay

import (
	"slices"
	"sync"
	"time"

	"sdm/protocol/wire"
	"sdm/tree/sendqueue"
)

// blockingWriter is a way over a function that may block: the root's Up, and Send of links
// that are not of this package. Queued packets are in the order of a sendqueue.Queue.
//
// Goroutine: run, started by the loop, ends at close or when the function fails.
// The callers check queued to bound the queue.
type blockingWriter struct {
	send func(wire.Message) error
	// try is send without blocking; it reports whether it has sent. flush calls it
	// while the queue is empty. nil: never.
	try func(wire.Message) bool

	mu      sync.Mutex
	changed sync.Cond
	batch   []wire.Message // put and not flushed
	queue   sendqueue.Queue
	hand    int // bytes of the packet that run is sending
	room    func()
	ended   bool
}

func newBlockingWriter(send func(wire.Message) error) *blockingWriter {
	p := &blockingWriter{send: send}
	p.changed.L = &p.mu
	return p
}

// clone copies what the vertex may overwrite in its next step. Bodies and columns
// are never overwritten.
func clone(m *wire.Message) wire.Message {
	c := *m
	c.Groups = slices.Clone(m.Groups)
	return c
}

func (p *blockingWriter) put(m *wire.Message) error {
	p.batch = append(p.batch, clone(m))
	return nil
}

func (p *blockingWriter) flush() {
	if p.try != nil && p.queued() == 0 {
		p.sendNow()
	}
	p.mu.Lock()
	if !p.ended {
		for i := range p.batch {
			p.queue.Add(p.batch[i], weight(&p.batch[i]))
		}
		if len(p.batch) > 0 {
			p.changed.Broadcast()
		}
	}
	p.mu.Unlock()
	clear(p.batch)
	p.batch = p.batch[:0]
}

// sendNow sends without switching to run's goroutine where that is possible.
func (p *blockingWriter) sendNow() {
	n := 0
	for n < len(p.batch) && p.try(p.batch[n]) {
		n++
	}
	p.batch = slices.Delete(p.batch, 0, n)
}

func (p *blockingWriter) queued() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.queue.Size() + p.hand
}

func (p *blockingWriter) urgent() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.queue.Urgent()
}

// watch ignores stall: the owner of the root is never lost, and a foreign link must
// monitor itself.
func (p *blockingWriter) watch(room func(), stall time.Duration) { p.room = room }

func (p *blockingWriter) run() {
	for {
		m, ok := p.next()
		if !ok {
			return
		}
		if p.send(m) != nil { // the link's reader reports why
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

// next waits for the next packet; false at the end.
func (p *blockingWriter) next() (m wire.Message, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.queue.Size() == 0 && !p.ended {
		p.changed.Wait()
	}
	if p.ended {
		return m, false
	}
	m, p.hand = p.queue.Take()
	return m, true
}

func (p *blockingWriter) settle(d time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	waitWhile(&p.changed, d, func() bool { return p.queue.Size()+p.hand > 0 && !p.ended })
}

// close discards the queue; it does not wait for run.
func (p *blockingWriter) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ended = true
	p.changed.Broadcast()
}
