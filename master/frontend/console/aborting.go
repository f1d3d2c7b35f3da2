// A batch in which MPI_Abort was called waits for the end of the job.

package console

import (
	"time"

	"sdm/protocol"
)

// abortEnds bounds the time that starters take to end a job after MPI_Abort: they send its ranks
// SIGTERM, and SIGKILL some seconds later.
const abortEnds = 10 * time.Second

// aborting reports whether ranks have continued into MPI_Abort.
type aborting struct{ entered, awaited bool }

// observe processes an event.
func (a *aborting) observe(g protocol.Group) {
	a.entered = a.entered || g.HasNote(protocol.IntoAbort)
}

// awaitAbort begins to wait for the starter to end the job, once; false: there is nothing to wait
// for.
func (c *console) awaitAbort() bool {
	a := &c.aborting
	if !a.entered || a.awaited || c.cfg.Interactive || c.busy().IsEmpty() {
		return false
	}
	a.awaited = true
	timer := time.NewTimer(abortEnds)
	c.await = await{quiet: true, ranks: c.cfg.All, timer: timer, expiry: timer.C}
	return true
}
