// Replay of commands that were given before: to a rank that did not exist yet, or to a
// gdb that has died.

package debugger

import (
	"encoding/json"
	"fmt"
	"slices"

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
		q := &Request{Command: &Command{Name: c.Name, args: c.Args}, began: m.now, again: true}
		q.into = func(g protocol.Group) {
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

func (m *Machine) notAgain(q *Request, g protocol.Group) {
	f := faultIn(g)
	if f == nil {
		return
	}
	text := q.what()
	switch {
	case q.Name == "watch":
		text = fmt.Sprintf("watchpoint %d (%s)", q.args.Breakpoint, q.args.Expr)
	case q.args.Breakpoint != 0:
		text = fmt.Sprintf("breakpoint %d (%s)", q.args.Breakpoint, text)
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
