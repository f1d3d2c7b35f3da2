// Recovery from panics, which cost only what was being written.

package console

import (
	"sdm/master/session"
	"sdm/protocol"
)

// defect logs a panic and returns the message for the user.
func (c *console) defect(bad *protocol.Fault, stack []byte) string {
	if c.cfg.Log != nil {
		c.cfg.Log.Error(bad.Message+": "+protocol.Report, "command", bad.Op, "stack", string(stack))
	}
	return "sdm: " + bad.Error()
}

// text returns the result of do, or the message of a panic in it.
func (c *console) text(op string, do func() string) (s string) {
	if bad, stack := protocol.Guard(op, func() { s = do() }); bad != nil {
		return c.defect(bad, stack) + "\n"
	}
	return s
}

// guard executes one step of the loop. If it panics, the user is told, and the loop continues.
func (c *console) guard(op string, do func()) (well bool) {
	bad, stack := protocol.Guard(op, do)
	if bad == nil {
		return true
	}
	line := c.defect(bad, stack)
	protocol.Guard(op, func() { c.complain(line) })
	return false
}

// taken processes an event of the session. A call whose done causes a panic is complete
// nevertheless.
func (c *console) taken(e session.Event) {
	x := c.calls[e.ID]
	if !c.guard(e.Command, func() { c.take(e) }) && x != nil && e.Done != nil {
		x.done = true
		c.retire(x)
	}
}
