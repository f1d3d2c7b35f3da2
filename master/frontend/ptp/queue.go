// Packets to be sent to the front end.

package ptp

import (
	"io"
	"sync"
	"time"

	"sdm/protocol/ptp"
	"sdm/protocol/rank"
)

const (
	// queueBytes is how much may be queued before events are no longer taken from the session,
	// which blocks the output of the program.
	queueBytes = 256 << 10
	// outputBytes bounds the text of one OUTPUT event that joins several lines.
	outputBytes = 32 << 10
)

// queue holds packets for their writer. All methods may be called from any goroutine.
type queue struct {
	room chan struct{} // capacity 1: something was sent

	mu      sync.Mutex
	more    *sync.Cond
	tasks   int // of the job
	packets []ptp.Packet
	bytes   int  // of packets, approximately
	held    bool // OUTPUT waits, see hold
	busy    bool
	over    bool
	idle    *sync.Cond
}

func newQueue() *queue {
	q := &queue{room: make(chan struct{}, 1)}
	q.more, q.idle = sync.NewCond(&q.mu), sync.NewCond(&q.mu)
	return q
}

// size sets the number of tasks of the job.
func (q *queue) size(tasks int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.tasks = tasks
}

// send queues an event of some ranks; arguments are as they are on the wire.
func (q *queue) send(code ptp.Code, ranks rank.Set, args ...string) {
	q.mu.Lock()
	tasks := q.tasks
	q.mu.Unlock()
	q.sendTo(ptp.SetText(ranks, tasks), code, args...)
}

// sendTo is send for a set as the front end has written it.
func (q *queue) sendTo(set string, code ptp.Code, args ...string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	p := ptp.Packet{ID: code, Args: append([]string{set}, args...)}
	if q.over || q.joined(p) {
		return
	}
	q.packets = append(q.packets, p)
	q.bytes += cost(p)
	q.more.Signal()
}

// joined appends output to the last packet, if that is output of the same ranks: many lines become
// one event.
func (q *queue) joined(p ptp.Packet) bool {
	if p.ID != ptp.EventOutput || len(q.packets) == 0 {
		return false
	}
	last := &q.packets[len(q.packets)-1]
	if last.ID != p.ID || last.Args[0] != p.Args[0] || len(last.Args[1])+len(p.Args[1]) > outputBytes {
		return false
	}
	last.Args[1] += p.Args[1]
	q.bytes += len(p.Args[1])
	return true
}

func cost(p ptp.Packet) int {
	n := 16
	for _, a := range p.Args {
		n += 8 + len(a)
	}
	return n
}

// hold keeps OUTPUT back: Eclipse has too many events in its queue. It ends the session at 5,000.
func (q *queue) hold(on bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.held = on
	q.more.Signal()
}

func (q *queue) isFull() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.bytes > queueBytes
}

// end discards the rest and ends write.
func (q *queue) end() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.over, q.packets, q.bytes, q.held = true, nil, 0, false
	q.more.Signal()
	q.idle.Broadcast()
}

// flushWait bounds the sending of the rest when a session ends.
const flushWait = 5 * time.Second

// flush waits until all has been sent, the connection is broken, or flushWait is over.
func (q *queue) flush(broken <-chan error) {
	q.hold(false)
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		q.mu.Lock()
		defer q.mu.Unlock()
		for !q.over && (len(q.packets) > 0 || q.busy) {
			q.idle.Wait()
		}
	}()
	late := time.NewTimer(flushWait)
	defer late.Stop()
	select {
	case <-sent:
		return
	case <-broken:
	case <-late.C:
	}
	q.end()
	<-sent
}

// write sends packets until end, or an error. It sends all queued packets with one write.
func (q *queue) write(w io.Writer) error {
	for {
		batch := q.take()
		if batch == nil {
			return nil
		}
		var b []byte
		for _, p := range batch {
			b = p.Append(b)
		}
		if _, err := w.Write(b); err != nil {
			return err
		}
		select {
		case q.room <- struct{}{}:
		default:
		}
	}
}

// take waits for packets and takes them all; nil is the end.
func (q *queue) take() []ptp.Packet {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.busy = false
	q.idle.Broadcast()
	batch, rest := q.sendable()
	for len(batch) == 0 && !q.over {
		q.more.Wait()
		batch, rest = q.sendable()
	}
	q.packets, q.bytes, q.busy = rest, 0, true
	for _, p := range rest {
		q.bytes += cost(p)
	}
	return batch
}

// sendable divides the packets into those that may be sent now, and output that is held.
func (q *queue) sendable() (batch, rest []ptp.Packet) {
	if !q.held {
		return q.packets, nil
	}
	for _, p := range q.packets {
		if p.ID == ptp.EventOutput {
			rest = append(rest, p)
		} else {
			batch = append(batch, p)
		}
	}
	return batch, rest
}
