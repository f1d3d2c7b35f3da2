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
	bytes   int // of packets, approximately
	busy    bool
	over    bool
	held    bool         // output is kept until resume
	kept    []ptp.Packet // output, while held
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
	to := &q.packets
	if q.held && code == ptp.EventOutput {
		to = &q.kept
	}
	if q.over || q.joined(*to, p) {
		return
	}
	*to = append(*to, p)
	q.bytes += cost(p)
	q.more.Signal()
}

// hold keeps output until resume. It counts as queued, so that a flood of it blocks the program.
func (q *queue) hold() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.held = true
}

// resume queues the output that was kept.
func (q *queue) resume() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.packets = append(q.packets, q.kept...)
	q.kept, q.held = nil, false
	q.more.Signal()
}

// joined appends output to the last of some packets, if that is output of the same ranks: many lines
// become one event.
func (q *queue) joined(packets []ptp.Packet, p ptp.Packet) bool {
	if p.ID != ptp.EventOutput || len(packets) == 0 {
		return false
	}
	last := &packets[len(packets)-1]
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

func (q *queue) isFull() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.bytes > queueBytes
}

// end discards the rest and ends write.
func (q *queue) end() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.over, q.packets, q.kept, q.bytes = true, nil, nil, 0
	q.more.Signal()
	q.idle.Broadcast()
}

// flushWait bounds the sending of the rest when a session ends.
const flushWait = 5 * time.Second

// flush waits until all has been sent, the connection is broken, or flushWait is over. Output is no
// longer held.
func (q *queue) flush(broken <-chan error) {
	q.resume()
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
	for len(q.packets) == 0 && !q.over {
		q.more.Wait()
	}
	batch := q.packets
	q.packets, q.bytes, q.busy = nil, 0, true
	for _, p := range q.kept {
		q.bytes += cost(p)
	}
	return batch
}
