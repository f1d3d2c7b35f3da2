// Replay of commands that were given before: to a rank that did not exist yet, or to a
// gdb that has died.

package debugger

import (
	"encoding/json"
	"fmt"
	"slices"

	"sdm/backend/gdb/request"
	"sdm/protocol"
)

// replay executes commands one after another, since one may refer to the breakpoint of
// an earlier one, and then calls then. Failures are reported.
func (att *attachment) replay(list []protocol.Command, then func()) {
	for len(list) > 0 {
		c := list[0]
		list = list[1:]
		row, ok := lookup(c.Name)
		if !ok {
			continue
		}
		q := &request.Request{Command: &request.Command{Name: c.Name, Args: c.Args}, Began: att.now, Replayed: true}
		q.Into = func(g protocol.Group) {
			if g.Kind == protocol.KindFault {
				att.notAgain(q, g)
			}
			if !att.State.IsOver() {
				att.replay(list, then)
			}
		}
		row.do(att.Machine, q)
		return
	}
	then()
}

// faultIn returns the fault that an answer is, or nil.
func faultIn(g protocol.Group) *protocol.Fault {
	var f protocol.Fault
	if g.Kind != protocol.KindFault || json.Unmarshal(g.Body, &f) != nil {
		return nil
	}
	return &f
}

func (att *attachment) notAgain(q *request.Request, g protocol.Group) {
	f := faultIn(g)
	if f == nil {
		return
	}
	text := q.What()
	switch {
	case q.Name == "watch":
		text = fmt.Sprintf("watchpoint %d (%s)", q.Args.Breakpoint, q.Args.Expr)
	case q.Args.Breakpoint != 0:
		text = fmt.Sprintf("breakpoint %d (%s)", q.Args.Breakpoint, text)
	}
	att.Event(protocol.KindNote, protocol.Note{Text: text + " could not be set again: " + f.Message})
}

// before returns the commands for a rank that starts. At its first instruction no
// libraries are loaded, so breakpoints become pending.
func (att *attachment) before() []protocol.Command {
	all := slices.Clone(att.Target.Before)
	for i := range all {
		if info, _ := protocol.LookupCommand(all[i].Name); att.Target.Held && info.MakesPoint() && info.Takes("location") {
			all[i].Args.Pending = true
		}
	}
	return all
}
