// Sending with a function that may block.

package overlay

import (
	"slices"
	"sync"
	"time"

	"sdm/protocol/wire"
	"sdm/tree/sendqueue"
)

// blockingWriter is a sender over a function that may block: the root's Up, and Send of links
// that are not of this package. Queued packets are in the order of a sendqueue.Queue.
//
// Goroutine: run, started by the loop, ends at close or when the function fails.
// The callers check queued to bound the queue.
type blockingWriter struct {
	send func(wire.Message) error

	mu      sync.Mutex
	changed sync.Cond
	batch   []wire.Message // put and not flushed
	queue   sendqueue.Queue
	sending int // bytes of the packet that run is sending
	room    func()
	ended   bool
}

func newBlockingWriter(send func(wire.Message) error) *blockingWriter {
	w := &blockingWriter{send: send}
	w.changed.L = &w.mu
	return w
}

// clone copies what the vertex may overwrite in its next step. Bodies and columns
// are never overwritten.
func clone(m *wire.Message) wire.Message {
	c := *m
	c.Groups = slices.Clone(m.Groups)
	return c
}

func (w *blockingWriter) put(m *wire.Message) error {
	w.batch = append(w.batch, clone(m))
	return nil
}

func (w *blockingWriter) flush() {
	w.mu.Lock()
	if !w.ended {
		for i := range w.batch {
			w.queue.Add(w.batch[i], weight(&w.batch[i]))
		}
		if len(w.batch) > 0 {
			w.changed.Broadcast()
		}
	}
	w.mu.Unlock()
	clear(w.batch)
	w.batch = w.batch[:0]
}

func (w *blockingWriter) queued() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.queue.Size() + w.sending
}

func (w *blockingWriter) urgent() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.queue.Urgent()
}

// onRoom ignores stall: the owner of the root is never lost, and a foreign link must
// monitor itself.
func (w *blockingWriter) onRoom(room func(), stall time.Duration) { w.room = room }

func (w *blockingWriter) run() {
	for {
		m, ok := w.next()
		if !ok {
			return
		}
		if w.send(m) != nil { // the link's reader reports why
			w.close()
			return
		}
		w.mu.Lock()
		w.sending = 0
		w.changed.Broadcast()
		w.mu.Unlock()
		if w.room != nil {
			w.room()
		}
	}
}

// next waits for the next packet; false at the end.
func (w *blockingWriter) next() (m wire.Message, ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for w.queue.Size() == 0 && !w.ended {
		w.changed.Wait()
	}
	if w.ended {
		return m, false
	}
	m, w.sending = w.queue.Take()
	return m, true
}

func (w *blockingWriter) settle(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	waitWhile(&w.changed, d, func() bool { return w.queue.Size()+w.sending > 0 && !w.ended })
}

// close discards the queue; it does not wait for run.
func (w *blockingWriter) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ended = true
	w.changed.Broadcast()
}
