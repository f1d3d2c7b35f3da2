// The loop of the console.

package console

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"sdm/master/language"
	"sdm/master/session"
	"sdm/master/text"
	"sdm/protocol"
)

// run is the loop: it executes commands as far as possible, then waits for the next event.
func (c *console) run(ctx context.Context) (Status, error) {
	if err := c.start(); err != nil {
		return StatusNotStarted, err
	}
	for {
		c.advance()
		if c.ended && c.left {
			return StatusGood, ErrLeft
		}
		if c.ended {
			return c.outcome(c.status, c.states), nil
		}
		if err := c.next(ctx); err != nil {
			c.progress.clear()
			c.showLastStacks(err)
			return StatusRankFailed, err
		}
	}
}

// advance executes commands until one must be awaited, or there are none.
func (c *console) advance() {
	for !c.ended && c.await.over(&c.job) {
		c.release()
		line, at, ok := c.scripts.take()
		switch {
		case ok:
			c.guard(line, func() { c.executeLine(line, source{at: at}) })
		case c.reader == nil:
			c.reportOpenBlock()
			if !c.awaitAbort() {
				c.done()
			}
		default:
			c.reader.want(c.prompt())
			return
		}
	}
}

// prompt returns "(sdm 0-63) ".
func (c *console) prompt() string {
	switch {
	case c.pager.rest != "":
		return morePrompt
	case c.question != nil:
		return c.question.prompt()
	case c.block != nil:
		return ">"
	}
	return "(sdm " + text.Ranks(c.focus) + ") "
}

// ErrOver is the error if the session has ended without quit.
var ErrOver = errors.New("the session has ended: the connection to the ranks is gone")

// next waits for one event of any source and processes it.
func (c *console) next(ctx context.Context) error {
	var lines <-chan lineRead
	if c.reader != nil {
		lines = c.reader.got
	}
	var pieces <-chan piece
	if c.feed != nil {
		pieces = c.feed.pieces
	}
	select {
	case e, ok := <-c.cfg.Session.Events():
		if !ok && c.company.quit {
			c.ended = true // as was told
			return nil
		}
		if !ok {
			return ErrOver
		}
		c.takeGuarded(e)
	case l := <-lines:
		c.reader.asked = false
		c.typed(l)
	case q := <-c.completions.asked:
		c.lookUp(q)
	case p := <-pieces:
		c.pass(p)
	case <-c.cfg.Interrupts:
		c.interrupt(time.Now())
	case <-c.await.expiry:
		c.expired()
	case <-c.await.noticed():
		c.notice()
	case err := <-c.await.shell:
		c.await.shell = nil
		if err != nil {
			c.complain(err.Error())
		}
	case begin := <-c.await.read():
		c.await.reading.stop(nil)
		c.await.reading = nil
		begin()
	case <-c.foldBuffer.due:
		if c.foldBuffer.expired() {
			c.writeHeld()
		}
	case <-c.progress.due:
		c.progress.show(c.await.call, c.cfg.All, c.states)
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	return nil
}

// typed processes a line of the reader, or its end.
func (c *console) typed(l lineRead) {
	c.lines++
	at := func(err error) error {
		if c.cfg.Interactive {
			return err
		}
		return fmt.Errorf("standard input:%d: %w", c.lines, err)
	}
	switch {
	case c.pager.rest != "" && l.err == nil:
		c.turnPage(l.line)
	case c.pager.rest != "" && errors.Is(l.err, ErrInterrupted):
		c.pager.rest = ""
	case l.err == nil:
		c.pressed = presses{} // the first Ctrl-C after it interrupts its effects
		c.guard(l.line, func() { c.executeLine(l.line, source{at: at, prompt: c.cfg.Interactive}) })
	case errors.Is(l.err, ErrInterrupted) && c.question != nil:
		c.question = nil // as the answer no
	case errors.Is(l.err, ErrInterrupted):
		c.interrupt(time.Now())
	case c.shared && c.cfg.Interactive && l.err != io.EOF: // not Ctrl-D
		c.ended, c.left = true, true
	case errors.Is(l.err, io.EOF):
		c.inputEnded()
	default:
		c.complain("sdm: cannot read commands: " + l.err.Error())
		c.ended, c.status = true, StatusUsage
	}
}

// expired ends a "wait for DURATION".
func (c *console) expired() {
	if rest := c.busy().Intersect(c.await.ranks); !rest.IsEmpty() {
		c.say("[" + text.Ranks(rest) + "] still running")
	}
	c.release()
}

// pass sends a piece of standard input to the ranks. The next one is read when they have taken it;
// if no rank takes it any more, this was the last.
func (c *console) pass(p piece) {
	s := c.callOn(c.cfg.All, "send")
	s.Ranks, s.Wait = c.cfg.InputRanks, -1
	s.Args = protocol.Args{Data: p.data, EOF: p.end}
	x := &call{quiet: true}
	x.then = func(x *call) {
		if !p.end && !x.results.IsEmpty() {
			c.feed.want()
		}
	}
	if err := c.begin(x, s); err != nil {
		c.complain("standard input: " + err.Error())
	}
}

// lastStacksTime bounds showLastStacks.
const lastStacksTime = 5 * time.Second

// showLastStacks shows the stacks of all remaining ranks if the session ends because of --timeout.
func (c *console) showLastStacks(why error) {
	alive := c.states.In(session.Running, session.Stopped)
	if c.cfg.IsTimeout == nil || !c.cfg.IsTimeout(why) || alive.IsEmpty() {
		return
	}
	c.release()
	cmd, _, err := language.Parse("[" + alive.String() + "] stacks --samples 1")
	if err != nil || c.execute(cmd, source{}) != nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), lastStacksTime)
	defer cancel()
	for !c.await.over(&c.job) {
		if c.next(ctx) != nil {
			return
		}
	}
	c.writeHeld()
}
