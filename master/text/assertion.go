// Assertions and their outcomes.

package text

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"sdm/protocol"
	"sdm/protocol/column"
)

// outcomes writes on which ranks an assertion fails, on which it cannot be evaluated and why, and, if all is true, on
// which it holds: "n < 3 fails [3,5] (2 of 8)".
func outcomes(head string, c view, all bool) (lines []string) {
	if !c.Complete() {
		return []string{head + ": " + c.inEvent()}
	}
	for _, v := range c.values {
		who := ""
		if len(c.values) > 1 {
			who = " [" + clipped(v.Ranks) + "]"
		}
		switch v.Value {
		case protocol.Holds:
			if all {
				lines = append(lines, head+" holds"+who)
			}
		case protocol.Fails:
			if who != "" && !all {
				who += " (" + strconv.Itoa(v.Ranks.Len()) + " of " + strconv.Itoa(c.Count()) + ")"
			}
			lines = append(lines, head+" fails"+who)
		default:
			lines = append(lines, head+" cannot be evaluated"+who+": "+v.Value)
		}
	}
	return lines
}

// assertion describes the event of an assertion at a location that ranks have passed: "Assertion 3, compute at
// work.c:31: n < 3 fails, n = 5".
func assertion(g protocol.Group, l protocol.Logged, at string) answer {
	lines := outputs(l.Commands, columns(g))
	for i := range lines {
		lines[i] = strings.TrimPrefix(lines[i], protocol.AssertLine)
	}
	return answer{ranks: g.Ranks, lines: []string{join("Assertion "+numberText(l.Breakpoint), at) + ": " + strings.Join(lines, ", ")},
		bad: AssertionFails(g)}
}

// isAssertion reports whether lines of a breakpoint begin with an assertion.
func isAssertion(commands []string) bool {
	return len(commands) > 0 && strings.HasPrefix(commands[0], protocol.AssertLine)
}

// AssertionFails reports whether an event, or an answer to assert, tells that an assertion fails on some rank.
func AssertionFails(g protocol.Group) bool {
	fails := func(c column.Column) bool {
		return slices.ContainsFunc(c.Values(), func(v column.ValueCount) bool { return v.Value == protocol.Fails })
	}
	if !slices.ContainsFunc(g.Columns, fails) { // of nearly all events the body need not be read
		return false
	}
	var body struct {
		Displays []protocol.Display `json:"displays"`
		Commands []string           `json:"commands"`
	}
	if g.Kind != protocol.KindStopped && g.Kind != protocol.KindLogged && g.Kind != protocol.KindResult ||
		json.Unmarshal(g.Body, &body) != nil {
		return false
	}
	named := func(name string) bool {
		c, _ := g.Column(name)
		return fails(c)
	}
	return slices.ContainsFunc(body.Displays, func(d protocol.Display) bool {
		return d.Assert && named("display."+strconv.Itoa(d.Number))
	}) || isAssertion(body.Commands) && named("output.0")
}
