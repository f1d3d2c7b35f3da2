// The master's side of a connection.

package rpc

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync"

	"sdm/master/session"
	"sdm/master/verdict"
	"sdm/protocol"
	"sdm/protocol/canonical"
)

// ErrGone is the error of Serve when the connection has ended without quit.
var ErrGone = errors.New("the front end is gone")

// Open builds the session for a front end's "initialize". note sends the front end a message while
// it waits. If there is an error, which may be a *session.NotReady, the front end may try again.
type Open func(ctx context.Context, s Setup, note func(text string)) (session.Session, session.Report, error)

// Serve serves a session to the front end of a connection, until the session has ended (nil), the
// front end has gone (ErrGone) or ctx is done. It closes the connection; the caller closes the
// session.
//
// Goroutines: Serve itself reads; one writes; at most one initializes. All have ended when Serve
// returns.
func Serve(ctx context.Context, c *Conn, open Open, o Options) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s := &server{
		conn: c, open: open, build: o.Build, job: o.Job, summary: o.Summary, log: o.withDefaults().Log,
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
	if shared, ok := s.sess.(session.Shared); ok && s.left != nil {
		shared.Leave(*s.left)
	}
	if s.ended {
		return nil
	}
	return fmt.Errorf("%s: %w: %w", c.Peer(), ErrGone, err)
}

// queuedResponses bounds the responses that wait for a front end that does not read; then its
// requests are not read either.
const queuedResponses = 64

// server serves one front end.
type server struct {
	conn    *Conn
	open    Open
	build   string
	job     string
	summary func() session.Summary // nil: the session is not shared
	log     *slog.Logger
	out     chan outgoing // to the writer; never closed
	ended   bool          // the session has ended, and not only the connection; used by the writer
	quit    bool          // a quit has been answered; used by the writer
	whole   bool          // send the complete rank sets of all events; used by the writer
	judge   verdict.Judge // used by the writer

	mu       sync.Mutex
	sess     session.Session // nil until initialized
	building bool
	calls    map[protocol.RequestID]*call // calls without done
	left     *uint64                      // the front end has left; see session.Shared
}

// outgoing is one item for the writer.
type outgoing struct {
	body []byte
	// sess, if set, is the session whose events follow, with complete sets if whole.
	sess  session.Session
	whole bool
	// begun, if set, is a call whose number is to be sent.
	begun *call
	last  bool // nothing follows
}

// call is a request whose answers come from the session.
type call struct {
	rpc     json.RawMessage // nil for a notification
	id      protocol.RequestID
	stream  bool
	whole   bool     // send the complete rank sets of its answers
	told    bool     // of a stream: its number has been sent; used by the writer
	answers [][]byte // without stream: answers so far; used by the writer
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
			continue // a response: the server makes no requests
		}
		if m.Method == "initialize" {
			s.initialize(ctx, wg, m)
			continue
		}
		if bad := s.handleGuarded(ctx, m); bad != nil && m.ID != nil {
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

// initialize builds the tree in a goroutine: it may take long, and the end of the connection must
// be noticed meanwhile.
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
	// Shared tells of a session that several front ends share.
	Shared *session.Welcome `json:"shared,omitempty"`
}

func (s *server) initialized(id json.RawMessage, sess session.Session, r session.Report, err error,
	whole bool) outgoing {
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
	result := InitResult{Version: protocol.Version, Build: s.build, Report: r}
	if shared, ok := sess.(session.Shared); ok {
		w := shared.Welcome()
		result.Shared = &w
	}
	return outgoing{body: respond(id, text(result)), sess: sess, whole: whole}
}

// handleGuarded is handle, with a panic as the error of the request.
func (s *server) handleGuarded(ctx context.Context, m message) (refusal *callError) {
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

// handle executes a request; the error is its response.
func (s *server) handle(ctx context.Context, m message) *callError {
	command := m.Method
	switch command {
	case "hello": // on a connection without authentication
		s.send(ctx, outgoing{body: respond(m.ID, canonical.JSON(helloResult{Version: protocol.Version, Build: s.build}))})
		return nil
	case "shutdown":
		command = "quit"
	case "leave":
		return s.leave(ctx, m)
	case "summary":
		if s.summary == nil {
			return failure(codeUnknownMethod, "this session is not shared")
		}
		s.send(ctx, outgoing{body: respond(m.ID, canonical.JSON(s.summary()))})
		return nil
	case "cancel":
		var answered bool
		if m, answered = s.numbered(m); answered {
			s.send(ctx, outgoing{body: respond(m.ID, []byte("{}"))})
			return nil
		}
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

// leave ends the connection, and the session goes on.
func (s *server) leave(ctx context.Context, m message) *callError {
	var p leaveParams
	if bad := readParams(m.Params, &p); bad != nil {
		return bad
	}
	s.mu.Lock()
	_, shared := s.sess.(session.Shared)
	if shared {
		s.left = &p.Cursor
	}
	s.mu.Unlock()
	if !shared {
		return failureOf(codeParams, &protocol.Fault{Kind: protocol.FaultState, Op: "leave", Message: "nobody would be left in this session", Hint: "quit ends it"})
	}
	s.send(ctx, outgoing{body: respond(m.ID, []byte("{}")), last: true})
	return nil
}

// numbered replaces the parameter "call" of a cancel, the id of a request of JSON-RPC, by the number of the call. It
// reports whether that has been answered already.
func (s *server) numbered(m message) (with message, answered bool) {
	var p cancelParams
	if json.Unmarshal(m.Params, &p) != nil || len(p.Call) == 0 {
		return m, false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for id, c := range s.calls {
		if bytes.Equal(c.rpc, p.Call) {
			m.Params = canonical.JSON(protocol.Args{Of: id})
			return m, false
		}
	}
	return m, true
}

func (s *server) isEarly() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sess == nil
}

// do gives a command to the session. It holds the lock until the call is registered, because the
// writer may receive the answers at once.
func (s *server) do(ctx context.Context, command string, m message) (*call, *callError) {
	var p callParams
	if bad := readParams(m.Params, &p); bad != nil {
		return nil, bad
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, shared := s.sess.(session.Shared); p.Once != "" && !shared {
		return nil, failure(codeParams, "once: this session is not shared, and does not remember what was given before")
	}
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

// event makes an event before there is a session.
func event(kind protocol.Kind, body any) []byte {
	return session.NewEvent(protocol.Group{Kind: kind, Body: canonical.JSON(body)}).AppendJSON(nil)
}
