// What ranks do, as events of DAP.

package dap

import (
	"encoding/json"
	"strings"
	"time"

	godap "github.com/google/go-dap"

	"sdm/master/session"
	"sdm/master/text"
	"sdm/protocol"
	"sdm/protocol/rank"
	"sdm/tree/aggregate"
)

// stops are what has happened since the client was told last.
type stops struct {
	due     time.Time         // when the client is told; zero: there is nothing
	ranks   rank.Set          // that have stopped
	groups  aggregate.Pending // stops and ends; equal ones are joined
	moving  rank.Set          // that this client has resumed, until a stop of some of them was told
	own     rank.Set          // those of ranks that this client has resumed
	resumed bool              // ranks run that did not
	entry   bool              // the next stop is that of the start: the client waits for it
}

// happened processes an event that answers no call.
func (a *adapter) happened(now time.Time, e session.Event) {
	g := e.Group
	switch {
	case g.Kind == protocol.KindStopped || g.Kind == protocol.KindWatched:
		a.awaited = a.awaited.Minus(g.Ranks)
		a.stopped(now, g)
		a.someStand()
		a.settle()
	case g.Kind == protocol.KindRunning:
		a.handles.forget(g.Ranks)
		a.stops.ranks = a.stops.ranks.Minus(g.Ranks)
		a.stops.resumed = true
		wait := foldWait
		if g.Ranks.Minus(a.stops.moving).IsEmpty() {
			wait = stepWait
		}
		a.hold(now, wait)
	case g.Kind.IsEnd():
		a.awaited = a.awaited.Minus(g.Ranks)
		a.rankEnded(now, e)
		a.settle()
	case g.Kind.IsOutput():
		a.output(e)
	case g.Kind == protocol.KindLogged:
		a.logged(e)
	case g.Kind == protocol.KindLoading:
		a.loading(g)
	case g.Kind == protocol.KindJob:
		a.job(e)
	case g.Kind == protocol.KindFront:
		a.frontChanged(e)
	case g.Kind == protocol.KindCommand:
		a.commanded(e)
	case g.Kind == protocol.KindPoints:
		a.pointsChanged(e)
	default:
		if line := a.writer.Event(e); line != "" {
			a.say("console", trim(line))
		}
	}
}

// hold makes the client be told within a wait.
func (a *adapter) hold(now time.Time, wait time.Duration) {
	if due := now.Add(wait); a.stops.due.IsZero() || due.Before(a.stops.due) {
		a.stops.due = due
	}
}

// stopped takes a stop, which waits for those of other ranks while some still run.
func (a *adapter) stopped(now time.Time, g protocol.Group) {
	a.handles.forget(g.Ranks)
	s := &a.stops
	s.ranks = s.ranks.Union(g.Ranks)
	s.groups.Add(g)
	moved := s.moving.Intersects(g.Ranks)
	s.own = s.own.Union(s.moving.Intersect(g.Ranks))
	s.moving = s.moving.Minus(g.Ranks)
	a.hold(now, foldWait)
	if a.states.NoneRuns(a.focus) || moved && s.moving.IsEmpty() {
		a.tell()
	}
}

// rankEnded takes the end of ranks.
func (a *adapter) rankEnded(now time.Time, e session.Event) {
	a.handles.forget(e.Group.Ranks)
	a.loaded(e.Group.Ranks)
	a.stops.moving = a.stops.moving.Minus(e.Group.Ranks)
	a.stops.ranks = a.stops.ranks.Minus(e.Group.Ranks)
	var x protocol.Exit
	knows := e.Group.Kind == protocol.KindExited || e.Group.Kind == protocol.KindSignalled
	if knows && json.Unmarshal(e.Group.Body, &x) == nil {
		status := x.Code
		if x.Signal != "" {
			status = max(status, 1)
		}
		if a.status == nil || *a.status < status {
			a.status = &status
		}
	}
	a.stops.groups.Add(e.Group)
	a.hold(now, foldWait)
	if a.states.NoneRuns(a.focus) {
		a.tell()
	}
}

// job takes the state of the job as a whole.
func (a *adapter) job(e session.Event) {
	var j protocol.JobState
	if json.Unmarshal(e.Group.Body, &j) == nil && j.State == "ended" && j.Status != nil {
		a.status = j.Status
	}
	if line := a.writer.Event(e); line != "" {
		a.told(trim(line))
		a.say("console", trim(line))
	}
}

// expired is called when the time is over for which stops are awaited.
func (a *adapter) expired(now time.Time) {
	if due := a.stops.due; !due.IsZero() && !now.Before(due) {
		a.tell()
	}
}

// tell tells the client what has happened. Until it has set its breakpoints it is told nothing.
func (a *adapter) tell() {
	s := &a.stops
	if a.phase != debugging {
		s.due = time.Time{}
		return
	}
	told := *s
	*s = stops{moving: told.moving, entry: told.entry}
	standing := told.own.IsEmpty() && a.stands(told.ranks)
	groups := told.groups.Take()
	for _, g := range groups {
		if g.Kind.IsEnd() {
			a.say("important", trim(a.writer.Event(session.NewEvent(g))))
		}
	}
	a.groups.update(a.states, told.ranks)
	came, gone := a.groups.news()
	for _, id := range gone {
		a.event("thread", godap.ThreadEventBody{Reason: "exited", ThreadId: id})
	}
	for _, id := range came {
		a.event("thread", godap.ThreadEventBody{Reason: "started", ThreadId: id})
	}
	if g := a.greatest(told.ranks, told.own); g != nil {
		a.tellStop(g, groups, told.entry, standing)
	} else if run := a.groups.running(); run != nil && told.resumed {
		a.tellRunning(run)
	}
	if a.states.Only(session.Exited, session.Signalled, session.Detached, session.Lost) && !a.all.IsEmpty() {
		a.terminated()
		if !a.target.Joined { // there is nothing to come back to; it is refused if others are there
			_ = a.call(session.Call{Command: "quit"}, func(*call) {})
		}
	}
}

// stands reports whether ranks other than some stand, of which the client knows.
func (a *adapter) stands(but rank.Set) bool {
	standing := a.states.In(session.Stopped).Minus(but)
	for _, g := range a.groups.listed {
		if g.place.state == session.Stopped && g.ranks.Intersects(standing) {
			return true
		}
	}
	return false
}

// greatest returns the greatest group with some of the ranks, of those that this client has resumed and
// of the focus if there are such.
func (a *adapter) greatest(some, own rank.Set) *group {
	if own = own.Intersect(some); !own.IsEmpty() {
		some = own
	}
	if in := some.Intersect(a.focus); !in.IsEmpty() {
		some = in
	}
	var found *group
	most := 0
	for _, g := range a.groups.listed {
		n := g.ranks.Intersect(some).Len()
		if g.place.state == session.Stopped && n > most {
			found, most = g, n
		}
	}
	return found
}

// tellStop tells of a stop. If others stand already, the user may look at one of them, and some clients continue the
// second thread that stops unless its reason is a pause.
func (a *adapter) tellStop(g *group, groups []protocol.Group, entry, standing bool) {
	body := godap.StoppedEventBody{ThreadId: g.id, AllThreadsStopped: true}
	var said []string
	for _, x := range groups {
		if x.Kind != protocol.KindStopped || !x.Ranks.Intersects(g.ranks) {
			continue
		}
		var stop protocol.Stop
		if json.Unmarshal(x.Body, &stop) != nil {
			continue
		}
		if body.Reason == "" {
			body.Reason = a.reason(stop)
		}
		if stop.Breakpoint > 0 && !a.gotos.arrivals[stop.Breakpoint] {
			body.HitBreakpointIds = append(body.HitBreakpointIds, stop.Breakpoint)
		}
		first, _, _ := strings.Cut(a.writer.Event(session.NewEvent(x)), "\n")
		said = append(said, first)
		if stop.Signal != "" {
			body.Text = trim(text.Clean(stop.Signal + " " + stop.Meaning))
		}
	}
	if len(said) > 0 {
		body.Description = said[0]
	}
	if entry {
		body.Reason = "entry"
	}
	run := a.groups.running()
	switch {
	case !standing:
	case a.client.SupportsInvalidatedEvent:
		body.PreserveFocusHint = true
	default:
		body.Reason, body.AllThreadsStopped = "pause", false
		run = nil
	}
	a.stops.entry, a.stops.moving = false, rank.Set{} // what stops from now on is news of others
	a.event("stopped", body)
	if run != nil {
		a.event("continued", continuedBody{ThreadId: run.id})
	}
}

// tellRunning tells that ranks run which this client has not resumed, or that run for longer than a step takes.
func (a *adapter) tellRunning(run *group) {
	a.event("continued", continuedBody{ThreadId: run.id, AllThreadsContinued: a.states.In(session.Stopped).IsEmpty()})
}

// reason is DAP's word for the reason of a stop.
func (a *adapter) reason(s protocol.Stop) string {
	switch s.Reason {
	case "breakpoint-hit":
		if a.gotos.arrivals[s.Breakpoint] {
			return "goto"
		}
		return a.points.reason(s.Breakpoint)
	case "watchpoint-trigger", "read-watchpoint-trigger", "access-watchpoint-trigger", protocol.WatchpointScope:
		return "data breakpoint"
	case "end-stepping-range", "function-finished", "location-reached":
		return "step"
	case "signal-received", "mpi-abort", "core":
		return "exception"
	case "interrupted", "attached":
		return "pause"
	case "entry", "":
		return "entry"
	}
	return text.Clean(s.Reason)
}

// output passes on what ranks write.
func (a *adapter) output(e session.Event) {
	category := "stdout"
	if e.Group.Kind == protocol.KindStderr {
		category = "stderr"
	}
	a.say(category, trim(a.writer.Event(e)))
}

// trim returns a text without the end of its last line.
func trim(s string) string { return strings.TrimRight(s, "\n ") }
