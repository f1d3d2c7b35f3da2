// Writing without waiting.

package overlay

import (
	"io"
	"net"
	"sync"
	"time"
)

// piece is how much the writer goroutine offers at once, in bytes: the step in
// which progress is seen. A neighbour that takes less than this within the stall
// time counts as one that does not read.
const piece = 64 << 10

// keepBuffer is the largest buffer, in bytes, that an idle link keeps for the
// next packets.
const keepBuffer = 64 << 10

// outbox is the way out of a stream: a Write that never waits. What the
// transport does not take at once is kept and written by a goroutine.
//
// Goroutine: run, started by Write or uncork when something is left over, ends
// when nothing is left over or the outbox has ended. Whoever ends dst's Write
// (the stream's Close) waits for it in finished. A link whose neighbour keeps up
// never has one: a hand-off costs more than the write.
//
// Not bounded by itself: the callers look at queued (the loop declares a child
// lost at maxQueued and stops reading others at maxUp; Send waits for 0).
type outbox struct {
	dst io.Writer
	// try writes what dst takes without waiting; nil where dst cannot.
	try func([]byte) (int, error)

	mu       sync.Mutex
	moved    sync.Cond // something was taken, or the outbox ended
	waiting  []byte    // given and in nobody's hands
	spare    []byte    // the other one of two buffers
	writing  int       // bytes in the hands of run
	running  bool
	corked   bool
	err      error // why nothing can be written any more
	room     func()
	stall    time.Duration
	failed   func(error) // called once, with mu held; must not wait
	finished sync.WaitGroup
}

func newOutbox(dst io.Writer, failed func(error)) *outbox {
	o := &outbox{dst: dst, try: nonblocking(dst), failed: failed}
	o.moved.L = &o.mu
	return o
}

// Write takes all of p, or reports why the outbox has ended.
func (o *outbox) Write(p []byte) (int, error) {
	o.mu.Lock()
	err := o.write(p)
	o.mu.Unlock()
	if err != nil {
		return 0, err
	}
	return len(p), nil
}

func (o *outbox) write(p []byte) error {
	if o.err != nil {
		return o.err
	}
	rest := p
	if o.try != nil && !o.running && !o.corked && len(o.waiting) == 0 {
		n, err := o.try(p)
		if err != nil {
			o.fail(err)
			return err
		}
		rest = p[n:]
	}
	if len(rest) > 0 {
		o.waiting = append(o.waiting, rest...)
		o.start()
	}
	return nil
}

// cork makes Write gather until uncork, so that the records of one TLS write
// leave in one system call.
func (o *outbox) cork() {
	o.mu.Lock()
	o.corked = true
	o.mu.Unlock()
}

func (o *outbox) uncork() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.corked = false
	if o.err != nil || o.running || len(o.waiting) == 0 {
		return
	}
	if o.try != nil {
		n, err := o.try(o.waiting)
		if err != nil {
			o.fail(err)
			return
		}
		if n == len(o.waiting) {
			o.waiting = recycle(o.waiting, keepBuffer)
			return
		}
		o.waiting = append(o.waiting[:0], o.waiting[n:]...)
	}
	o.start()
}

// recycle empties a buffer, or lets it go when it has become too big to keep.
func recycle(b []byte, most int) []byte {
	if cap(b) > most {
		return nil
	}
	return b[:0]
}

// start makes sure that somebody writes what waits; mu is held.
func (o *outbox) start() {
	if !o.running && !o.corked {
		o.running = true
		o.finished.Add(1)
		go o.run()
	}
}

func (o *outbox) run() {
	defer o.finished.Done()
	o.mu.Lock()
	for o.err == nil && len(o.waiting) > 0 {
		o.writeOut()
	}
	o.running = false
	o.mu.Unlock()
}

// writeOut writes what waited when it was called; mu is held before and after.
func (o *outbox) writeOut() {
	buf := o.waiting
	o.waiting = o.spare[:0]
	o.spare = nil
	rest := buf
	for len(rest) > 0 && o.err == nil {
		o.writing = len(rest)
		stall := o.stall
		o.mu.Unlock()
		n, err := o.writePiece(rest[:min(len(rest), piece)], stall)
		o.mu.Lock()
		rest = rest[n:]
		o.writing = len(rest)
		if err != nil {
			o.fail(err)
		}
		o.moved.Broadcast()
		if room := o.room; room != nil {
			o.mu.Unlock()
			room()
			o.mu.Lock()
		}
	}
	o.writing = 0
	o.spare = recycle(buf, keepBuffer)
}

// writePiece writes p, with a watch on a neighbour that takes nothing.
func (o *outbox) writePiece(p []byte, stall time.Duration) (int, error) {
	if stall == 0 {
		return o.dst.Write(p)
	}
	watch := time.AfterFunc(stall, func() { o.end(errStalled) })
	defer watch.Stop()
	return o.dst.Write(p)
}

// fail notes why the outbox has ended; mu is held.
func (o *outbox) fail(err error) {
	if o.err != nil {
		return
	}
	o.err = err
	o.waiting = nil
	o.moved.Broadcast()
	if err != net.ErrClosed {
		o.failed(err)
	}
}

// end makes every later Write fail with err.
func (o *outbox) end(err error) {
	o.mu.Lock()
	o.fail(err)
	o.mu.Unlock()
}

// failure tells why the outbox has ended, or nil.
func (o *outbox) failure() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.err
}

func (o *outbox) queued() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.waiting) + o.writing
}

func (o *outbox) watch(room func(), stall time.Duration) {
	o.mu.Lock()
	o.room, o.stall = room, stall
	o.mu.Unlock()
}

// settle waits until nothing waits, the outbox has ended, or (unless it is 0) d
// is over, and tells why the outbox has ended.
func (o *outbox) settle(d time.Duration) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	waitWhile(&o.moved, d, func() bool { return o.err == nil && len(o.waiting)+o.writing > 0 })
	return o.err
}

// waitWhile waits on a condition, whose lock is held, while something is so, and
// (unless it is 0) for d at most.
func waitWhile(c *sync.Cond, d time.Duration, so func() bool) {
	over := false
	if d > 0 {
		alarm := time.AfterFunc(d, func() {
			c.L.Lock()
			over = true
			c.Broadcast()
			c.L.Unlock()
		})
		defer alarm.Stop()
	}
	for !over && so() {
		c.Wait()
	}
}
