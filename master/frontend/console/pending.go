// Breakpoints at places that no library has yet.

package console

import (
	"encoding/json"
	"strings"

	"sdm/master/session"
	"sdm/protocol"
)

// question is one that the next line answers: y, or n, which an empty line is.
type question struct {
	text string
	yes  func()
}

// pendingQuestion is GDB's.
const pendingQuestion = "Make breakpoint pending on future shared library load? (y or [n]) "

// makePending offers a breakpoint at a place that no rank has: at the prompt a person
// is asked, in a script it is set to wait for a library. Where some rank has the
// place, it is set there.
func (c *console) makePending(x *call, s session.Call) {
	x.perhaps = false
	if !x.results.IsEmpty() || !isLater(x.groups) {
		c.judgeCall(x)
		return
	}
	again := func() {
		s.Args.Pending = true
		y := &call{asked: x.asked, cmd: x.cmd, from: x.from}
		if err := c.begin(y, s); err != nil {
			c.mistake(x.from.at(err))
			return
		}
		c.await = await{call: y}
	}
	if !x.from.prompt {
		again()
		return
	}
	c.question = &question{pendingQuestion, again}
}

// isLater tells whether all ranks that refused may have the place later.
func isLater(groups []protocol.Group) bool {
	for _, g := range groups {
		var f protocol.Fault
		if g.Kind != protocol.KindFault || json.Unmarshal(g.Body, &f) != nil || !f.Later {
			return false
		}
	}
	return len(groups) > 0
}

// answered takes the answer to the question.
func (c *console) answered(line string) {
	switch text := strings.ToLower(strings.TrimSpace(line)); {
	case text == "" || strings.HasPrefix("no", text):
		c.question = nil
	case strings.HasPrefix("yes", text):
		yes := c.question.yes
		c.question = nil
		yes()
	default:
		c.say("Please answer y or [n].")
	}
}
