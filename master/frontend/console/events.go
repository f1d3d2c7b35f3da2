// Events of the session.

package console

import (
	"sdm/master/session"
	"sdm/master/text"
	"sdm/protocol"
)

// take processes an event of the session.
func (c *console) take(e session.Event) {
	x := c.calls[e.ID]
	if c.cfg.Format == NDJSON {
		e = c.verdicts.Look(e)
	}
	if c.cfg.Format == NDJSON && !c.cfg.suppresses(e) &&
		(x == nil || !x.quiet || x.refusals && e.Done == nil && e.Group.Kind != protocol.KindResult) {
		line := e.AppendBrief(nil)
		if c.cfg.WholeSets {
			line = e.AppendJSON(nil)
		}
		c.cfg.Out.Write(append(line, '\n'))
	}
	switch {
	case !e.IsAnswer():
		c.observe(e)
	case x == nil: // a call of another front end, or a dropped one
		c.late(text.Asked{Command: e.Command}, e)
	case e.Done != nil:
		c.finish(x)
	case x.done:
		x.answer(e.Group)
		x.groups = nil
		c.late(x.asked, e)
	default:
		x.answer(e.Group)
	}
}

// observe processes an unsolicited event and writes it; stops and ends may be held for a short
// time.
func (c *console) observe(e session.Event) {
	hide := c.company.observe(e)
	c.aborting.observe(e.Group)
	c.judgeAssertion(e.Group)
	c.states.Feed(e)
	c.progress.observe(e.Group)
	for _, x := range c.calls {
		if x.resumes() || x.raw() || x == c.await.call {
			x.observe(e.Group)
		}
	}
	if e.Group.Kind == protocol.KindStopped {
		c.lister.restart()
	}
	if c.cfg.Format != Text {
		c.follow([]protocol.Group{e.Group})
	}
	if e.Group.Kind == protocol.KindPoints { // the command was told
		return
	}
	if hide || c.cfg.Format != Text || c.cfg.suppresses(e) || e.Group.Kind == protocol.KindJob &&
		c.text("", func() string { return c.cfg.Writer.Event(e) }) == "" {
		return
	}
	if c.barriers.add(e.Group) {
		c.openBarriers()
		return
	}
	defer c.openBarriers()
	if !folds(e.Group) {
		if c.foldBuffer.ranks.Intersects(e.Group.Ranks) { // keep the order of a rank
			c.writeHeld()
		}
		c.write(e)
		return
	}
	c.foldBuffer.add(e.Group)
	switch {
	case !c.await.expecting(&c.job):
		c.writeHeld()
	case c.await.first:
		c.foldBuffer.arm(foldStart * c.cfg.Fold)
	default:
		c.foldBuffer.arm(c.cfg.Fold)
	}
}

// writeHeld writes the events that were held.
func (c *console) writeHeld() {
	groups := c.foldBuffer.take()
	for _, g := range groups {
		c.write(session.NewEvent(g))
	}
	c.follow(groups)
}

// write writes an event as text.
func (c *console) write(e session.Event) {
	out, w := c.cfg.Out, &c.cfg.Writer
	if e.Group.Kind == protocol.KindStderr || e.Group.Kind == protocol.KindNote && e.Group.Ranks.IsEmpty() {
		out, w = c.cfg.Err, &c.cfg.ErrWriter
	}
	for _, x := range c.calls {
		if e.Group.Kind == protocol.KindLost || x.starts && e.Group.Kind.IsEnd() {
			x.told = x.told.Union(e.Group.Ranks)
		}
	}
	if s := c.text("", func() string { return w.Event(e) }); s != "" {
		if e.Group.Kind == protocol.KindStopped {
			s = c.fitted(s)
		}
		c.progress.clear()
		out.Write([]byte(s))
	}
	if hint := c.leaks.hint(e.Group); hint != "" {
		c.complain(hint)
	}
}

func (c *console) late(a text.Asked, e session.Event) {
	if c.cfg.Format == Text && e.Done == nil {
		c.print(c.fitted(c.text(a.Command, func() string { return c.cfg.Writer.Late(a, e.Group) })))
	}
}

// finish completes a call: it writes the answers, biggest group first, and keeps them for expand if
// they were folded.
func (c *console) finish(x *call) {
	x.done = true
	if !x.quiet {
		groups := x.groups
		x.groups = oneTree(x)
		c.answers(x)
		x.groups = groups
		c.writeNotes(x)
	}
	if !c.await.expecting(&c.job) {
		c.writeHeld()
	}
	c.remember(x)
	c.judgeCall(x)
	if x.asked.Command == "assert" {
		for _, g := range x.groups {
			c.judgeAssertion(g)
		}
	}
	if x.then != nil {
		x.then(x)
	}
	c.openBarriers()
	c.endHung(x)
	c.retire(x)
}

// endHung interrupts gdbs that are busy with a command of a script beyond the wait: no user is there
// to do it, and each later command would fail. The next command waits for that.
func (c *console) endHung(x *call) {
	hung := x.hung()
	if hung.IsEmpty() || c.ended {
		return
	}
	c.say("[" + text.Ranks(hung) + "] " + x.asked.Command + " is interrupted, and the script goes on: it was not done within the wait")
	_ = c.beginAwaited(&call{quiet: true, refusals: true}, c.callOn(hung, "interrupt")) // next tells if the session has ended
}

// answers writes the answers to a call. Held stops are written before, to keep the order of events.
// Exceptions are commands that resume ranks, unless ranks without a result are held: their answers
// concern ranks that have not resumed. Stops caused by break or by a line for gdb follow the
// answer.
func (c *console) answers(x *call) {
	groups := x.groups
	s, short := c.answersText(x.asked, groups, c.states)
	if short || x.page {
		c.folded.keep(folded{id: x.id, asked: x.asked, groups: groups})
	}
	if c.cfg.Format != Text || s == "" {
		return
	}
	if x.starts {
		c.foldBuffer.forget(x.refused())
	}
	causes := x.raw() || x.asked.Command == "break"
	if !causes && (!x.resumes() || c.foldBuffer.ranks.Intersects(x.others())) {
		c.writeHeld()
	}
	if !x.told.IsEmpty() {
		if s, _ = c.answersText(x.asked, x.news(), c.states); s == "" {
			return
		}
	}
	c.progress.clear()
	c.paged(s, x.typed && c.await.call == x)
}

// remember keeps what later commands need of an answer.
func (c *console) remember(x *call) {
	if x.info().Selects == protocol.SelectsFrame {
		c.lister.restart()
	}
	switch x.asked.Command {
	case "list":
		c.lister.remember(x)
	case "kill":
		c.killed = c.killed.Union(x.results)
	case "run": // a restarted rank is not killed
		c.killed = c.killed.Minus(x.results)
	case "group":
		c.completions.groups.add(x.cmd.Args.Name)
	}
}
