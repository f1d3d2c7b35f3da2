package console

import (
	"os"
	"slices"
	"strings"

	"sdm/master/frontend/console/text"
	"sdm/protocol"
	"sdm/protocol/stack"
)

// export writes the stacks that were asked for into a file. What some ranks
// answered instead is said.
func (c *console) export(x *call) {
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
	if err := os.WriteFile(x.cmd.File, []byte(out), 0o666); err != nil {
		c.complain("stacks: " + err.Error())
		c.fail(x.from.at(errFailed))
		return
	}
	c.say("[" + text.Ranks(ranks) + "] stacks: " + plural(strings.Count(out, "\n"), "line") + " written to " + x.cmd.File)
}
