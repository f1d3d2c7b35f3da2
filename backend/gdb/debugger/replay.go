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
func (m *Machine) replay(list []protocol.Command, then func()) {
	for len(list) > 0 {
		c := list[0]
		list = list[1:]
		row, ok := lookup(c.Name)
		if !ok {
			continue
		}
		q := &request.Request{Command: &request.Command{Name: c.Name, Args: c.Args}, Began: m.now, Again: true}
		q.Into = func(g protocol.Group) {
			if g.Kind == protocol.KindFault {
				m.notAgain(q, g)
			}
			if !m.State.IsOver() {
				m.replay(list, then)
			}
		}
		row.do(m, q)
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

func (m *Machine) notAgain(q *request.Request, g protocol.Group) {
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
	m.Event(protocol.KindNote, protocol.Note{Text: text + " could not be set again: " + f.Message})
}

// before returns the commands for a rank that starts. At its first instruction no
// libraries are loaded, so breakpoints become pending.
func (m *Machine) before() []protocol.Command {
	all := slices.Clone(m.Target.Before)
	for i := range all {
		if info, _ := protocol.LookupCommand(all[i].Name); m.Target.Held && info.MakesPoint() && info.Takes("location") {
			all[i].Args.Pending = true
		}
	}
	return all
}
