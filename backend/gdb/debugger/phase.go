// The phase of a rank: what goes on between it and its gdb. What the user knows of it is its State.

package debugger

import "slices"

// phase is what goes on between a rank and its gdb. A target may die in each of them, see fate.
type phase uint8

const (
	attaching    phase = iota // gdb is to bring the target under control
	closing                   // the same, and the session ends as soon as gdb has done so
	held                      // gdb has the target, which is stopped or runs
	handingOver               // the old gdb tells what only it knows, and detaches
	takingOver                // another gdb is to bring the target under control, and executes the journal
	leaving                   // gdb has been told to detach
	leavingByEnd              // gdb is ended, so that the kernel detaches
	failed                    // gdb could not bring the target under control
	ended                     // the rank has ended, for good
)

// phaseNames are the texts of String.
var phaseNames = [...]string{"attaching", "closing", "held", "handing over", "taking over", "leaving", "leaving by the end of gdb", "failed", "ended"}

// String returns the name of the phase.
func (p phase) String() string { return phaseNames[p] }

// mayFollow is what may follow each phase; the picture is in the package comment.
var mayFollow = [...][]phase{
	attaching:    {closing, held, leaving, failed, ended},
	closing:      {leaving, failed, ended},
	held:         {attaching, handingOver, takingOver, leaving, failed, ended},
	handingOver:  {held, takingOver, leaving, ended},
	takingOver:   {held, closing, leaving, ended},
	leaving:      {closing, held, handingOver, takingOver, leavingByEnd, failed, ended},
	leavingByEnd: {ended},
	failed:       {ended},
	ended:        nil,
}

// enter records that a phase begins, unless it is impossible now; then it returns false.
func (c *core) enter(p phase) bool {
	if p != c.phase && !slices.Contains(mayFollow[c.phase], p) {
		return false
	}
	c.phase = p
	return true
}

// isLeaving reports whether gdb is detaching from the target.
func (c *core) isLeaving() bool { return c.phase == leaving || c.phase == leavingByEnd }

// isTakenOver reports whether another gdb is taking the rank over.
func (c *core) isTakenOver() bool { return c.phase == takingOver }

// takenOver records that another gdb has taken the rank over.
func (c *core) takenOver() {
	if c.phase == takingOver {
		c.enter(held)
	}
	c.killAt = 0
}

// fate is how far the death of a target has come.
type fate uint8

const (
	alive      fate = iota
	dying           // sdm has sent SIGKILL, or the kernel reports the end: gdb is to report it
	gdbNotices      // gdb has been made to notice
)

// dies records that the target is dead, or has been sent SIGKILL.
func (c *core) dies() { c.fate = max(c.fate, dying) }
