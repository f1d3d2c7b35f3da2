package console

import (
	"encoding/json"
	"strings"

	"sdm/master/frontend/console/command"
	"sdm/protocol"
)

// block is a command with a list of lines that are being read: commands, to "end".
type block struct {
	cmd   command.Command
	from  source
	lines []string
}

// maxBlock bounds the number of lines.
const maxBlock = 1000

// gather adds a line to the open block. It tells whether there is one.
func (c *console) gather(line string) bool {
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
		c.mistake(b.from.at(&command.Mistake{Text: "commands: there is no end in sight", Hint: "end, on a line of its own, is the last"}))
	case text != "" && text[0] != '#':
		b.lines = append(b.lines, text)
	}
	return true
}

// unfinished reports a block without its end.
func (c *console) unfinished() {
	if b := c.block; b != nil {
		c.block = nil
		c.mistake(b.from.at(&command.Mistake{Text: "commands: end is missing", Hint: "end, on a line of its own, is the last"}))
	}
}

// barrierStops collects the stops at a barrier until all ranks have arrived, to show them together.
type barrierStops struct {
	call       *call
	foldBuffer foldBuffer
}

// arrived collects a stop at a barrier; false for any other event.
func (c *console) arrived(g protocol.Group) bool {
	var s protocol.Stop
	if len(c.barriers) == 0 || g.Kind != protocol.KindStopped || json.Unmarshal(g.Body, &s) != nil || s.Reason != "barrier" {
		return false
	}
	for _, b := range c.barriers {
		if g.Ranks.Minus(b.call.ran).IsEmpty() {
			b.foldBuffer.add(g)
			return true
		}
	}
	return false
}

// openBarriers writes the stops at barriers that no further rank will reach.
func (c *console) openBarriers() {
	kept := c.barriers[:0]
	for _, b := range c.barriers {
		if !b.call.done || !b.call.moving().IsEmpty() {
			kept = append(kept, b)
			continue
		}
		for _, g := range b.foldBuffer.take() {
			c.foldBuffer.add(g)
		}
		c.discard()
	}
	c.barriers = kept
}
