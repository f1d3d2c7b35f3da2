// A panic costs what was to be written, and not the session.

package console

import (
	"sdm/master/session"
	"sdm/protocol"
)

// defect logs a panic, and gives the line that a person sees of it.
func (c *console) defect(bad *protocol.Fault, stack []byte) string {
	if c.cfg.Log != nil {
		c.cfg.Log.Error(bad.Message+": "+protocol.Report, "command", bad.Op, "stack", string(stack))
	}
	return "sdm: " + bad.Error()
}

// text gives what do makes of an answer or an event. Should that panic, a line that says so stands in its place.
func (c *console) text(op string, do func() string) (s string) {
	if bad, stack := protocol.Guard(op, func() { s = do() }); bad != nil {
		return c.defect(bad, stack) + "\n"
	}
	return s
}

// guard does one thing of the loop. Should that panic, the person is told, and the loop goes on.
func (c *console) guard(op string, do func()) (well bool) {
	bad, stack := protocol.Guard(op, do)
	if bad == nil {
		return true
	}
	line := c.defect(bad, stack)
	protocol.Guard(op, func() { c.complain(line) })
	return false
}

// taken takes in what the session says. A call whose end could not be dealt with is over all the same.
func (c *console) taken(e session.Event) {
	x := c.calls[e.ID]
	if !c.guard(e.Command, func() { c.take(e) }) && x != nil && e.Done != nil {
		x.done = true
		c.retire(x)
	}
}
