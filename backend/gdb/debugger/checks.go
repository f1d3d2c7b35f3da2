// Checks whether a process that runs still lives.

package debugger

import "time"

// A process that runs is checked one second after it was resumed, and then each time after
// twice as long, at most an hour: gdb 13.1 misses the end of one that is killed while gdb steps
// it over a breakpoint (1 of 1,000 on a busy machine), and until gdb has reaped its threads the
// kernel does not report its end to any other process.
const (
	firstCheck    = time.Second
	maxCheckDelay = time.Hour
)

// checkAgain asks the host to check the process when a check is due.
func (rn *runs) checkAgain() {
	r := rn.run
	if r == nil || !r.started || rn.now < r.checkAt {
		return
	}
	r.checkDelay = min(2*r.checkDelay, maxCheckDelay)
	r.checkAt = rn.now + r.checkDelay
	rn.Out.Check = true
}
