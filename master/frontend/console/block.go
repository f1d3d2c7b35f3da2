// Commands whose lines follow, up to end.

package console

import (
	"strings"

	"sdm/master/language"
)

// block is a command with a list of lines that are being read: commands, to "end".
type block struct {
	cmd   language.Command
	from  source
	lines []string
}

// maxBlock bounds the number of lines.
const maxBlock = 1000

// addToBlock adds a line to the open block. It reports whether there is one.
func (c *console) addToBlock(line string) bool {
	b := c.block
	if b == nil {
		return false
	}
	text := strings.TrimSpace(line)
	switch {
	case text == "end":
		c.block = nil
		b.cmd.Args.Lines = b.lines
		err := checkBlock(b.lines)
		if err == nil {
			err = c.ask(b.cmd, b.from)
		}
		if err != nil {
			c.mistake(b.from.at(err))
		}
	case len(b.lines) >= maxBlock:
		c.block = nil
		c.mistake(b.from.at(&language.Mistake{Text: "commands: no end within 1000 lines", Hint: "end, on a line of its own, is the last"}))
	case text != "" && text[0] != '#':
		b.lines = append(b.lines, text)
	}
	return true
}

// reportOpenBlock reports a block without its end.
func (c *console) reportOpenBlock() {
	if b := c.block; b != nil {
		c.block = nil
		c.mistake(b.from.at(&language.Mistake{Text: "commands: end is missing", Hint: "end, on a line of its own, is the last"}))
	}
}
