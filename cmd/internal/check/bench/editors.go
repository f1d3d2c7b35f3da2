// Editors: what sdm dap costs beside a console.

package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"sdm/master/frontend/dap"
	"sdm/master/session"
	"sdm/protocol"
	"sdm/protocol/envelope"
	"sdm/protocol/rank"
)

// benchEditors measures an adapter on simulated ranks, and its start on real ones.
func benchEditors(b *bench) {
	b.runInside("editors")
	b.progress("sdm dap and sdm run start 8 ranks")
	sdm := filepath.Join(b.dir, "sdm")
	b.build(sdm)
	b.build(filepath.Join(b.dir, "sdm-server"))
	adapter := func(int) time.Duration { return b.adapterStart(sdm) }
	console := func(int) time.Duration { return b.consoleStart(sdm) }
	c := compare(5, 1, adapter, console)
	b.table.add(row{what: "sdm dap to initialized, 8 local ranks, against sdm run to its first answer", unit: "ms",
		ours: ms(c.times[0]), floor: ms(c.times[1]), limit: limit{ratio: 1.2}})
}

// environment returns an environment in which sessions are registered in a folder of this run.
func (b *bench) environment() []string {
	return append(os.Environ(), "XDG_STATE_HOME="+filepath.Join(b.dir, "state"), "SDM_NO_RC=true")
}

// adapterStart returns the time until an adapter has started 8 ranks, which stand in main.
func (b *bench) adapterStart(sdm string) time.Duration {
	cmd := exec.Command(sdm, "dap")
	cmd.Env, cmd.Stderr = b.environment(), os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		fatal("sdm dap", err)
	}
	began := time.Now()
	out := startPiped(cmd, "sdm dap")
	e := &editor{w: in, r: bufio.NewReader(out)}
	e.request("initialize", `{"adapterID":"sdm"}`)
	e.send("launch", fmt.Sprintf(`{"program":%q,"np":8,"stopOnEntry":true}`, b.program))
	e.event("initialized")
	took := time.Since(began)
	e.request("disconnect", `{"terminateDebuggee":true}`)
	go io.Copy(io.Discard, out) // ends with the process
	in.Close()
	if err := cmd.Wait(); err != nil {
		fatal("sdm dap", err)
	}
	return took
}

// consoleStart returns the time until the console of a session, as sdm begins one at a terminal, has an answer of 8
// ranks in main.
func (b *bench) consoleStart(sdm string) time.Duration {
	cmd := exec.Command(sdm, "run", "--keep", "1m", "-e", "print 6*7", "--stdin", "none", "-n", "8", b.program)
	cmd.Env = b.environment()
	began := time.Now()
	out := startPiped(cmd, "sdm run")
	readUntil(out, "= 42")
	took := time.Since(began)
	b.quitSession(sdm)
	go io.Copy(io.Discard, out) // ends with the process
	_ = cmd.Wait()              // quit has killed the ranks
	return took
}

// editor is a client of an adapter.
type editor struct {
	w    io.WriteCloser
	r    *bufio.Reader
	seq  int
	over chan error

	heard   []message // events that have come while an answer was awaited
	asked   int       // requests since the last reset
	biggest int       // bytes of an answer
}

// edit serves an editor that joins a shared session.
func (s *sharedSession) edit() *editor {
	view, err := s.hub.Join(protocol.FrontEnd{Name: "editor", Door: "dap"}, nil)
	if err != nil {
		fatal("join", err)
	}
	near, far := net.Pipe()
	e := &editor{w: near, r: bufio.NewReader(near), over: make(chan error, 1)}
	start := func(context.Context, dap.Start) (*dap.Target, error) {
		return &dap.Target{Session: view, Ranks: s.all(), Joined: true, Snapshot: view.Welcome().Snapshot}, nil
	}
	go func() { e.over <- dap.Serve(context.Background(), far, dap.Config{Start: start}) }()
	e.request("initialize", `{"adapterID":"sdm","linesStartAt1":true,"supportsInvalidatedEvent":true}`)
	e.send("attach", `{"session":""}`)
	e.event("initialized")
	e.request("configurationDone", `{}`)
	return e
}

// leave ends the connection.
func (e *editor) leave() {
	e.request("disconnect", `{}`)
	e.w.Close()
	if err := <-e.over; err != nil && !errors.Is(err, dap.ErrGone) {
		fatal("dap", err)
	}
}

// message is what an adapter sends, as far as it is looked at.
type message struct {
	Type, Event, Command, Message string
	RequestSeq                    int `json:"request_seq"`
	Success                       bool
	Body                          json.RawMessage
}

func (e *editor) send(command, arguments string) int {
	e.seq++
	e.asked++
	body := fmt.Sprintf(`{"seq":%d,"type":"request","command":%q,"arguments":%s}`, e.seq, command, arguments)
	if _, err := e.w.Write(envelope.Append(nil, []byte(body))); err != nil {
		fatal(command, err)
	}
	return e.seq
}

// receive reads a message.
func (e *editor) receive() (m message) {
	body, err := envelope.Read(e.r, 4<<20)
	if err == nil {
		err = json.Unmarshal(body, &m)
	}
	if err != nil {
		fatal("dap", err)
	}
	if m.Type == "response" {
		e.biggest = max(e.biggest, len(body))
	}
	return m
}

// request sends a request and returns the body of its answer.
func (e *editor) request(command, arguments string) json.RawMessage {
	body, good := e.tryRequest(command, arguments)
	if !good {
		fatal(command, errors.New(string(body)))
	}
	return body
}

// tryRequest sends a request and returns the body of its answer, or the message of its failure.
func (e *editor) tryRequest(command, arguments string) (body json.RawMessage, good bool) {
	seq := e.send(command, arguments)
	for {
		switch m := e.receive(); {
		case m.Type == "event":
			e.heard = append(e.heard, m)
		case m.RequestSeq != seq: // of a request whose answer is not awaited
		case !m.Success:
			return json.RawMessage(m.Message), false
		default:
			return m.Body, true
		}
	}
}

// event returns the body of the next event with a name.
func (e *editor) event(name string) json.RawMessage {
	for i, m := range e.heard {
		if m.Event == name {
			e.heard = e.heard[i+1:]
			return m.Body
		}
	}
	e.heard = nil
	for {
		if m := e.receive(); m.Type == "event" && m.Event == name {
			return m.Body
		}
	}
}

// stopped returns the thread of the next stop.
func (e *editor) stopped() (body struct{ ThreadID int }) {
	if err := json.Unmarshal(e.event("stopped"), &body); err != nil {
		fatal("stopped", err)
	}
	return body
}

// step steps the group of a thread and asks for what an editor shows then, again if further ranks have stopped.
func (e *editor) step(thread int) int {
	e.heard, e.asked, e.biggest = nil, 0, 0
	e.send("next", fmt.Sprintf(`{"threadId":%d}`, thread))
	return e.settled()
}

// settled waits until all ranks have stopped, asks for what is shown, and returns the thread.
func (e *editor) settled() (thread int) {
	for {
		thread = e.stopped().ThreadID
		e.request("threads", `{}`)
		if e.look(thread) && !slices.ContainsFunc(e.heard, func(m message) bool { return m.Event == "stopped" }) {
			return thread
		}
	}
}

// look asks for the stack of a thread and the variables of its innermost frame; false: the thread is no more.
func (e *editor) look(thread int) bool {
	body, there := e.tryRequest("stackTrace", fmt.Sprintf(`{"threadId":%d}`, thread))
	var frames struct{ StackFrames []struct{ ID int } }
	if !there || json.Unmarshal(body, &frames) != nil || len(frames.StackFrames) == 0 {
		return false
	}
	body, there = e.tryRequest("scopes", fmt.Sprintf(`{"frameId":%d}`, frames.StackFrames[0].ID))
	var scopes struct {
		Scopes []struct{ VariablesReference int }
	}
	if !there || json.Unmarshal(body, &scopes) != nil || len(scopes.Scopes) == 0 {
		return false
	}
	_, there = e.tryRequest("variables", fmt.Sprintf(`{"variablesReference":%d}`, scopes.Scopes[0].VariablesReference))
	return there
}

// lines is how often the simulated program can be stepped before it ends.
const lines = 4

// againAfter measures f, and starts the program again, unmeasured, before it ends.
func againAfter(again, f func()) way {
	return func(rounds int) time.Duration {
		took := make([]time.Duration, rounds)
		for i := range took {
			if i%lines == 0 {
				again()
			}
			began := time.Now()
			f()
			took[i] = time.Since(began)
		}
		return median(took)
	}
}

// stepped is a session of 512 simulated ranks, which an editor or a console steps.
type stepped struct {
	c *simSession
	s *sharedSession
	e *editor // nil: a console
}

// again ends the session, if there is one, and begins another: the simulated program ends after some lines, and cannot
// be started again.
func (x *stepped) again(edited bool) {
	x.end()
	x.c = startSimulated(steppedRanks, 64, "binomial", "run 0ms\nloop all\n", nil)
	x.s = x.c.share()
	x.s.launch("work")
	if edited {
		x.e = x.s.edit()
		x.s.first.Leave(0)
	}
}

func (x *stepped) end() {
	if x.e != nil {
		x.e.leave()
	}
	if x.c != nil {
		x.s.end()
		x.c.close()
	}
}

const steppedRanks = 512

// insideEditors measures an adapter.
func insideEditors(in *insider) {
	in.say("an editor and a console step %d simulated ranks, each of a session of its own", steppedRanks)
	var edited, typed stepped
	var thread int
	editor := againAfter(func() {
		edited.again(true)
		thread = edited.e.settled()
	}, func() { thread = edited.e.step(thread) })
	console := againAfter(func() { typed.again(false) }, func() {
		typed.s.call(session.Call{Command: "next"})
		typed.s.stopped(typed.s.all())
		typed.s.ask(session.Call{Command: "backtrace"})
		typed.s.ask(session.Call{Command: "info locals"})
	})
	steps := compare(5, 4*lines, editor, console)
	in.out.Encode(figure{
		What: fmt.Sprintf("a step of %d ranks with threads, stack, variables by sdm dap, against a console", steppedRanks),
		Unit: "ms", Ours: ms(steps.times[0]), Floor: ms(steps.times[1]), Times: 1.2, Slack: 1})
	e := edited.e
	in.add("requests of that step", "count", float64(e.asked), 6)
	in.add("biggest answer of that step", "KiB", float64(e.biggest)/1024, 16)
	edited.again(true)
	e = edited.e
	thread = e.settled()
	stops := timed(func() {
		e.heard = nil
		e.request("continue", fmt.Sprintf(`{"threadId":%d}`, thread))
		e.request("pause", fmt.Sprintf(`{"threadId":%d}`, thread))
		thread = e.settled()
	})
	in.add(fmt.Sprintf("%d ranks are continued and paused, until an editor shows them", steppedRanks), "ms",
		ms(stops(20)), 150)
	edited.end()
	typed.end()

	const many = 10_000
	in.say("threads of %d simulated ranks", many)
	c := startSimulated(many, 160, "binomial", "run 0ms\nloop all\n", nil)
	s := c.share()
	s.launch("work")
	for i := range rank.ID(50) { // ranks that have made so many steps
		some := rank.Range(200*i, 200*i+199)
		for range i % lines {
			s.call(session.Call{Command: "next", Ranks: some.String()})
			s.stopped(some)
		}
	}
	e = s.edit()
	var rows int
	took := timed(func() { rows = bytes.Count(e.request("threads", `{}`), []byte(`"id":`)) })(50)
	in.add(fmt.Sprintf("threads of %d ranks", many), "ms", ms(took), 5)
	in.add("rows of it", "count", float64(rows), 64)
	e.leave()
	s.end()
	c.close()
}
