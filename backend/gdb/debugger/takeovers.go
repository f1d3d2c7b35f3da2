// Whether another gdb may take a rank over.

package debugger

import (
	"cmp"
	"fmt"
	"time"
)

// takeovers counts the gdbs of a rank.
type takeovers struct {
	count int   // number of gdbs that this rank has lost
	bound bound // deadline for all gdbs that try to take over
}

// maxRecoveries bounds the gdbs that a rank may use up: the program may make each gdb
// crash.
const maxRecoveries = 3

// recoveryWait is how long new gdbs may take to take over a rank, if no limit is given.
const recoveryWait = time.Minute

// mayBeTakenOver reports whether another gdb may take over the rank.
func (c *core) mayBeTakenOver() bool {
	late := c.isTakenOver() && c.now >= c.takeovers.bound.until
	return !c.State.IsOver() && c.fate == alive && !c.isLeaving() && c.takeovers.count < maxRecoveries && !late
}

// beginTakeover starts the deadline for the gdbs that try to take over.
func (c *core) beginTakeover() {
	c.enter(takingOver)
	c.takeovers.bound = LimitOf(c.now, cmp.Or(c.GDB.Bound.wait, recoveryWait))
}

// notTaken describes a gdb that does not get a rank under control.
func (c *core) notTaken() string {
	text := fmt.Sprintf("has not taken control of process %d in %s", c.Target.PID, rounded(c.GDB.Bound.since(c.now)))
	if k := c.GDB.Calls.current(); k != nil {
		text += ": it is at " + k.what()
	}
	return text
}
