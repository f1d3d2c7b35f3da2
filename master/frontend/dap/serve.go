// The loop of an adapter, its reader and its writer.

package dap

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"time"

	"sdm/master/session"
	"sdm/protocol"
	"sdm/protocol/envelope"
)

// ErrGone is the error of Serve when the client has gone without disconnect.
var ErrGone = errors.New("the editor is gone")

// maxMessage bounds a message of the client, in bytes: memory that is written comes as base64.
const maxMessage = 4 << 20

// Bounds beyond which events of the session, or further requests, are not taken until there is room.
const (
	maxUnwritten  = 256 << 10 // bytes that the client has not read
	maxUnanswered = 1000      // requests
)

// closeWait bounds the end of a session.
const closeWait = 10 * time.Second

// Serve serves a client until it disconnects (nil), is gone (ErrGone), or ctx is done. A client that is gone has left
// the session. Serve closes the connection, and closes or leaves the session.
//
// Goroutines: Serve itself owns the adapter; one reads, one writes, one starts the target and one runs the debug
// console. All have ended when Serve returns.
func Serve(ctx context.Context, conn io.ReadWriteCloser, cfg Config) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s := &server{
		out: newOutlet(), in: make(chan []byte), broken: make(chan error, 2), started: make(chan begun, 1), how: -1,
		told: make(chan string, maxTold),
	}
	s.a = newAdapter(cfg, func(m any) { s.out.put(envelope.Append(nil, encode(m))) })
	s.a.begin = func(st Start) { // its caller makes sure that there is one at a time
		starting, giveUp := context.WithCancelCause(ctx)
		s.a.giveUp = func() { giveUp(errCancelled) }
		st.Told = s.tell
		s.running.Go(func() {
			t, err := cfg.Start(starting, st)
			if err != nil && context.Cause(starting) == errCancelled {
				err = errCancelled
			}
			s.started <- begun{t, err}
		})
	}
	s.a.done = func(end ending) { s.how = end }
	s.a.console.run = func(t Typed) {
		s.running.Go(func() { s.a.console.over <- cfg.Console(ctx, t) })
	}
	s.running.Go(func() { s.read(ctx, conn) })
	var writing sync.WaitGroup
	writing.Go(func() {
		if s.out.write(conn) != nil {
			s.broken <- ErrGone
		}
	})
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	defer stop()
	err := s.loop(ctx)
	if err != nil && !errors.Is(err, ErrGone) && ctx.Err() == nil {
		(&request{a: s.a}).fail(err) // no more can be read, but what is wrong can be told
	}
	s.out.end()
	late := time.AfterFunc(closeWait, func() { conn.Close() }) // if the client does not read the last answers
	if !errors.Is(err, ErrGone) {
		writing.Wait()
	}
	late.Stop()
	conn.Close()
	if s.twin != nil {
		s.twin.end()
	}
	cancel()
	s.running.Wait()
	writing.Wait()
	s.close()
	return err
}

// server is one connection.
type server struct {
	a       *adapter
	out     *outlet
	in      chan []byte
	broken  chan error
	started chan begun
	told    chan string // why a start takes its time
	events  <-chan session.Event
	twin    *twin
	how     ending // how the session ends; -1: it has not
	running sync.WaitGroup
}

// begun is the result of Config.Start.
type begun struct {
	target *Target
	err    error
}

func (s *server) loop(ctx context.Context) error {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for s.how < 0 {
		in, events := s.in, s.events
		if len(s.a.open) >= maxUnanswered {
			in = nil
		}
		if s.out.unwritten() > maxUnwritten {
			in, events = nil, nil
		}
		if due := s.a.stops.due; !due.IsZero() {
			timer.Reset(time.Until(due))
		}
		select {
		case body := <-in:
			s.a.receive(time.Now(), body)
		case b := <-s.started:
			s.begin(ctx, b)
		case line := <-s.told:
			s.a.told(line)
		case e, ok := <-events:
			s.take(e, ok)
		case now := <-timer.C:
			s.a.expired(now)
		case t := <-s.a.console.said:
			s.a.consoleSaid(t)
		case err := <-s.a.console.over:
			s.a.consoleOver(err)
		case <-s.out.room:
		case err := <-s.broken:
			return err
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

// maxTold bounds the lines about a start that are kept until the loop takes them; further ones are left out.
const maxTold = 16

// tell passes on a line about a start; any goroutine may call it.
func (s *server) tell(line string) {
	select {
	case s.told <- line:
	default:
	}
}

// begin takes the target.
func (s *server) begin(ctx context.Context, b begun) {
	if b.err == nil {
		s.twin = newTwin(b.target.Session)
		s.events = b.target.Session.Events()
		s.a.do = func(c session.Call) (protocol.RequestID, error) { return b.target.Session.Do(ctx, c) }
		s.a.console.session = s.twin
	}
	s.a.started(b.target, b.err)
}

// take takes an event of the session, which may be for its twin.
func (s *server) take(e session.Event, ok bool) {
	if !ok {
		s.events = nil
		s.twin.end()
		var err error
		if far, is := s.a.target.Session.(interface{ Err() error }); is {
			err = far.Err()
		}
		s.a.ended(err)
		return
	}
	if !s.twin.takes(e) {
		s.a.take(time.Now(), e)
	}
}

// close ends or leaves the session.
func (s *server) close() {
	t := s.a.target
	if t == nil {
		select {
		case b := <-s.started:
			t = b.target
		default:
			return
		}
	}
	if t == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), closeWait)
	defer cancel()
	shared, isShared := t.Session.(session.Shared)
	left := isShared && s.how != quits
	if left {
		shared.Leave(s.a.cursor)
	} else {
		_ = t.Session.Close(ctx) // there is no client to be told
	}
	if t.End != nil {
		t.End(left)
	}
}

// read reads messages until the connection ends.
func (s *server) read(ctx context.Context, conn io.Reader) {
	r := bufio.NewReaderSize(conn, envelope.MaxHeader)
	for {
		body, err := envelope.Read(r, maxMessage)
		if err != nil {
			if isGone(err) {
				err = ErrGone
			}
			s.broken <- err
			return
		}
		select {
		case s.in <- body:
		case <-ctx.Done():
			return
		}
	}
}

// isGone reports whether a connection has ended; otherwise what was read is no message.
func isGone(err error) bool {
	var failed *net.OpError
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.ErrClosedPipe) ||
		errors.As(err, &failed)
}

// outlet queues what is written to the client, so that the adapter never waits for it.
type outlet struct {
	mu    sync.Mutex
	queue []byte
	ended bool
	wake  chan struct{} // capacity 1: something was queued, or it has ended
	room  chan struct{} // capacity 1: something was written
	held  int           // bytes that are being written
}

func newOutlet() *outlet {
	return &outlet{wake: make(chan struct{}, 1), room: make(chan struct{}, 1)}
}

func tell(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

func (o *outlet) put(b []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.queue = append(o.queue, b...)
	tell(o.wake)
}

// unwritten returns the number of bytes that the client has not taken.
func (o *outlet) unwritten() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.queue) + o.held
}

// end ends write when everything is written.
func (o *outlet) end() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.ended = true
	tell(o.wake)
}

// write writes what is queued until end.
func (o *outlet) write(w io.Writer) error {
	for range o.wake {
		o.mu.Lock()
		b, ended := o.queue, o.ended
		o.queue, o.held = nil, len(b)
		o.mu.Unlock()
		if _, err := w.Write(b); err != nil {
			return err
		}
		o.mu.Lock()
		o.held = 0
		o.mu.Unlock()
		tell(o.room)
		if ended {
			return nil
		}
	}
	return nil
}
