// A session over a connection.

package rpc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"sdm/master/session"
	"sdm/protocol"
	"sdm/protocol/canonical"
)

// Client is a session whose master is at the other end of a connection. All methods may be called
// from any goroutine.
//
// It starts one goroutine besides that of the stream: run, which ends with the connection. Close
// ends both and waits for them, and for one of its own.
type Client struct {
	conn     *Conn
	stream   *session.Stream
	finished chan struct{} // closed by run
	heard    atomic.Uint64 // number of messages received

	mu       sync.Mutex
	last     uint64
	waiting  map[string]chan<- message // by the ID of the JSON-RPC call
	err      error                     // why the connection ended; set before finished is closed
	quitting bool                      // quit was sent: the end of the connection is not a failure
	welcome  *session.Welcome          // of a session that several share; nil: this one is not
}

var _ session.Shared = (*Client)(nil)

func newClient(c *Conn, _ Options) *Client {
	cl := &Client{conn: c, stream: session.NewStream(), finished: make(chan struct{}),
		waiting: map[string]chan<- message{}}
	go cl.run()
	return cl
}

// Peer returns the master's address for messages.
func (c *Client) Peer() string { return c.conn.Peer() }

// Events returns the stream of the session; see session.Session. It contains the events from the
// building of the tree as well.
func (c *Client) Events() <-chan session.Event { return c.stream.Events() }

// Initialize makes the master build the tree. The error is a *session.NotReady if servers are not
// ready.
func (c *Client) Initialize(ctx context.Context, s Setup) (session.Report, error) {
	var result InitResult
	s.WholeSets = true // a program that drives a Session needs complete sets
	err := c.ask(ctx, "initialize", s, &result)
	var refused *callError
	if errors.As(err, &refused) && refused.Code == codeNotReady && refused.Data != nil {
		var r session.Report
		if json.Unmarshal(refused.Data, &r) == nil && len(r.Absent) > 0 {
			return r, r.Err()
		}
	}
	c.mu.Lock()
	c.welcome = result.Shared
	c.mu.Unlock()
	return result.Report, err
}

// Summary asks a session that several share how its ranks stand and who is there, without joining it.
func (c *Client) Summary(ctx context.Context) (s session.Summary, err error) {
	return s, c.ask(ctx, "summary", struct{}{}, &s)
}

// IsShared reports whether several front ends share the session: it can be left.
func (c *Client) IsShared() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.welcome != nil
}

// Welcome returns what the front end was told when it joined a session that several share; see session.Shared.
func (c *Client) Welcome() session.Welcome {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.welcome == nil {
		return session.Welcome{}
	}
	return *c.welcome
}

// leaveWait bounds Leave: a session that does not hear of it sees that the connection is cut.
const leaveWait = 2 * time.Second

// Leave parts from a session that several share, which goes on, and closes the connection; see session.Shared.
func (c *Client) Leave(cursor uint64) {
	ctx, cancel := context.WithTimeout(context.Background(), leaveWait)
	defer cancel()
	c.expectEnd()
	var nothing struct{}
	_ = c.ask(ctx, "leave", leaveParams{cursor}, &nothing) // it is cut in any case
	c.Cut()
	c.stream.End(ctx)
}

// Do sends a call to the master; see session.Session. It waits for the call's number, one round
// trip.
func (c *Client) Do(ctx context.Context, call session.Call) (protocol.RequestID, error) {
	var begun struct{ ID protocol.RequestID }
	params := callParams{Ranks: call.Ranks, Wait: Wait(call.Wait), Stream: true, Args: call.Args, Once: call.Once}
	err := c.ask(ctx, call.Command, params, &begun)
	var refused *callError
	if errors.As(err, &refused) {
		return 0, refused.fault()
	}
	if err == nil && call.Command == "quit" {
		c.expectEnd()
	}
	return begun.ID, err
}

// ask makes a JSON-RPC call and waits for its result. Events before the result are received even if
// their consumer is slow: the caller may be the consumer.
func (c *Client) ask(ctx context.Context, method string, params, result any) error {
	defer c.stream.Lift()()
	answer := make(chan message, 1)
	id := c.register(answer)
	defer c.unregister(id)
	body := encode(message{ID: json.RawMessage(id), Method: method, Params: canonical.JSON(params)})
	if err := c.conn.write(body); err != nil {
		return c.gone(err)
	}
	select {
	case m := <-answer:
		if m.Error != nil {
			return m.Error
		}
		return json.Unmarshal(m.Result, result)
	case <-c.finished:
		return c.gone(nil)
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (c *Client) register(answer chan<- message) (id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last++
	id = strconv.FormatUint(c.last, 10)
	c.waiting[id] = answer
	return id
}

func (c *Client) unregister(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.waiting, id)
}

// gone returns why there is no answer.
func (c *Client) gone(err error) error {
	if cause := c.Err(); cause != nil {
		err = cause
	}
	if err == nil {
		err = errors.New("the session has ended")
	}
	return fmt.Errorf("master at %s: %w", c.Peer(), err)
}

// Err returns why the stream of events has ended: nil if the session was ended by quit, Cut or
// Close, or has not ended.
func (c *Client) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.quitting {
		return nil
	}
	return c.err
}

func (c *Client) expectEnd() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.quitting = true
}

func (c *Client) run() {
	err := c.read()
	c.conn.Close()
	c.mu.Lock()
	c.err = err
	c.mu.Unlock()
	close(c.finished)
	c.stream.End(context.Background())
}

// read processes messages until the connection ends.
func (c *Client) read() error {
	for {
		body, err := c.conn.read()
		if err != nil {
			return err
		}
		c.heard.Add(1)
		m, bad := decode(body)
		if bad != nil {
			return bad
		}
		if m.Method == "" {
			c.deliver(m)
			continue
		}
		if m.Method != "event" {
			continue // of a newer master
		}
		var e session.Event
		if err := e.UnmarshalJSON(m.Params); err != nil {
			return err
		}
		if err := c.stream.Room(context.Background()); err != nil {
			return err
		}
		c.stream.Push(e)
	}
}

func (c *Client) deliver(m message) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if answer, ok := c.waiting[string(m.ID)]; ok {
		delete(c.waiting, string(m.ID))
		answer <- m // does not block: the channel has room for the one answer
	}
}

// Cut closes the connection without quit. The master treats the front end as gone, and ends the
// session as configured.
func (c *Client) Cut() {
	defer c.stream.Lift()()
	c.expectEnd()
	c.conn.Close()
	<-c.finished
}

// Close makes the master end the session and waits until it closes the connection. If ctx is done
// first, or the master is silent for quitSilence, Close cuts the connection, which the master takes as
// a front end that is gone, and returns an error.
func (c *Client) Close(ctx context.Context) error {
	defer c.stream.Lift()()
	c.expectEnd()
	quit := encode(message{ID: json.RawMessage(`"close"`), Method: "quit", Params: canonical.JSON(callParams{Wait: waitUntil(ctx)})})
	over := make(chan struct{})
	refused := make(chan message, 1)
	c.mu.Lock()
	c.waiting[`"close"`] = refused
	c.mu.Unlock()
	var asking sync.WaitGroup
	asking.Go(func() { c.askForLife(quit, refused, over) })
	err := c.awaitEnd(ctx)
	close(over)
	c.Cut() // this ends a pending write
	asking.Wait()
	c.stream.End(ctx)
	return err
}

// While the master ends the session it is asked every quitPeriod for a sign of life. Quitting ends within
// 5 s whatever the connection does.
const (
	quitPeriod  = 500 * time.Millisecond
	quitSilence = 3 * time.Second
)

// askForLife sends a quit, once more if it is refused since others are there, and then questions that any master
// answers at once, until over is closed.
func (c *Client) askForLife(quit []byte, refused <-chan message, over <-chan struct{}) {
	hello := encode(message{ID: json.RawMessage(`"alive"`), Method: "hello"})
	again := time.NewTicker(quitPeriod)
	defer again.Stop()
	for err := c.conn.write(quit); err == nil; err = c.conn.write(hello) {
		select {
		case m := <-refused:
			if m.Error != nil {
				_ = c.conn.write(quit) // the next write tells
			}
		case <-again.C:
		case <-over:
			return
		}
	}
}

// awaitEnd waits until the connection has ended. Silence is counted in periods, not in time: this
// process may have been stopped.
func (c *Client) awaitEnd(ctx context.Context) error {
	again := time.NewTicker(quitPeriod)
	defer again.Stop()
	heard := c.heard.Load()
	for silent := time.Duration(0); silent < quitSilence; silent += quitPeriod {
		select {
		case <-c.finished:
			return nil
		case <-ctx.Done():
			return fmt.Errorf("the master at %s has not ended the session in time: %w", c.Peer(), ctx.Err())
		case <-again.C:
		}
		if now := c.heard.Load(); now != heard {
			heard, silent = now, 0
		}
	}
	return fmt.Errorf("the master at %s is silent for %v: it ends the session by itself once it sees that the connection is cut", c.Peer(), quitSilence)
}

// waitUntil returns the wait until the deadline of a context, without limit if it has none.
func waitUntil(ctx context.Context) Wait {
	at, ok := ctx.Deadline()
	if !ok {
		return -1
	}
	return Wait(max(time.Until(at), time.Millisecond))
}
