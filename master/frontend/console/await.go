// What must happen before the next command starts.

package console

import (
	"cmp"
	"time"

	"sdm/master/text"
	"sdm/protocol/rank"
)

// await is what must happen before the next command starts. The zero value waits for nothing.
type await struct {
	call *call // waits until it is done
	// settled waits in addition until every rank that the call has resumed has stopped or ended,
	// and every rank that it is to end has ended.
	settled bool
	// first is settled for a launch: it waits for the first stop of each rank.
	first bool
	// quiet waits until none of ranks runs or is about to run; any until one of them does not.
	quiet, any bool
	ranks      rank.Set
	expiry     <-chan time.Time // ends the wait; nil: no limit
	timer      *time.Timer
	notice     *time.Timer  // when to tell which ranks are stopped and which run; nil: never
	shell      <-chan error // a shell command
	reading    *reading     // a file of source; nil: none
}

// over reports whether there is nothing more to wait for.
func (a *await) over(j *job) bool {
	switch {
	case a.shell != nil || a.reading != nil:
		return false
	case a.call != nil && !a.call.done:
		return false
	case !j.followed(a.settled):
		return false
	case a.call != nil && a.settled && !(a.call.moving().IsEmpty() && j.ending(a.call).IsEmpty()):
		return false
	case a.call != nil && a.first && !a.call.starting().IsEmpty():
		return false
	case a.any:
		return !a.ranks.Minus(j.busy()).IsEmpty()
	case a.quiet && !j.busy().Intersect(a.ranks).IsEmpty():
		return false
	}
	return true
}

// expecting reports whether further stops or ends are expected soon, or an answer after which they
// may be.
func (a *await) expecting(j *job) bool {
	switch {
	case a.call != nil && !a.call.done:
		return true
	case a.first && !a.call.starting().IsEmpty():
		return true
	case a.call != nil && !j.ending(a.call).IsEmpty():
		return true
	}
	return !j.busy().IsEmpty()
}

// release ends the wait, whether it is over or not.
func (c *console) release() {
	if c.await.timer != nil {
		c.await.timer.Stop()
	}
	if c.await.notice != nil {
		c.await.notice.Stop()
	}
	c.await = await{shell: c.await.shell, reading: c.await.reading}
	c.progress.stop()
}

// noticeAfter is the time after which a batch tells what it waits for, if no other wait is given.
const noticeAfter = 10 * time.Second

// awaitStops begins to wait for the stops of a call of a batch.
func (c *console) awaitStops(x *call) {
	c.await = await{call: x, settled: true, notice: time.NewTimer(cmp.Or(c.wait, noticeAfter))}
}

// noticed returns the channel of the notice, nil if there is none.
func (a *await) noticed() <-chan time.Time {
	if a.notice == nil {
		return nil
	}
	return a.notice.C
}

// notice tells which ranks a batch waits for while others do not run, as in a job in which one rank
// has crashed and the others spin.
func (c *console) notice() {
	x := c.await.call
	if x == nil || !x.done {
		return
	}
	runs := x.moving()
	if stopped := c.cfg.All.Minus(runs); !runs.IsEmpty() && !stopped.IsEmpty() {
		c.say("[" + text.Ranks(stopped) + "] " + choose(stopped.Len() == 1, "does", "do") + " not run, [" + text.Ranks(runs) + "] still " +
			choose(runs.Len() == 1, "runs", "run") + ": waiting (" + x.asked.Command + " &, then wait any, goes on at the first stop; --timeout bounds it)")
	}
}
