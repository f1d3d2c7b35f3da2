package console

import (
	"os"
	"slices"
	"strings"

	"sdm/master/frontend/console/text"
	"sdm/protocol"
	"sdm/protocol/stack"
)

// interpreters tells beside an exported tree what it does not say of interpreters of Python.
func (c *console) interpreters(x *call) {
	for _, g := range x.groups {
		if x.cmd.Export != "" && g.Kind == protocol.KindResult && c.cfg.Format == Text {
			for _, line := range c.cfg.ErrWriter.Interpreters(g) {
				c.complain(line)
			}
		}
	}
}

// export writes the stacks of a call to a file, and other answers as usual.
func (c *console) export(x *call) {
	c.interpreters(x)
	var tree *stack.Tree
	for _, g := range x.groups {
		if g.Kind == protocol.KindResult {
			tree = tree.Merge(g.Stack)
		}
	}
	ranks := x.results
	x.groups = slices.DeleteFunc(x.groups, func(g protocol.Group) bool { return g.Kind == protocol.KindResult })
	c.answers(x)
	if tree == nil {
		return
	}
	out := text.Export(tree, x.cmd.Export)
	if c.written(x, out) {
		c.say("[" + text.Ranks(ranks) + "] stacks: " + plural(strings.Count(out, "\n"), "line") + " written to " + x.cmd.File)
	}
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
