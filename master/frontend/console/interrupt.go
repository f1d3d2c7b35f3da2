// Handling of Ctrl-C.

package console

import (
	"time"

	"sdm/master/text"
	"sdm/protocol/rank"
)

// presses counts repeated Ctrl-C: each has more effect than the one before.
type presses struct {
	n  int
	at time.Time // of the last one
}

// pressedSoon is the time within which a further Ctrl-C is a repetition.
const pressedSoon = time.Second

// interrupt handles Ctrl-C. The first one interrupts the focus, and gdbs of stopped ranks that are
// busy with a command; the second one ends the wait and tells which answers are missing; the third
// one ends the console if any still are. Without a prompt, the first one does, except that it ends samples
// at first; see endSamples.
func (c *console) interrupt(now time.Time) {
	c.scripts = nil
	if c.await.reading != nil {
		c.await.reading.stop(ErrInterrupted)
	}
	if !c.cfg.Interactive {
		if !c.endSamples() {
			c.ended, c.status = true, StatusInterrupted
		}
		return
	}
	runs, asked := c.busy().Intersect(c.focus), c.waitedFor(c.await.call)
	noUse := c.pressed.n == 1 && (runs.IsEmpty() && !asked.IsEmpty() || c.isStarting())
	if now.Sub(c.pressed.at) >= pressedSoon && !noUse {
		c.pressed.n = 0
	}
	c.pressed.n, c.pressed.at = c.pressed.n+1, now
	switch {
	case c.pressed.n > 2 && (!runs.IsEmpty() || !asked.IsEmpty() || c.isStarting()):
		c.ended, c.status = true, StatusInterrupted
	case c.pressed.n > 1:
		c.sayMissing(runs)
		c.release()
	default:
		c.interruptFirst(runs.Union(asked))
	}
}

// endSamples ends the samples that are being taken, so that those that have been taken are shown before the console
// ends. It returns false if none are being taken, if they have been ended before, or if ranks would remain stopped.
func (c *console) endSamples() bool {
	x := c.await.call
	if x == nil || x.done || x.cmd.Args.Samples == 0 || c.cut || !c.cfg.AnswersOnly {
		return false
	}
	c.cut = true
	return c.begin(&call{quiet: true}, c.callOn(x.ranks, "interrupt")) == nil
}

// interruptFirst interrupts ranks. If there are none, it ends the wait.
func (c *console) interruptFirst(ranks rank.Set) {
	if c.await.quiet {
		c.release()
	}
	if !ranks.IsEmpty() {
		if err := c.begin(&call{}, c.callOn(ranks, "interrupt")); err != nil {
			c.complain(err.Error())
		}
		return
	}
	c.sayMissing(ranks)
	c.release()
	if others := c.busy(); !others.IsEmpty() {
		c.say("nothing runs in the focus; to stop the others: [" + text.Ranks(others) + "] interrupt")
	}
}

// sayMissing names the ranks whose answers are awaited, and those that run.
func (c *console) sayMissing(runs rank.Set) {
	x := c.await.call
	if x == nil || x.done {
		x = c.starting()
	}
	if x != nil {
		owed := x.ranks.Minus(x.results).Minus(x.others())
		if !owed.IsEmpty() {
			c.say("[" + text.Ranks(owed) + "] no answer yet to " + x.asked.Command)
			runs = runs.Minus(owed)
		}
	}
	if !runs.IsEmpty() {
		c.say("[" + text.Ranks(runs) + "] still running")
	}
}
