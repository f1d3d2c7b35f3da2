// Pending breakpoints, whose location no library contains yet.

package console

import (
	"encoding/json"

	"sdm/master/session"
	"sdm/protocol"
)

// pendingQuestion is GDB's.
const pendingQuestion = "Make breakpoint pending on future shared library load?"

// makePending makes a breakpoint pending if no rank has its location: at the prompt it asks the
// user, in a script it does so at once. If some rank has the location, nothing more is done.
func (c *console) makePending(x *call, s session.Call) {
	x.undecided = false
	if !x.results.IsEmpty() || !isLater(x.groups) {
		c.judgeCall(x)
		return
	}
	again := func() {
		s.Args.Pending = true
		y := &call{asked: x.asked, cmd: x.cmd, from: x.from}
		if err := c.beginAwaited(y, s); err != nil {
			c.mistake(x.from.at(err))
		}
	}
	if !x.from.prompt {
		again()
		return
	}
	c.question = &question{text: pendingQuestion, choices: "y or [n]", yes: again}
}

// isLater reports whether all ranks that refused may have the location later.
func isLater(groups []protocol.Group) bool {
	for _, g := range groups {
		var f protocol.Fault
		if g.Kind != protocol.KindFault || json.Unmarshal(g.Body, &f) != nil || !f.Later {
			return false
		}
	}
	return len(groups) > 0
}
