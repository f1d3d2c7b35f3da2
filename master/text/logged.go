// Events of logs.

package text

import (
	"strconv"
	"strings"

	"sdm/protocol"
	"sdm/protocol/pattern"
)

// logged describes the event of a log, or of a breakpoint whose commands resume the rank: "Log 3,
// compute at work.c:31: n = 0..3, sum = 6".
func logged(g protocol.Group) answer {
	var l protocol.Logged
	if !decode(g.Body, &l) {
		return raw(g)
	}
	cols := columns(g)
	at := ""
	if l.Frame != nil {
		at = l.Frame.Func
		if place := place(*l.Frame); place != "" {
			at += " at " + place
		}
	}
	if isAssertion(l.Commands) {
		return assertion(g, l, at)
	}
	if l.Exprs == nil {
		below := outputs(l.Commands, cols)
		if !l.Silent {
			return answer{ranks: g.Ranks, lines: []string{join("Breakpoint "+numberText(l.Breakpoint), at)}, below: below}
		}
		return answer{ranks: g.Ranks, lines: below}
	}
	var parts []string
	for i, e := range l.Exprs {
		c := cols["value."+strconv.Itoa(i)]
		parts = append(parts, e+" = "+c.inEvent())
	}
	return answer{ranks: g.Ranks, lines: []string{join("Log "+numberText(l.Breakpoint), at) + ": " + strings.Join(parts, ", ")}}
}

// printCommand is a print among commands: its output is written as print's.
var printCommand = pattern.New(`^(?:print|p|inspect)(?:/\S*)?(\s.*|[(*&].*)$`)

// outputs writes the output of the commands of a breakpoint.
func outputs(commands []string, cols map[string]view) []string {
	var lines []string
	for i, command := range commands {
		c, ok := cols["output."+strconv.Itoa(i)]
		if !ok {
			continue
		}
		if strings.HasPrefix(command, protocol.AssertLine) {
			lines = append(lines, outcomes(command, c, true)...)
			continue
		}
		text := c.inEvent()
		if found := printCommand.FindStringSubmatch(command); found != nil {
			text = strings.TrimSpace(found[1]) + " = " + text
		}
		lines = append(lines, strings.Split(text, "\n")...)
	}
	return lines
}
