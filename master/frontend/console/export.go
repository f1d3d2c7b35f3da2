// Answers that are written to files.

package console

import (
	"encoding/json"
	"os"
	"slices"
	"strings"

	"sdm/master/frontend/console/command"
	"sdm/master/frontend/console/text"
	"sdm/master/hangfile"
	"sdm/master/session"
	"sdm/protocol"
	"sdm/protocol/stack"
)

// writeNotes writes what an exported tree does not contain.
func (c *console) writeNotes(x *call) {
	for _, g := range x.groups {
		var note protocol.Note
		if isNote(x, g) && json.Unmarshal(g.Body, &note) == nil && c.cfg.Format == Text {
			c.complain(note.Text)
		}
		if x.cmd.Export != "" && !strings.HasPrefix(x.cmd.Export, command.Waits) && g.Kind == protocol.KindResult && c.cfg.Format == Text {
			for _, line := range c.cfg.ErrWriter.Notes(g) {
				c.complain(line)
			}
		}
	}
}

// isNote reports whether an answer is a note beside an exported tree, which may be read by a program.
func isNote(x *call, g protocol.Group) bool {
	return x.cmd.Export != "" && g.Kind == protocol.KindNote && g.Ranks.IsEmpty()
}

// oneTree returns the answers to a call, of which exported trees have become one. Notes are left out.
func oneTree(x *call) (groups []protocol.Group) {
	at := -1
	for _, g := range x.groups {
		switch {
		case isNote(x, g):
		case x.cmd.Export == "" || g.Kind != protocol.KindResult:
			groups = append(groups, g)
		case at < 0:
			at = len(groups)
			groups = append(groups, protocol.Group{Kind: g.Kind, Ranks: g.Ranks, Body: g.Body, Stack: g.Stack, Waits: g.Waits})
		default:
			to := &groups[at]
			to.Ranks, to.Stack, to.Waits = to.Ranks.Union(g.Ranks), to.Stack.Merge(g.Stack), to.Waits.Merge(g.Waits)
		}
	}
	return groups
}

// export writes the stacks of a call to a file, and other answers as usual.
func (c *console) export(x *call) {
	c.writeNotes(x)
	if strings.HasSuffix(x.cmd.Export, command.HangFile) {
		c.saveHang(x)
		return
	}
	var tree *stack.Tree
	sampled := false
	for _, g := range x.groups {
		if g.Kind == protocol.KindResult {
			tree, sampled = tree.Merge(g.Stack), sampled || text.Sampled(g)
		}
	}
	ranks := x.results
	out := text.ExportWaits(x.asked, x.groups)
	x.groups = slices.DeleteFunc(x.groups, func(g protocol.Group) bool { return g.Kind == protocol.KindResult || isNote(x, g) })
	c.answers(x)
	if tree == nil {
		return
	}
	if out == "" {
		out = text.Export(tree, x.cmd.Export, sampled)
	}
	if c.written(x, out) {
		c.say("[" + text.Ranks(ranks) + "] " + x.cmd.Name + ": " + text.Plural(strings.Count(out, "\n"), "line") + " written to " + x.cmd.File)
	}
}

// saveHang writes the answers to stacks to a new hang file.
func (c *console) saveHang(x *call) {
	if c.cfg.HangFile == nil {
		c.complain(x.cmd.Name + ": a hang file cannot be written here")
		c.fail(x.from.at(errFailed))
		return
	}
	f := c.cfg.HangFile()
	for _, g := range x.groups {
		e := session.NewEvent(g)
		e.Command = x.asked.Command
		f.Stacks = append(f.Stacks, e)
	}
	f.States = hangfile.StatesOf(c.states)
	f.Judge()
	path, err := hangfile.Save(atHome(x.cmd.File), f.Write)
	if err != nil {
		c.complain(x.cmd.Name + ": " + err.Error())
		c.fail(x.from.at(errFailed))
		return
	}
	c.say("[" + text.Ranks(x.results) + "] " + x.cmd.Name + ": written to " + path + " (sdm open " + path + ")")
}

// save writes the breakpoints of ranks to a file, as GDB commands, and other answers as usual.
func (c *console) save(x *call) {
	told := x.groups
	x.groups = slices.DeleteFunc(slices.Clone(told), func(g protocol.Group) bool { return g.Kind == protocol.KindResult })
	c.answers(x)
	switch out := text.Saved(told); {
	case out == "":
		c.say("Nothing to save.")
	case c.written(x, out):
		c.say("Saved to file '" + x.cmd.File + "'.")
	}
}

// written writes a text to the file of a command; false if that fails, after reporting the error.
func (c *console) written(x *call, out string) bool {
	err := os.WriteFile(atHome(x.cmd.File), []byte(out), 0o666)
	if err != nil {
		c.complain(x.cmd.Name + ": " + err.Error())
		c.fail(x.from.at(errFailed))
	}
	return err == nil
}
