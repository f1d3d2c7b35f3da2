package rpc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync"

	"sdm/master/session"
	"sdm/protocol"
	"sdm/protocol/canonical"
)

// ErrGone is the error of Serve when the front end has vanished: it closed the
// connection, or the network did, without quit.
var ErrGone = errors.New("the front end is gone")

// Open builds the session that a front end asks for with "initialize". note
// tells the front end something while it waits. The error may be a
// *session.NotReady; then the front end may try again.
type Open func(ctx context.Context, s Setup, note func(text string)) (session.Session, session.Report, error)

// Serve drives a session for the front end at the other end, until the session
// has ended (nil), the front end has gone (ErrGone) or ctx is over. It closes the
// connection; the session is the caller's to close.
//
// Goroutines: Serve itself reads; one writes; one, at most, initializes. All
// have ended when Serve returns.
func Serve(ctx context.Context, c *Conn, open Open, o Options) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s := &server{
		conn: c, open: open, build: o.Build, job: o.Job, log: o.withDefaults().Log,
		out: make(chan outgoing, queuedResponses), calls: map[protocol.RequestID]*call{},
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		defer c.Close() // ends the reading
		s.write(ctx)
	})
	off := context.AfterFunc(ctx, func() { c.Close() })
	defer off()
	err := s.read(ctx, &wg)
	cancel()
	wg.Wait()
	if s.ended {
		return nil
	}
	return fmt.Errorf("%s: %w: %w", c.Peer(), ErrGone, err)
}

// queuedResponses bounds the responses that wait for a front end that does not
// read; then its requests are not read either.
const queuedResponses = 64

// server is one front end.
type server struct {
	conn  *Conn
	open  Open
	build string
	job   string
	log   *slog.Logger
	out   chan outgoing // to the writer; it is never closed
	ended bool          // the session is over, not the front end; the writer's
	whole bool          // the rank sets of all events are wanted in full; the writer's

	mu       sync.Mutex
	sess     session.Session // nil until initialized
	building bool
	calls    map[protocol.RequestID]*call // whose done is owed
}

// outgoing is one thing for the writer.
type outgoing struct {
	body []byte
	// sess, where given, is the session whose events are to follow, with whole sets
	// or not.
	sess  session.Session
	whole bool
	// begun, where given, is a call whose number is to be told.
	begun *call
	last  bool // nothing follows
}

// call is a request whose answers come from the session.
type call struct {
	rpc     json.RawMessage // nil for a notification
	id      protocol.RequestID
	stream  bool
	whole   bool     // the rank sets of its answers are wanted in full
	told    bool     // of a stream: its number has been sent; the writer's
	answers [][]byte // of others: what came so far; the writer's
}

func (s *server) read(ctx context.Context, wg *sync.WaitGroup) error {
	for {
		body, err := s.conn.read()
		if err != nil {
			return err
		}
		m, bad := decode(body)
		if bad != nil {
			s.send(ctx, outgoing{body: refuse(m.ID, bad)})
			continue
		}
		if m.Method == "" {
			continue // a response: we asked for nothing
		}
		if m.Method == "initialize" {
			s.initialize(ctx, wg, m)
			continue
		}
		if bad := s.handled(ctx, m); bad != nil && m.ID != nil {
			s.send(ctx, outgoing{body: refuse(m.ID, bad)})
		}
	}
}

func (s *server) send(ctx context.Context, o outgoing) {
	select {
	case s.out <- o:
	case <-ctx.Done():
	}
}

// initialize builds the tree beside the reading: it may take long, and a front
// end that vanishes meanwhile must be seen.
func (s *server) initialize(ctx context.Context, wg *sync.WaitGroup, m message) {
	var setup Setup
	bad := readParams(m.Params, &setup)
	if err := setup.Validate(); bad == nil && err != nil {
		bad = failure(codeParams, err.Error())
	}
	if bad == nil {
		bad = s.beginBuilding()
	}
	if bad != nil {
		s.send(ctx, outgoing{body: refuse(m.ID, bad)})
		return
	}
	s.send(ctx, outgoing{body: notify(event(protocol.KindJob, protocol.JobState{State: "starting", Job: s.job}))})
	wg.Go(func() {
		sess, report, err := s.open(ctx, setup, func(text string) {
			s.send(ctx, outgoing{body: notify(event(protocol.KindNote, protocol.Note{Text: text}))})
		})
		s.mu.Lock()
		s.building, s.sess = false, sess
		s.mu.Unlock()
		s.send(ctx, s.initialized(m.ID, sess, report, err, setup.WholeSets))
	})
}

func (s *server) beginBuilding() *callError {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.building || s.sess != nil {
		return failure(codeInvalid, "initialize comes once")
	}
	s.building = true
	return nil
}

// InitResult is the result of "initialize".
type InitResult struct {
	Version int    `json:"version"`
	Build   string `json:"build,omitempty"`
	session.Report
}

func (s *server) initialized(id json.RawMessage, sess session.Session, r session.Report, err error, whole bool) outgoing {
	text := func(v any) []byte {
		if whole {
			return canonical.JSON(v)
		}
		return session.Brief(canonical.JSON(v))
	}
	if err != nil {
		e := failure(codeNotReady, err.Error())
		var absent *session.NotReady
		if errors.As(err, &absent) {
			e.Data = text(absent.Report)
		}
		return outgoing{body: refuse(id, e)}
	}
	return outgoing{body: respond(id, text(InitResult{protocol.Version, s.build, r})), sess: sess, whole: whole}
}

// handled is handle, where a panic costs the request and not the session.
func (s *server) handled(ctx context.Context, m message) (refusal *callError) {
	if bad, stack := protocol.Guard(m.Method, func() { refusal = s.handle(ctx, m) }); bad != nil {
		s.defect(bad, stack)
		return failureOf(codeInternal, bad)
	}
	return refusal
}

// defect logs a panic.
func (s *server) defect(bad *protocol.Fault, stack []byte) {
	s.log.Error(bad.Message+": "+protocol.Report, "command", bad.Op, "stack", string(stack))
}

// handle carries out a request; the error is its response.
func (s *server) handle(ctx context.Context, m message) *callError {
	command := m.Method
	switch command {
	case "hello": // of a front end that need not prove anything
		s.send(ctx, outgoing{body: respond(m.ID, canonical.JSON(helloResult{Version: protocol.Version, Build: s.build}))})
		return nil
	case "shutdown":
		command = "quit"
	}
	if s.isEarly() {
		if command != "quit" {
			return failure(codeInvalid, "initialize comes first")
		}
		s.send(ctx, outgoing{body: respond(m.ID, []byte("{}")), last: true})
		return nil
	}
	c, bad := s.do(ctx, command, m)
	if bad == nil && c.stream && m.ID != nil {
		s.send(ctx, outgoing{begun: c})
	}
	return bad
}

func (s *server) isEarly() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sess == nil
}

// do hands a command to the session. The lock is held so that the writer, which
// may see the answers at once, finds the call.
func (s *server) do(ctx context.Context, command string, m message) (*call, *callError) {
	var p callParams
	if bad := readParams(m.Params, &p); bad != nil {
		return nil, bad
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	id, err := s.sess.Do(ctx, p.call(command))
	if err != nil {
		if _, known := protocol.LookupCommand(command); !known {
			return nil, failureOf(codeUnknownMethod, err)
		}
		return nil, failureOf(codeParams, err)
	}
	c := &call{rpc: m.ID, id: id, stream: p.Stream || m.ID == nil, whole: p.WholeSets}
	s.calls[id] = c
	return c, nil
}

// event is one that no session has told: there is none yet.
func event(kind protocol.Kind, body any) []byte {
	return session.NewEvent(protocol.Group{Kind: kind, Body: canonical.JSON(body)}).AppendJSON(nil)
}
