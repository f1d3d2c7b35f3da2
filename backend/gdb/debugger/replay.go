// Replay of commands that were given before: to a rank that did not exist yet, or to a
// gdb that has died.

package debugger

import (
	"fmt"

	"sdm/backend/gdb/request"
	"sdm/protocol"
)

// replay executes commands one after another, since one may refer to the breakpoint of
// an earlier one, and then calls then. Failures are reported.
func (cm *commands) replay(list []protocol.Command, then func()) {
	for len(list) > 0 {
		c := list[0]
		list = list[1:]
		row, ok := lookup(c.Name)
		if !ok {
			continue
		}
		q := &request.Request{Command: &request.Command{Name: c.Name, Args: c.Args}, Began: cm.now, Replayed: true}
		q.Into = func(g protocol.Group) {
			if g.Kind == protocol.KindFault {
				cm.notAgain(q, g)
			}
			if !cm.State.IsOver() {
				cm.replay(list, then)
			}
		}
		row.do(cm, q)
		return
	}
	then()
}

func (cm *commands) notAgain(q *request.Request, g protocol.Group) {
	f := request.FaultIn(g)
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
	cm.Event(protocol.KindNote, protocol.Note{Text: text + " could not be set again: " + f.Message})
}
