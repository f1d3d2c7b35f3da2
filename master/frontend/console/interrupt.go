// What Ctrl-C does.

package console

import (
	"time"

	"sdm/master/frontend/console/text"
	"sdm/master/session"
	"sdm/protocol/rank"
)

// presses counts Ctrl-C, of which each does more than the one before, as long as they
// follow one another soon.
type presses struct {
	n  int
	at time.Time // of the last one
}

// pressedSoon is how soon a further one counts.
const pressedSoon = time.Second

// interrupt is Ctrl-C: the first one stops the focus, and what the gdbs of stopped ranks
// are asked; the second one goes back to the prompt, and says what is missing; the third
// one, if something still is, is the end. Without a prompt the first one is.
func (c *console) interrupt(now time.Time) {
	c.scripts = nil
	if !c.cfg.Interactive {
		c.ended, c.status = true, StatusInterrupted
		return
	}
	runs, asked := c.busy().Intersect(c.focus), c.waitedFor()
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

// interruptFirst stops ranks. Where there is nothing to stop, it goes back to the prompt.
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

// isStarting tells whether the launch or attach has not come to its end.
func (c *console) isStarting() bool { return c.starting() != nil }

// starting gives the launch or attach that has not come to its end, or nil.
func (c *console) starting() *call {
	for _, x := range c.calls {
		if x.starts && !x.done {
			return x
		}
	}
	return nil
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

// waitedFor gives the stopped ranks whose answers are awaited.
func (c *console) waitedFor() rank.Set {
	x := c.await.call
	if x == nil || x.done || x.starts {
		return rank.Set{}
	}
	return x.ranks.Intersect(c.states.In(session.Stopped))
}
