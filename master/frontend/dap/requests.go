// The table of requests, and those about the conversation as a whole.

package dap

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	godap "github.com/google/go-dap"

	"sdm/master/session"
)

// row is a row of the table of requests.
type row struct {
	handle  handler
	session bool // it needs a session whose ranks stand or run
	live    bool // with session: it needs ranks that are there
}

// requestTable returns all requests.
func requestTable() map[string]row {
	return map[string]row{
		"initialize":                {handle: (*adapter).initialize},
		"launch":                    {handle: (*adapter).launch},
		"attach":                    {handle: (*adapter).attach},
		"configurationDone":         {handle: (*adapter).configured, session: true},
		"disconnect":                {handle: (*adapter).disconnect},
		"terminate":                 {handle: (*adapter).terminate},
		"threads":                   {handle: (*adapter).threads, session: true},
		"stackTrace":                {handle: (*adapter).stackTrace, session: true},
		"scopes":                    {handle: (*adapter).scopes, session: true},
		"variables":                 {handle: (*adapter).variables, session: true},
		"evaluate":                  {handle: (*adapter).evaluate, session: true},
		"setBreakpoints":            {handle: (*adapter).setBreakpoints, session: true},
		"setFunctionBreakpoints":    {handle: (*adapter).setFunctionBreakpoints, session: true},
		"setExceptionBreakpoints":   {handle: (*adapter).setExceptionBreakpoints, session: true},
		"continue":                  {handle: (*adapter).resumeAll, session: true, live: true},
		"next":                      {handle: step("next", "nexti"), session: true, live: true},
		"stepIn":                    {handle: step("step", "stepi"), session: true, live: true},
		"stepOut":                   {handle: step("finish", "finish"), session: true, live: true},
		"pause":                     {handle: (*adapter).pause, session: true, live: true},
		"stepBack":                  {handle: step("reverse-next", "reverse-nexti"), session: true, live: true},
		"reverseContinue":           {handle: step("reverse-continue", "reverse-continue"), session: true, live: true},
		"setDataBreakpoints":        {handle: (*adapter).setDataBreakpoints, session: true},
		"dataBreakpointInfo":        {handle: (*adapter).dataBreakpointInfo, session: true},
		"setInstructionBreakpoints": {handle: (*adapter).setInstructionBreakpoints, session: true},
		"setVariable":               {handle: (*adapter).setVariable, session: true, live: true},
		"setExpression":             {handle: (*adapter).setExpression, session: true, live: true},
		"readMemory":                {handle: (*adapter).readMemory, session: true, live: true},
		"writeMemory":               {handle: (*adapter).writeMemory, session: true, live: true},
		"disassemble":               {handle: (*adapter).disassemble, session: true, live: true},
		"modules":                   {handle: (*adapter).modules, session: true, live: true},
		"source":                    {handle: (*adapter).source, session: true, live: true},
		"completions":               {handle: (*adapter).completions, session: true},
		"restart":                   {handle: (*adapter).restart, session: true, live: true},
		"exceptionInfo":             {handle: (*adapter).exceptionInfo, session: true},
		"terminateThreads":          {handle: (*adapter).terminateThreads, session: true, live: true},
		"breakpointLocations":       {handle: (*adapter).breakpointLocations, session: true, live: true},
		"gotoTargets":               {handle: (*adapter).gotoTargets, session: true, live: true},
		"goto":                      {handle: (*adapter).goTo, session: true, live: true},
		"sdm/states":                {handle: (*adapter).sdmStates, session: true},
		"sdm/focus":                 {handle: (*adapter).sdmFocus, session: true},
		"sdm/stackTree":             {handle: (*adapter).sdmStackTree, session: true},
		"sdm/waits":                 {handle: (*adapter).sdmWaits, session: true},
		"sdm/stat":                  {handle: (*adapter).sdmStat, session: true, live: true},
		"sdm/pin":                   {handle: (*adapter).sdmPin, session: true, live: true},
		"cancel":                    {handle: (*adapter).cancel},
	}
}

// initialize answers with what sdm can do.
func (a *adapter) initialize(_ time.Time, r *request) error {
	if a.phase != fresh {
		return errors.New("initialize was answered already")
	}
	a.client.LinesStartAt1, a.client.ColumnsStartAt1 = true, true
	if err := r.read(&a.client); err != nil {
		return err
	}
	if format := a.client.PathFormat; format != "" && format != "path" {
		return fmt.Errorf("initialize: sdm takes paths, not %q", clip(format))
	}
	a.phase = introduced
	r.answer(capabilities)
	return nil
}

// capabilities is what sdm can do.
var capabilities = godap.Capabilities{
	SupportsConfigurationDoneRequest:      true,
	SupportsFunctionBreakpoints:           true,
	SupportsConditionalBreakpoints:        true,
	SupportsHitConditionalBreakpoints:     true,
	SupportsLogPoints:                     true,
	SupportsEvaluateForHovers:             true,
	SupportsDelayedStackTraceLoading:      true,
	SupportsTerminateRequest:              true,
	SupportTerminateDebuggee:              true,
	SupportSuspendDebuggee:                true,
	SupportsSteppingGranularity:           true,
	SupportsSingleThreadExecutionRequests: true,
	SupportsDataBreakpoints:               true,
	SupportsInstructionBreakpoints:        true,
	SupportsSetVariable:                   true,
	SupportsSetExpression:                 true,
	SupportsReadMemoryRequest:             true,
	SupportsWriteMemoryRequest:            true,
	SupportsDisassembleRequest:            true,
	SupportsModulesRequest:                true,
	SupportsCompletionsRequest:            true,
	CompletionTriggerCharacters:           []string{"@"},
	SupportsRestartRequest:                true,
	SupportsExceptionInfoRequest:          true,
	SupportsTerminateThreadsRequest:       true,
	SupportsCancelRequest:                 true,
	SupportsGotoTargetsRequest:            true,
	SupportsBreakpointLocationsRequest:    true,
	ExceptionBreakpointFilters: []godap.ExceptionBreakpointsFilter{
		{Filter: "throw", Label: "C++: thrown", SupportsCondition: true},
		{Filter: "rethrow", Label: "C++: thrown again", SupportsCondition: true},
		{Filter: "catch", Label: "C++: caught", SupportsCondition: true},
	},
	SupportsExceptionFilterOptions: true,
}

// launch and attach differ in what must be there only.
func (a *adapter) launch(_ time.Time, r *request) error { return a.opened(r, false) }
func (a *adapter) attach(_ time.Time, r *request) error { return a.opened(r, true) }

// opened begins the session.
func (a *adapter) opened(r *request, attach bool) error {
	if a.phase != introduced {
		return fmt.Errorf("%s: a session was begun already", r.command)
	}
	var args startArguments
	if err := r.read(&args); err != nil {
		return err
	}
	s, err := args.start(attach)
	if err != nil {
		return fmt.Errorf("%s: %w", r.command, err)
	}
	a.phase, a.start, a.opening = starting, s, r
	a.startBegins()
	a.begin(s)
	return nil
}

// configured begins to debug: the breakpoints of the client are set.
func (a *adapter) configured(_ time.Time, r *request) error {
	if a.phase != configured {
		return errors.New("configurationDone was answered already")
	}
	a.phase = debugging
	r.answer(nil)
	standing := a.states.In(session.Stopped)
	if a.start.runs() && !standing.IsEmpty() {
		a.stops = stops{moving: standing}
		return a.call(session.Call{Command: "continue", Ranks: standing.String()}, func(x *call) {
			if bad := x.failure(); bad != nil {
				a.stops.moving = a.stops.moving.Intersect(x.results())
				a.say("important", "continue: "+bad.Error())
			}
		})
	}
	if a.target.Past {
		a.showPast()
		return nil
	}
	a.stops.entry, a.stops.resumed = true, true
	a.stops.ranks = standing
	a.tell()
	return nil
}

// disconnect ends the session if this client has begun it, and leaves it otherwise, unless the client says what it
// wants. It is answered at once: editors kill the adapter after two seconds.
func (a *adapter) disconnect(_ time.Time, r *request) error {
	var args disconnectArguments
	if err := r.read(&args); err != nil {
		return err
	}
	end := quits
	switch {
	case args.SuspendDebuggee, args.TerminateDebuggee != nil && !*args.TerminateDebuggee:
		end = leaves
	case args.TerminateDebuggee == nil && a.target != nil && a.target.Joined:
		end = leaves
	}
	if args.SuspendDebuggee && a.target != nil && a.phase != parted {
		running := a.states.In(session.Running)
		if !running.IsEmpty() {
			return a.call(session.Call{Command: "interrupt", Ranks: running.String()}, func(*call) {
				r.answer(nil)
				a.part(leaves)
			})
		}
	}
	if end == quits {
		a.quit()
	}
	r.answer(nil)
	if a.phase == parted {
		a.done(nothing)
	}
	a.part(end)
	return nil
}

// quit asks the session to end. It is on its way before the client is answered, which may then kill the adapter. While
// others are there a session refuses the first time.
func (a *adapter) quit() {
	if a.target == nil || a.phase == parted {
		return
	}
	ask := func() error { return a.call(session.Call{Command: "quit"}, func(*call) {}) }
	if ask() != nil {
		_ = ask() // a session that has ended needs none
	}
}

// terminate ends the job; disconnect follows.
func (a *adapter) terminate(_ time.Time, r *request) error {
	r.answer(nil)
	if a.target == nil || a.phase == parted {
		return nil
	}
	alive := a.all.Minus(a.states.Ended()).Minus(a.states.In(session.Unstarted))
	if alive.IsEmpty() || a.target.Past || a.pinned { // a view of some ranks goes, and they stay
		a.terminated()
		return nil
	}
	return a.call(session.Call{Command: cmp.Or(a.start.ending(), "kill"), Ranks: alive.String()}, func(x *call) {
		if bad := x.failure(); bad != nil {
			a.say("important", "terminate: "+bad.Error())
		}
		a.terminated()
	})
}

// threads lists the groups of ranks.
func (a *adapter) threads(_ time.Time, r *request) error {
	a.refresh()
	list := make([]godap.Thread, 0, len(a.groups.listed))
	for _, g := range a.groups.listed {
		list = append(list, godap.Thread{Id: g.id, Name: g.name()})
	}
	r.answer(godap.ThreadsResponseBody{Threads: list})
	return nil
}

// commanded tells the client what another front end has done.
func (a *adapter) commanded(e session.Event) {
	if a.isOwn(e) {
		return
	}
	a.event("sdm/command", json.RawMessage(e.Group.Body))
	a.frontChanged(e)
}

// frontChanged tells the user that another front end has come or gone, or what it does.
func (a *adapter) frontChanged(e session.Event) {
	if line := a.writer.Event(e); line != "" && !a.isOwn(e) {
		a.say("console", trim(line))
	}
}

// isOwn reports whether an event is about this front end.
func (a *adapter) isOwn(e session.Event) bool {
	var c struct {
		Front int `json:"front"`
	}
	return json.Unmarshal(e.Group.Body, &c) == nil && c.Front == a.front()
}

// front is the number of this front end in a session of several; 0: it is in none.
func (a *adapter) front() int {
	if s, ok := a.target.Session.(session.Shared); ok {
		return s.Welcome().Front.Number
	}
	return 0
}
