// Requests to sdm-pmix and its replies and events.

package pmix

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"
)

// limits bounds each call. PRRTE answers queries within 50 ms and spawns within a second; the
// rest is for busy machines and for program files on slow file systems.
var limits = map[Call]time.Duration{
	CallConnect: 15 * time.Second, CallFollow: time.Minute, CallQuery: 10 * time.Second, CallGet: 10 * time.Second,
	CallSpawn:  2 * time.Minute,
	CallNotify: 10 * time.Second, CallPush: 10 * time.Second, CallControl: 10 * time.Second, CallLog: 5 * time.Second,
	CallKeep: 5 * time.Second, CallFinalize: 5 * time.Second,
}

// Silent is the error that a call had no answer in its time. It may still have an effect.
type Silent struct {
	Call  Call
	Limit time.Duration
}

func (s *Silent) Error() string {
	return fmt.Sprintf("PMIx %s: no answer in %v (the server or its library hangs)", s.Call, s.Limit)
}

// errClosed is the error of calls when sdm-pmix has closed its messages.
var errClosed = errors.New("sdm-pmix has ended")

// Writer is where requests go: a pipe or a connection in memory.
type Writer interface {
	io.WriteCloser
	SetWriteDeadline(time.Time) error
}

// Conn is a conversation with sdm-pmix. Several goroutines may call its methods.
//
// Goroutine: one that reads messages until they end; Done is closed then.
type Conn struct {
	hello   chan Message // one value at most
	onEvent func(Message)
	done    chan struct{}
	err     error         // why the messages have ended; valid after done
	lost    chan struct{} // closed when the server is lost
	told    bool          // lost has been closed; only the reader uses it

	mu      sync.Mutex
	to      Writer
	last    uint64                  // ID of the last request
	waiting map[uint64]chan Message // where replies go, by ID of the request; each has capacity 1
}

// NewConn starts a conversation. The reader calls onEvent for each event, in order; onEvent must
// not wait.
func NewConn(from io.Reader, to Writer, onEvent func(Message)) *Conn {
	c := &Conn{hello: make(chan Message, 1), onEvent: onEvent, done: make(chan struct{}), lost: make(chan struct{}),
		to: to, waiting: map[uint64]chan Message{}}
	go c.read(NewLines(from))
	return c
}

// read is the goroutine of the Conn.
func (c *Conn) read(lines *Lines) {
	defer close(c.done)
	for {
		line, err := lines.Next()
		if err == io.EOF || errors.Is(err, os.ErrClosed) {
			c.err = errClosed
			return
		}
		var m Message
		if err == nil {
			m, err = ParseMessage(line)
		}
		if err == nil {
			err = c.take(m)
		}
		if err != nil {
			c.err = fmt.Errorf("sdm-pmix does not keep to its protocol: %w", err)
			return
		}
	}
}

func (c *Conn) take(m Message) error {
	switch {
	case m.Hello != 0:
		select {
		case c.hello <- m:
		default:
			return errors.New("a second hello")
		}
	case m.Event != 0:
		if m.Event == LostConnection && !c.told {
			c.told = true
			close(c.lost)
		}
		c.onEvent(m)
	default:
		c.mu.Lock()
		answer, waits := c.waiting[m.ID]
		delete(c.waiting, m.ID)
		given := m.ID <= c.last
		c.mu.Unlock()
		if waits {
			answer <- m
		} else if !given {
			return fmt.Errorf("a reply to request %d, which was not made", m.ID)
		} // else the caller no longer waits
	}
	return nil
}

// Done returns a channel that is closed when no more messages come.
func (c *Conn) Done() <-chan struct{} { return c.done }

// Hello waits for the first message.
func (c *Conn) Hello(ctx context.Context) (Message, error) {
	ctx, cancel := context.WithTimeout(ctx, limits[CallConnect])
	defer cancel()
	select {
	case m := <-c.hello:
		if m.Hello != Revision {
			return m, fmt.Errorf("sdm-pmix speaks revision %d of the protocol, not %d (it is of another release of sdm)", m.Hello, Revision)
		}
		return m, nil
	case <-c.done:
		return Message{}, c.err
	case <-ctx.Done():
		return Message{}, fmt.Errorf("sdm-pmix does not start: %w", context.Cause(ctx))
	}
}

// Call makes a call and waits for its reply, for the end of ctx, for the limit of the call, or for
// the end of sdm-pmix. The number of the request is set here. The error is a *Failure if the
// server refuses, and a *Silent if there was no answer in time. Libpmix 4.2 does not answer a query
// if the server ends before its answer, so the loss of the server ends the wait, too.
func (c *Conn) Call(ctx context.Context, r Request) (Message, error) {
	inTime, cancel := context.WithTimeout(ctx, limits[r.Call])
	defer cancel()
	answer, id, err := c.send(inTime, r)
	if err != nil {
		return Message{}, err
	}
	defer c.forget(id)
	lost := c.lost
	if r.Call == CallFinalize {
		lost = nil
	}
	select {
	case m := <-answer:
		return m, failureOf(r, m)
	case <-lost:
		var soon context.CancelFunc
		inTime, soon = context.WithTimeoutCause(inTime, lateAnswer, errLost)
		defer soon()
	case <-c.done:
	case <-inTime.Done():
	}
	select {
	case m := <-answer:
		return m, failureOf(r, m)
	case <-c.done:
		return Message{}, fmt.Errorf("PMIx %s: %w", r.Call, c.err)
	case <-inTime.Done():
		if errors.Is(context.Cause(inTime), errLost) {
			return Message{}, fmt.Errorf("PMIx %s: %w", r.Call, errLost)
		}
		if ctx.Err() == nil {
			return Message{}, &Silent{r.Call, limits[r.Call]}
		}
		return Message{}, fmt.Errorf("PMIx %s: %w", r.Call, context.Cause(ctx))
	}
}

// lateAnswer is how long to wait for an answer after the loss of the server: libpmix may report the
// loss in it, or the server has sent it before.
const lateAnswer = time.Second

func failureOf(r Request, m Message) error {
	if m.Status.isGood() {
		return nil
	}
	return &Failure{r.Call, r.Key, m.Status, m.Text}
}

// send writes a request and returns where its answer will come.
func (c *Conn) send(ctx context.Context, r Request) (<-chan Message, uint64, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	r.ID = c.last + 1
	if err := r.check(); err != nil {
		return nil, 0, fmt.Errorf("PMIx %s: %w", r.Call, err)
	}
	line, err := AppendLine(nil, r)
	if err != nil {
		return nil, 0, fmt.Errorf("PMIx %s: %w", r.Call, err)
	}
	c.last++
	answer := make(chan Message, 1)
	c.waiting[r.ID] = answer
	if end, ok := ctx.Deadline(); ok {
		c.to.SetWriteDeadline(end)
	}
	if _, err := c.to.Write(line); err != nil {
		delete(c.waiting, r.ID)
		if errors.Is(err, os.ErrDeadlineExceeded) {
			c.to.Close() // a part of the line may have been written
			return nil, 0, &Silent{r.Call, limits[r.Call]}
		}
		return nil, 0, fmt.Errorf("PMIx %s: %w: %w", r.Call, errClosed, err)
	}
	return answer, r.ID, nil
}

func (c *Conn) forget(id uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.waiting, id)
}

// Close closes the requests, so that sdm-pmix leaves the server and ends.
func (c *Conn) Close() { c.to.Close() }
