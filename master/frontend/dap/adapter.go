// Package dap connects a session to an editor by the Debug Adapter Protocol (DAP).
//
// Specification: https://microsoft.github.io/debug-adapter-protocol. Threads of DAP are groups of ranks that are equal
// in state and place, and there is one session of DAP for all ranks. Types are those of github.com/google/go-dap,
// except where it leaves out what must be sent (types.go).
package dap

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"slices"
	"time"

	godap "github.com/google/go-dap"

	"sdm/master/session"
	"sdm/master/text"
	"sdm/master/verdict"
	"sdm/protocol"
	"sdm/protocol/rank"
)

// Config configures an adapter. Start must be set.
type Config struct {
	// Start starts, finds or opens what a launch or attach asks for. It may take as long as a queue. The error is told
	// to the user.
	Start func(ctx context.Context, s Start) (*Target, error)
	// Console runs a console whose lines are typed into the editor's debug console, until its session has ended or
	// lines are at their end; nil: there is none.
	Console func(ctx context.Context, t Typed) error
	// Program is the path of sdm, for a console in a terminal of the editor.
	Program string
	// Log receives defects and messages that cannot be read; nil discards them.
	Log *slog.Logger
}

// Target is what is debugged.
type Target struct {
	Session session.Session
	// Ranks are all ranks.
	Ranks rank.Set
	// First is the launch, attach or core that is given first; nil: the ranks are there.
	First *session.Call
	// Joined tells that the session is another's: it is left and not ended.
	Joined bool
	// Snapshot is the number of the first events, which tell how the ranks stand.
	Snapshot int
	// Past tells that the ranks are not there any more: those of a hang file.
	Past bool
	// Kept are the commands whose answers a hang file has.
	Kept []Kept
	// Program is the name under which editors show it.
	Program string
	// End is called when the session was closed or left; nil: it is not called. left tells that it goes on.
	End func(left bool)
}

// foldWait is how long stops of further ranks are awaited while some run, as in the console.
const foldWait = 100 * time.Millisecond

// stepWait is after how long the client is told that ranks run which it has resumed itself: most steps are over by
// then.
const stepWait = 500 * time.Millisecond

// adapter is the state of one connection. Its methods are called by the loop of Serve only, and do not wait, except for
// the number of a call.
type adapter struct {
	cfg      Config
	requests map[string]row
	send     func(body any) // queues a message
	seq      int            // of the last message that was sent
	client   godap.InitializeRequestArguments

	phase    phase
	begin    func(Start) // starts the target; its result comes by started
	target   *Target
	do       func(session.Call) (protocol.RequestID, error)
	start    Start
	giveUp   func()   // ends the start of the target
	opening  *request // the launch or attach; nil: answered
	progress startProgressed
	given    bool     // the first call is complete, or there is none
	awaited  rank.Set // ranks that have not had their first stop
	unheard  int      // events of the snapshot that have not come yet
	cursor   uint64   // of the last event

	all    rank.Set
	focus  rank.Set
	states *session.States
	reads  rank.Set // ranks whose gdbs read symbols
	calls  map[protocol.RequestID]*call
	open   map[int]*request    // requests that are not answered yet, by seq
	asked  map[int]func(error) // requests to the client that are not answered yet, by seq
	pinned bool                // the view is about some of the ranks: all and states have no others

	groups  groups
	past    past
	verdict verdict.Judge
	stops   stops
	handles handles
	points  points
	sources sources
	gotos   gotos
	console debugConsole
	writer  text.Writer
	status  *int // exit status of the job
	over    bool // terminated was sent
	done    func(end ending)
}

// phase is how far the conversation has come.
type phase int

const (
	fresh      phase = iota // nothing was said
	introduced              // initialize was answered
	starting                // a launch or attach is in progress
	configured              // ranks stand, and initialized was sent: the client sets its breakpoints
	debugging               // configurationDone has come
	parted                  // the session was closed or left
)

// ending is how the conversation ends.
type ending int

const (
	leaves  ending = iota // the session goes on
	quits                 // it ends
	nothing               // there is none
)

func newAdapter(cfg Config, send func(any)) *adapter {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	return &adapter{
		cfg: cfg, requests: requestTable(), send: send, calls: map[protocol.RequestID]*call{}, open: map[int]*request{},
		asked: map[int]func(error){}, points: newPoints(),
	}
}

// receive processes a message of the client.
func (a *adapter) receive(now time.Time, body []byte) {
	r, bad := readRequest(a, body)
	if bad != nil {
		a.cfg.Log.Warn("a message of the client cannot be read", "err", bad)
		if r != nil {
			r.fail(bad)
		}
		return
	}
	if r == nil { // a response
		return
	}
	a.open[r.seq] = r
	a.guard(r, func() {
		if err := a.dispatch(now, r); err != nil {
			r.fail(err)
		}
	})
}

// dispatch gives a request to its row of the table.
func (a *adapter) dispatch(now time.Time, r *request) error {
	row, ok := a.requests[r.command]
	switch {
	case !ok:
		return fmt.Errorf("sdm has no request %q", clip(r.command))
	case a.phase == fresh && r.command != "initialize":
		return fmt.Errorf("%s before initialize", r.command)
	case row.session && a.phase == parted:
		return fmt.Errorf("%s: the session was ended or left", r.command)
	case row.session && (a.target == nil || a.phase < configured):
		return fmt.Errorf("%s: there is no session yet (launch or attach begins one)", r.command)
	case row.live && a.target.Past:
		return fmt.Errorf("%s: the ranks of a hang file are gone; what was asked of them then is shown", r.command)
	}
	return row.handle(a, now, r)
}

// guard reports a panic as the failure of a request, or as a note, so that it does not end the session.
func (a *adapter) guard(r *request, f func()) {
	defer func() {
		bad := recover()
		if bad == nil {
			return
		}
		a.cfg.Log.Error("defect of sdm", "err", bad, "stack", string(debug.Stack()))
		err := fmt.Errorf("defect of sdm: %v (the log has its stack; the session goes on)", bad)
		if r != nil && !r.answered {
			r.fail(err)
			return
		}
		a.say("important", err.Error())
	}()
	f()
}

// event sends an event.
func (a *adapter) event(name string, body any) {
	a.seq++
	a.send(eventMessage{Seq: a.seq, Type: "event", Event: name, Body: body})
}

// say writes a line to the client's debug console.
func (a *adapter) say(category, line string) {
	a.event("output", godap.OutputEventBody{Category: category, Output: line + "\n"})
}

// started takes the result of Config.Start.
func (a *adapter) started(t *Target, err error) {
	if err != nil {
		a.phase = introduced
		a.openingOver(err)
		return
	}
	a.target, a.all, a.focus = t, t.Ranks, t.Ranks
	if err := a.pin(a.start.Ranks); err != nil {
		a.openingOver(err)
		a.part(leaves)
		return
	}
	a.states, a.writer.All, a.writer.Terminal = session.NewStates(a.all), t.Ranks, true
	a.unheard, a.sources.fetched = t.Snapshot, a.start.FetchSources
	switch {
	case t.Past:
		a.recall()
		return
	case t.First == nil:
		a.given = true
		a.settle()
		return
	}
	first := *t.First
	first.Wait = -1
	if err := a.call(first, a.begun); err != nil {
		a.openingOver(err)
		a.part(quits)
	}
}

// begun is called when the launch or attach is complete.
func (a *adapter) begun(x *call) {
	if x.results().IsEmpty() {
		a.openingOver(x.failure())
		a.part(quits)
		return
	}
	if bad := x.failure(); bad != nil {
		a.say("important", bad.Error())
	}
	if args := a.target.First.Args; args.Location != "none" && (args.Job == nil || args.Job.StopAt != "none") {
		a.awaited = x.results().Minus(a.states.In(session.Stopped, session.Watched)).Minus(a.states.Ended())
	}
	a.given = true
	a.settle()
}

// settle tells the client that it may set its breakpoints, once all ranks stand, or it is known how they do.
func (a *adapter) settle() {
	if a.opening == nil || !a.given || !a.awaited.IsEmpty() || a.unheard > 0 {
		return
	}
	a.openingOver(nil)
	a.phase = configured
	a.startConsole()
	if slices.Contains(a.start.Flags, "--reverse") {
		a.event("capabilities", godap.CapabilitiesEventBody{Capabilities: godap.Capabilities{SupportsStepBack: true}})
	}
	a.openTerminal()
	a.event("process", godap.ProcessEventBody{Name: a.target.Program, StartMethod: a.start.method()})
	a.event("initialized", nil)
}

// take processes an event of the session.
func (a *adapter) take(now time.Time, e session.Event) {
	a.guard(nil, func() {
		if e.IsAnswer() {
			a.answered(e)
			return
		}
		a.cursor = max(a.cursor, e.Cursor)
		if about, ok := a.about(e); ok {
			a.states.Feed(about)
			a.happened(now, about)
		}
		if a.unheard > 0 {
			a.unheard--
			a.settle()
		}
	})
}

// about returns an event as it is about the ranks of the view; false: it is about others.
func (a *adapter) about(e session.Event) (session.Event, bool) {
	if !a.pinned || e.Group.Ranks.IsEmpty() {
		return e, true
	}
	var ok bool
	e.Group, ok = e.Group.Narrow(a.all)
	return e, ok
}

// ended is called when the events of the session have ended.
func (a *adapter) ended(err error) {
	if a.phase == parted {
		return
	}
	a.phase = parted
	for _, r := range a.open {
		r.fail(errors.New("the session has ended"))
	}
	a.opening = nil
	if err != nil {
		a.say("important", "the session has ended: "+err.Error())
	}
	a.terminated()
}

// terminated tells the client, once, that debugging is over.
func (a *adapter) terminated() {
	if a.over {
		return
	}
	a.over = true
	if a.status != nil {
		a.event("exited", godap.ExitedEventBody{ExitCode: *a.status})
	}
	a.event("terminated", nil)
}

// part ends or leaves the session.
func (a *adapter) part(end ending) {
	if a.phase == parted {
		return
	}
	a.phase = parted
	for _, r := range a.open {
		if r.command != "disconnect" && r.command != "terminate" {
			r.fail(errors.New("the session was ended or left"))
		}
	}
	if a.target == nil {
		end = nothing
	}
	a.done(end)
}

// clip cuts a text of the client for an error.
func clip(s string) string {
	const most = 60 // bytes
	if len(s) > most {
		s = s[:most] + "..."
	}
	return text.Clean(s)
}
