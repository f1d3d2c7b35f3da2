package console

import (
	"slices"
	"sync"

	"sdm/master/frontend/console/text"
	"sdm/master/session"
	"sdm/protocol"
	"sdm/protocol/canonical"
)

// take is where everything from the session arrives.
func (c *console) take(e session.Event) {
	x := c.calls[e.ID]
	if c.cfg.Format == NDJSON && !c.unsaid(e) && (x == nil || !x.quiet || x.refusals && e.Done == nil && e.Group.Kind != protocol.KindResult) {
		line := e.AppendBrief(nil)
		if c.cfg.WholeSets {
			line = e.AppendJSON(nil)
		}
		c.cfg.Out.Write(append(line, '\n'))
	}
	switch {
	case !e.IsAnswer():
		c.happened(e)
	case x == nil: // a call of another front end, or long ago
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

// happened takes in what nobody asked for, and writes it at once; stops and ends
// may be held for a moment.
func (c *console) happened(e session.Event) {
	c.aborting.happened(e.Group)
	c.states.Feed(e)
	c.progress.happened(e.Group)
	for _, x := range c.calls {
		if x.resumes() || x.raw() || x == c.await.call {
			x.happened(e.Group)
		}
	}
	if e.Group.Kind == protocol.KindStopped {
		c.listed, c.located = text.Listed{}, false // list begins where they stand now
	}
	if c.cfg.Format != Text {
		c.follow([]protocol.Group{e.Group})
	}
	if c.cfg.Format != Text || c.unsaid(e) || e.Group.Kind == protocol.KindJob && c.text("", func() string { return c.cfg.Writer.Event(e) }) == "" {
		return
	}
	if c.arrived(e.Group) {
		c.openBarriers()
		return
	}
	defer c.openBarriers()
	if !folds(e.Group.Kind) {
		if c.held.ranks.Intersects(e.Group.Ranks) { // must not overtake
			c.letGo()
		}
		c.write(e)
		return
	}
	c.held.add(e.Group)
	switch {
	case !c.expecting():
		c.letGo()
	case c.await.first:
		c.held.arm(foldStart * c.cfg.Fold)
	default:
		c.held.arm(c.cfg.Fold)
	}
}

// unsaid tells whether an event is one that AnswersOnly leaves out.
func (c *console) unsaid(e session.Event) bool {
	return c.cfg.AnswersOnly && !e.IsAnswer() && e.Group.Kind != protocol.KindLost && e.Group.Kind != protocol.KindSignalled
}

// letGo writes the events that were held.
func (c *console) letGo() {
	groups := c.held.take()
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
		c.progress.clear()
		out.Write([]byte(s))
	}
}

func (c *console) late(a text.Asked, e session.Event) {
	if c.cfg.Format == Text && e.Done == nil {
		c.print(c.text(a.Command, func() string { return c.cfg.Writer.Late(a, e.Group) }))
	}
}

// finish takes in the done of a call: its answers are written, biggest group
// first, and kept for expand if they were folded.
func (c *console) finish(x *call) {
	x.done = true
	if !x.quiet {
		c.answers(x)
	}
	if !c.expecting() {
		c.letGo()
	}
	c.remember(x)
	c.judgeCall(x)
	if x.then != nil {
		x.then(x)
	}
	c.openBarriers()
	c.retire(x)
}

// answers writes the answers to a call. Stops that are held go before them, so
// that all is read in the order in which it happened. But what is said to a
// command that resumes is about ranks that it did not resume, and parts nothing;
// and what a breakpoint or a line for gdb has brought about stands behind it.
func (c *console) answers(x *call) {
	groups := x.groups
	s, short := c.answersText(x.asked, groups)
	if short || x.page {
		c.keep(folded{id: x.id, asked: x.asked, groups: groups})
	}
	if c.cfg.Format != Text || s == "" {
		return
	}
	if x.starts {
		c.held.forget(x.refused())
	}
	causes := x.raw() || x.asked.Command == "break"
	if !causes && (!x.resumes() || c.held.ranks.Intersects(x.others())) {
		c.letGo()
	}
	if !x.told.IsEmpty() {
		if s, _ = c.answersText(x.asked, x.news()); s == "" {
			return
		}
	}
	c.progress.clear()
	c.paged(x, s)
}

// answersText gives the text of answers, and whether expand would show more.
func (c *console) answersText(a text.Asked, groups []protocol.Group) (s string, short bool) {
	if slices.ContainsFunc(groups, func(g protocol.Group) bool { return g.Kind == protocol.KindFault || g.Kind == protocol.KindLost }) {
		a.Gone = c.states.Groups(c.states.Ended())
	}
	s = c.text(a.Command, func() (s string) {
		s, short = c.cfg.Writer.Answers(a, groups)
		return s
	})
	return s, short
}

// remember keeps what later commands build on.
func (c *console) remember(x *call) {
	switch x.asked.Command {
	case "list":
		if l := listedBy(x.groups); len(l.Lines) > 0 { // else there was nothing more
			c.listed = l
			if x.cmd.Page == 0 {
				c.located = x.cmd.Args.Location != "" || x.cmd.Args.To != ""
			}
		}
	case "frame", "up", "down":
		c.listed, c.located = text.Listed{}, false
	case "kill":
		c.killed = c.killed.Union(x.results)
	case "run": // what they do now counts
		c.killed = c.killed.Minus(x.results)
	case "group":
		c.groups.add(x.cmd.Args.Name)
	}
}

// names are the names of rank sets. The goroutine that reads lines asks for
// them, too.
type names struct {
	mu   sync.Mutex
	list []string
}

func (n *names) add(name string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.list = append(n.list, name)
}

func (n *names) all() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Clone(n.list)
}

// print writes text for the person, above the prompt if there is one.
func (c *console) print(s string) {
	if s != "" {
		c.letGo()
		c.progress.clear()
		c.cfg.Out.Write([]byte(s))
	}
}

// say writes a line of ours that belongs to no answer.
func (c *console) say(s string) {
	if c.cfg.Format == NDJSON {
		c.emit(protocol.KindNote, protocol.Note{Text: s})
		return
	}
	c.print(s + "\n")
}

// complain writes a mistake, or what else went wrong here.
func (c *console) complain(s string) {
	c.letGo()
	c.progress.clear()
	if c.cfg.Format == NDJSON {
		c.emit(protocol.KindFault, protocol.Fault{Kind: protocol.FaultUsage, Message: s})
		if c.cfg.Interactive {
			return
		}
	}
	c.cfg.Err.Write([]byte(s + "\n"))
}

// emit writes an event of ours among those of the session.
func (c *console) emit(k protocol.Kind, body any) {
	e := session.NewEvent(protocol.Group{Kind: k, Body: canonical.JSON(body)})
	c.cfg.Out.Write(append(e.AppendJSON(nil), '\n'))
}
