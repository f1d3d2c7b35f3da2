// The queue of events for one consumer.

package session

import (
	"context"
	"sync"
	"time"
)

// streamEvents and streamBytes bound the queue of a Stream before Room blocks: a few screens.
// Answers are queued after it, so it must be short.
const (
	streamEvents = 256
	streamBytes  = 256 << 10
)

// streamGrace is how long an ended stream waits for its consumer to take one more event. It
// delays the end once if the consumer has stopped reading.
const streamGrace = 250 * time.Millisecond

// Stream is the ordered queue between the producers of events and their one consumer: the channel
// of Session.Events. Push never blocks, because the number of answers is bounded by that of
// requests. A producer that reads from the network calls Room before it reads more, so that a slow
// consumer slows the program's output. All methods may be called from any goroutine.
//
// It starts one goroutine, which sends what the consumer does not take at once and ends in End.
type Stream struct {
	out      chan Event
	ended    chan struct{} // closed by End: nothing more will be pushed
	abandon  chan struct{} // closed by End when its context is done
	finished chan struct{} // closed by the goroutine
	wake     chan struct{} // capacity 1: something was pushed

	mu      sync.Mutex
	queue   []Event
	bytes   int           // of bodies in queue
	unsent  []Event       // that the goroutine has taken and not sent when it was told to give up
	sending bool          // the goroutine has taken events that it has not sent yet
	lifted  int           // number of Lifts in effect
	room    chan struct{} // closed when there is room again; nil if nothing waits
	over    bool
}

// NewStream starts a stream; End must be called.
func NewStream() *Stream {
	s := &Stream{
		out: make(chan Event, 64), ended: make(chan struct{}), abandon: make(chan struct{}),
		finished: make(chan struct{}), wake: make(chan struct{}, 1),
	}
	go s.forward()
	return s
}

// Events returns the consumer's end, which End closes.
func (s *Stream) Events() <-chan Event { return s.out }

// Push adds events; after End it drops them.
func (s *Stream) Push(events ...Event) {
	if len(events) == 0 {
		return
	}
	s.mu.Lock()
	left := s.over || s.add(events)
	s.mu.Unlock()
	if !left {
		return
	}
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// add sends events directly while the channel has room, which saves a switch of goroutines for each
// answer, and queues the others. It reports whether there are others. The lock must be held, and End
// not have been called: out is open.
func (s *Stream) add(events []Event) (left bool) {
	for len(events) > 0 && len(s.queue) == 0 && !s.sending {
		select {
		case s.out <- events[0]:
			events = events[1:]
			continue
		default:
		}
		break
	}
	s.queue = append(s.queue, events...)
	for _, e := range events {
		s.bytes += len(e.Group.Body)
	}
	return len(events) > 0
}

// Room blocks while the queue exceeds its bounds, unless they are lifted. The error is the
// context's.
func (s *Stream) Room(ctx context.Context) error {
	for {
		wait := s.full()
		if wait == nil {
			return nil
		}
		select {
		case <-wait:
		case <-s.ended:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// HasRoom reports whether Room would return at once.
func (s *Stream) HasRoom() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.over || s.hasRoom()
}

// full returns a channel that is closed when there is room, or nil if there is some now.
func (s *Stream) full() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over || s.hasRoom() {
		return nil
	}
	if s.room == nil {
		s.room = make(chan struct{})
	}
	return s.room
}

func (s *Stream) hasRoom() bool {
	return s.lifted > 0 || len(s.queue) <= streamEvents && s.bytes <= streamBytes
}

// Lift makes Room not block until restore is called. It is used while an answer that follows the
// queued events is awaited, and when the session ends and there may be no consumer any more.
func (s *Stream) Lift() (restore func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lifted++
	s.tellRoom()
	return sync.OnceFunc(func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.lifted--
	})
}

func (s *Stream) tellRoom() {
	if s.room != nil && s.hasRoom() {
		close(s.room)
		s.room = nil
	}
}

// End closes the stream after the consumer has taken what is queued, as long as it continues to
// take and ctx is not done. It returns when the stream is closed and may be called more than once.
func (s *Stream) End(ctx context.Context) {
	s.mu.Lock()
	first := !s.over
	s.over = true
	s.mu.Unlock()
	if first {
		close(s.ended)
	}
	select {
	case <-s.finished:
	case <-ctx.Done():
		s.giveUp()
		<-s.finished
	}
}

func (s *Stream) giveUp() {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case <-s.abandon:
	default:
		close(s.abandon)
	}
}

func (s *Stream) forward() {
	defer close(s.finished)
	defer close(s.out)
	for {
		batch := s.take()
		for i, e := range batch {
			if !s.send(e) {
				s.mu.Lock()
				s.unsent = batch[i:]
				s.mu.Unlock()
				return
			}
		}
		if batch != nil {
			continue
		}
		select {
		case <-s.wake:
		case <-s.ended:
			if s.isEmpty() {
				return
			}
		}
	}
}

// Queued returns the events, and the bytes of their bodies, that wait besides a few that are being sent.
func (s *Stream) Queued() (events, bytes int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.queue), s.bytes
}

// Left ends the stream at once and returns the events that the consumer has not taken, in order. There must be no
// consumer any more.
func (s *Stream) Left() []Event {
	s.giveUp()
	s.End(context.Background())
	var left []Event
	for e := range s.out {
		left = append(left, e)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return append(append(left, s.unsent...), s.queue...)
}

// take empties the queue; nil if it was empty.
func (s *Stream) take() []Event {
	s.mu.Lock()
	defer s.mu.Unlock()
	batch := s.queue
	s.queue, s.bytes, s.sending = nil, 0, batch != nil
	s.tellRoom()
	return batch
}

func (s *Stream) isEmpty() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.queue) == 0
}

// send sends one event to the consumer; false if the stream has ended and the consumer does not
// take it.
func (s *Stream) send(e Event) bool {
	select {
	case s.out <- e:
		return true
	case <-s.ended:
	}
	grace := time.NewTimer(streamGrace)
	defer grace.Stop()
	select {
	case s.out <- e:
		return true
	case <-grace.C:
	case <-s.abandon:
	}
	return false
}
