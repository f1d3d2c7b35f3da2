// Requests that resume ranks, or stop them.

package dap

import (
	"errors"
	"time"

	godap "github.com/google/go-dap"

	"sdm/master/session"
	"sdm/protocol/rank"
)

// resumeAll continues the ranks of the focus, or of the thread if that is all that the client wants.
func (a *adapter) resumeAll(_ time.Time, r *request) error {
	var args godap.ContinueArguments
	if err := r.read(&args); err != nil {
		return err
	}
	standing := a.states.In(session.Stopped)
	ranks := standing.Intersect(a.focus)
	if args.SingleThread || ranks.IsEmpty() {
		g, err := a.standingGroup(args.ThreadId)
		if err != nil {
			return err
		}
		ranks = g.ranks.Intersect(standing)
	}
	return a.resume(r, "continue", ranks, func() {
		r.answer(godap.ContinueResponseBody{AllThreadsContinued: standing.Minus(ranks).IsEmpty()})
	})
}

// stepArguments are those of next, stepIn and stepOut.
type stepArguments struct {
	ThreadId    int    `json:"threadId"`
	Granularity string `json:"granularity"`
}

// step makes the handler of a step of one group.
func step(line, instruction string) handler {
	return func(a *adapter, _ time.Time, r *request) error {
		var args stepArguments
		if err := r.read(&args); err != nil {
			return err
		}
		g, err := a.standingGroup(args.ThreadId)
		if err != nil {
			return err
		}
		command := line
		if args.Granularity == "instruction" {
			command = instruction
		}
		return a.resume(r, command, g.ranks, func() { r.answer(nil) })
	}
}

// resume resumes ranks; then is called when they run.
func (a *adapter) resume(r *request, command string, ranks rank.Set, then func()) error {
	a.stops.moving = a.stops.moving.Union(ranks)
	restore := func(x *call) { a.stops.moving = a.stops.moving.Minus(ranks.Minus(x.results())) }
	err := a.call(session.Call{Command: command, Ranks: ranks.String()}, func(x *call) {
		restore(x)
		bad := x.failure()
		switch {
		case x.results().IsEmpty():
			r.fail(bad)
			return
		case bad != nil:
			a.say("important", command+": "+bad.Error())
		}
		then()
	})
	if err != nil {
		a.stops.moving = a.stops.moving.Minus(ranks)
	}
	return err
}

// pause stops the ranks of the focus that run.
func (a *adapter) pause(_ time.Time, r *request) error {
	running := a.states.In(session.Running, session.Watched)
	ranks := running.Intersect(a.focus)
	if ranks.IsEmpty() {
		ranks = running
	}
	if ranks.IsEmpty() {
		return errors.New("no rank runs")
	}
	return a.ask(r, session.Call{Command: "interrupt", Ranks: ranks.String()}, func(*call) { r.answer(nil) })
}

// standingGroup returns a group that stands.
func (a *adapter) standingGroup(id int) (*group, error) {
	a.refresh()
	g, err := a.groups.find(id)
	if err == nil && g.place.state == session.Running {
		return nil, errors.New(g.name() + ": pause stops them")
	}
	return g, err
}
