// Writing without blocking.

package overlay

import (
	"io"
	"net"
	"sync"
	"time"
)

// piece is the number of bytes that the writer goroutine writes at once: the
// granularity of progress. A neighbour that accepts less than this within the stall
// time is regarded as one that does not read.
const piece = 64 << 10

// keepBuffer is the largest buffer, in bytes, that an idle link keeps for reuse.
const keepBuffer = 64 << 10

// outbox is the sending side of a stream: its Write never blocks. Bytes that the
// transport does not accept at once are queued and written by a goroutine.
//
// Goroutine: run, started by Write or uncork when bytes are left over; it ends when
// none are left over or the outbox has ended. finished waits for it, after dst's
// Write has been ended (by the stream's Close). A link whose neighbour keeps up
// never starts it: a hand-off costs more than the write.
//
// The queue has no limit of its own: the callers check queued (the loop declares a
// child lost at maxDown and applies backpressure at maxUp; Send waits for 0).
type outbox struct {
	dst io.Writer
	// try writes what dst accepts without blocking; nil if dst cannot do that.
	try func([]byte) (int, error)

	mu       sync.Mutex
	moved    sync.Cond // bytes were written, or the outbox has ended
	waiting  []byte    // queued, not yet taken by run
	spare    []byte    // the other of two buffers
	writing  int       // bytes taken by run
	running  bool
	corked   bool
	err      error // why the outbox has ended
	room     func()
	stall    time.Duration
	failed   func(error) // called once, with mu held; must not block
	finished sync.WaitGroup
}

func newOutbox(dst io.Writer, failed func(error)) *outbox {
	o := &outbox{dst: dst, try: nonblocking(dst), failed: failed}
	o.moved.L = &o.mu
	return o
}

// Write accepts all of p, or returns why the outbox has ended.
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

// cork makes Write collect bytes until uncork, so that the records of one TLS write
// are sent in one system call.
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

// recycle empties a buffer for reuse, or drops it if it is too large to keep.
func recycle(b []byte, most int) []byte {
	if cap(b) > most {
		return nil
	}
	return b[:0]
}

// start starts the writer goroutine unless it runs. The caller holds mu.
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

// writeOut writes what was queued when it was called. mu is held before and after.
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

// writePiece writes p, and ends the outbox if the neighbour accepts nothing for the
// time stall.
func (o *outbox) writePiece(p []byte, stall time.Duration) (int, error) {
	if stall == 0 {
		return o.dst.Write(p)
	}
	timer := time.AfterFunc(stall, func() { o.end(errStalled) })
	defer timer.Stop()
	return o.dst.Write(p)
}

// fail records why the outbox has ended. The caller holds mu.
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

// failure returns why the outbox has ended, or nil.
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

func (o *outbox) onRoom(room func(), stall time.Duration) {
	o.mu.Lock()
	o.room, o.stall = room, stall
	o.mu.Unlock()
}

// settle waits until nothing is queued, the outbox has ended, or (unless it is 0) d
// is over. It returns why the outbox has ended.
func (o *outbox) settle(d time.Duration) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	waitWhile(&o.moved, d, func() bool { return o.err == nil && len(o.waiting)+o.writing > 0 })
	return o.err
}

// waitWhile waits on a condition, whose lock the caller holds, while so returns
// true, and (unless it is 0) for d at most.
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
