// The state of a rank, its run and its selection. Only this file writes them.

package debugger

import (
	"fmt"
	"sdm/backend"
	"sdm/backend/gdb/breakpoint"
	"sdm/backend/gdb/request"
	"sdm/protocol"
	"sdm/protocol/canonical"
	"sdm/protocol/column"
	"sdm/protocol/rank"
)

// StateNow returns the state that a new command finds: also running while gdb has been
// told to resume and has not confirmed it.
func (c *core) StateNow() backend.State {
	if c.State == backend.Stopped && c.run != nil {
		return backend.Running
	}
	return c.State
}

// selectThread selects the thread that a command names.
func (c *core) selectThread(thread int) {
	if thread != c.chosen.Thread {
		c.chosen = request.Selection{Thread: thread}
	}
}

// choose selects a thread and frame.
func (c *core) choose(s request.Selection) { c.chosen = s }

// begins records that gdb has been told to resume the rank.
func (c *core) begins(r *run) { c.run = r }

// runOver records that a run is over: all threads have stopped, or gdb has refused it.
func (c *core) runOver(r *run) {
	if c.run == r {
		c.run = nil
	}
}

// runsOn records that a rank runs that to the user has not stopped.
func (c *core) runsOn() { c.State = backend.Running }

// standsStill records that a rank has stopped for a moment that the user is not told of: it is resumed at once, or it
// was stopped before.
func (c *core) standsStill() { c.State = backend.Stopped }

// awaitsGDB records that another gdb has to take the rank over.
func (c *core) awaitsGDB() { c.State = backend.Attaching }

// over records that the rank has ended.
func (c *core) over() {
	c.run, c.attaching, c.moving = nil, nil, nil
	c.enter(ended)
}

// succeeds takes the state that another core of the rank has reported.
func (c *core) succeeds(o *core) { c.State, c.Child = o.State, o.Child }

// finished reports whether the rank does not need its gdb any more.
func (c *core) finished() bool { return c.State.IsOver() || c.phase == failed }

// startsOver forgets what the last gdb has said of the rank.
func (c *core) startsOver() {
	c.threads, c.counted, c.points, c.handled, c.named = nil, 0, breakpoint.Table{}, nil, false
	c.run, c.journal.commands = nil, nil
	c.fate, c.killAt = alive, 0
	if !c.isTakenOver() {
		c.enter(attaching)
	}
	c.choose(request.Selection{Thread: 1})
}

// Event reports an event, unless it is impossible in the present state; then it returns
// false.
func (c *core) Event(kind protocol.Kind, body any, columns ...column.Column) bool {
	if !kind.IsInformational() {
		next, ok := c.State.After(kind)
		if !ok {
			return false
		}
		c.State = next
	}
	c.Out.Messages = append(c.Out.Messages, Message{0, protocol.Group{
		Kind: kind, Ranks: rank.Of(c.Target.Rank), Body: canonical.JSON(body), Columns: columns,
	}})
	return true
}

// note sends a note to the user.
func (c *core) note(format string, args ...any) {
	c.Event(protocol.KindNote, protocol.Note{Text: fmt.Sprintf(format, args...)})
}

// wish is a request that a gdb with several ranks cannot confine to this one.
type wish struct {
	request *request.Request
	why     string // for messages
	allStop bool   // the gdb is to use all-stop mode
}

// needsOwnGDB has the rank get a gdb of its own, which executes the request.
func (c *core) needsOwnGDB(q *request.Request, why string) {
	c.wishes = append(c.wishes, wish{request: q, why: why})
}

// needsAllStop is needsOwnGDB for a gdb that uses all-stop mode.
func (c *core) needsAllStop(q *request.Request, why string) {
	c.wishes = append(c.wishes, wish{request: q, why: why, allStop: true})
}
