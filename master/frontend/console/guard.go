// Recovery from panics, which cost only what was being written.

package console

import (
	"sdm/master/session"
	"sdm/protocol"
)

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

// takeGuarded processes an event of the session. A call whose done causes a panic is complete
// nevertheless.
func (c *console) takeGuarded(e session.Event) {
	x := c.calls[e.ID]
	if !c.guard(e.Command, func() { c.take(e) }) && x != nil && e.Done != nil {
		x.done = true
		c.retire(x)
	}
}
