package console

import (
	"cmp"
	"time"

	"sdm/master/frontend/console/text"
	"sdm/master/session"
	"sdm/protocol/rank"
)

// await is what has to happen before the next command starts. The zero value is
// nothing.
type await struct {
	call *call // its done
	// settled waits further, until every rank that the call set in motion has
	// stopped or ended, and every one that it was to end has ended.
	settled bool
	// first is settled for a launch: until the first stop of each rank.
	first bool
	// quiet waits until these ranks neither run nor are about to.
	quiet  bool
	any    bool // … until one of them does not
	ranks  rank.Set
	expiry <-chan time.Time // ends it; nil: nothing does
	timer  *time.Timer
	notice *time.Timer  // who stands and who still runs is told; nil: that is not
	shell  <-chan error // a command of the shell
}

// over tells whether c has nothing more to wait for.
func (c *console) over() bool {
	a := c.await
	switch {
	case a.shell != nil:
		return false
	case a.call != nil && !a.call.done:
		return false
	case !c.followed(a.settled):
		return false
	case a.call != nil && a.settled && !(a.call.moving().IsEmpty() && c.ending(a.call).IsEmpty()):
		return false
	case a.call != nil && a.first && !a.call.starting().IsEmpty():
		return false
	case a.any:
		return !a.ranks.Minus(c.busy()).IsEmpty()
	case a.quiet && !c.busy().Intersect(a.ranks).IsEmpty():
		return false
	}
	return true
}

// busy gives the ranks that run, or are about to by a call under way.
func (c *console) busy() rank.Set {
	busy := c.states.In(session.Running, session.Starting)
	for _, x := range c.calls {
		if x.done {
			busy = busy.Union(x.moving())
		} else if x.resumes() {
			busy = busy.Union(c.cfg.All) // it may be any of them until it has answered
		}
	}
	return busy
}

// ending gives the ranks that a kill or detach has yet to bring to an end.
func (c *console) ending(x *call) rank.Set {
	if !x.ends() {
		return rank.Set{}
	}
	return x.results.Minus(c.states.Ended())
}

// expecting tells whether further stops or ends are to come soon, as far as we
// know, or answers that tell.
func (c *console) expecting() bool {
	a := c.await
	switch {
	case a.call != nil && !a.call.done:
		return true
	case a.first && !a.call.starting().IsEmpty():
		return true
	case a.call != nil && !c.ending(a.call).IsEmpty():
		return true
	}
	return !c.busy().IsEmpty()
}

// release ends the waiting, whether it is over or not.
func (c *console) release() {
	if c.await.timer != nil {
		c.await.timer.Stop()
	}
	if c.await.notice != nil {
		c.await.notice.Stop()
	}
	shell := c.await.shell
	c.await = await{shell: shell}
	c.progress.stop()
}

// noticeAfter is when people are told what a batch waits for, where no other wait is given.
const noticeAfter = 10 * time.Second

// awaitStops begins to wait for the stops of a call of a batch.
func (c *console) awaitStops(x *call) {
	c.await = await{call: x, settled: true, notice: time.NewTimer(cmp.Or(c.wait, noticeAfter))}
}

// noticed gives the channel of the notice, nil where there is none.
func (a *await) noticed() <-chan time.Time {
	if a.notice == nil {
		return nil
	}
	return a.notice.C
}

// notice tells whom a batch waits for while others stand already or were never there, as in a job of which one rank has crashed
// and the others spin.
func (c *console) notice() {
	x := c.await.call
	if x == nil || !x.done {
		return
	}
	runs := x.moving()
	if stand := c.cfg.All.Minus(runs); !runs.IsEmpty() && !stand.IsEmpty() {
		c.say("[" + text.Ranks(stand) + "] " + choose(stand.Len() == 1, "does", "do") + " not run, [" + text.Ranks(runs) + "] still " +
			choose(runs.Len() == 1, "runs", "run") + ": waiting (wait any goes on at the first stop, --timeout bounds it)")
	}
}
