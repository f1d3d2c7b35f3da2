// Convenience variables, as gdb shows them.

package gdb

import (
	"regexp"
	"strings"
)

// lastShown are gdb's variables for the last address that x or info line has shown, and what is there, with what makes them
// those of one rank. Commands of ours set them as well.
var lastShown = map[string]string{"_": "at", "__": "in"}

// keepExamined keeps them for this rank.
func (m *machine) keepExamined(q *request) {
	for _, name := range []string{"_", "__"} {
		line := "set $" + name + lastShown[name] + m.variableSuffix() + " = $" + name
		m.tell("x", "-interpreter-exec", append(m.at(q), "console", line)...)
	}
}

// keptVariable is a convenience variable that another gdb can be given.
type keptVariable struct{ name, value string }

// shownVariable is a line of "show convenience": "$i_of_rank_3 = 5". Values that go on in further lines are not
// numbers.
var shownVariable = regexp.MustCompile(`^\$([A-Za-z]\w*) = (.*)$`)

// plainNumber is a value that gdb reads as it writes it.
var plainNumber = regexp.MustCompile(`^-?[0-9]+(?:\.[0-9]+)?(?:e[+-]?[0-9]+)?$`)

// variablesIn gives those of a rank, whose names end in a suffix, in what "show convenience" has printed: numbers
// by name and value, of others the names.
func variablesIn(text, suffix string) (vars []keptVariable, others []string) {
	for line := range strings.Lines(text) {
		found := shownVariable.FindStringSubmatch(strings.TrimSpace(line))
		if found == nil || found[2] == "void" {
			continue
		}
		name, mine := strings.CutSuffix(found[1], suffix)
		switch {
		case !mine:
		case plainNumber.MatchString(found[2]):
			vars = append(vars, keptVariable{name, found[2]})
		default:
			others = append(others, "$"+name)
		}
	}
	return vars, others
}
