// Convenience variables.

package debugger

import (
	"regexp"
	"strings"
)

// lastShown are gdb's variables for the last address that x or info line has shown and
// for its contents. To keep them for one rank, since sdm's own commands change them,
// this and the suffix of the rank are appended to their names.
var lastShown = map[string]string{"_": "at", "__": "in"}

// keepExamined saves them for this rank.
func (m *Machine) keepExamined(q *Request) {
	for _, name := range []string{"_", "__"} {
		line := "set $" + name + lastShown[name] + m.variableSuffix() + " = $" + name
		m.tell("x", "-interpreter-exec", append(m.at(q), "console", line)...)
	}
}

// keptVariable is a convenience variable that can be given to another gdb.
type keptVariable struct{ name, value string }

// shownVariable matches a line of "show convenience": "$i_of_rank_3 = 5". A value of
// several lines is not a number.
var shownVariable = regexp.MustCompile(`^\$([A-Za-z]\w*) = (.*)$`)

// plainNumber matches a value that gdb reads as it prints it.
var plainNumber = regexp.MustCompile(`^-?[0-9]+(?:\.[0-9]+)?(?:e[+-]?[0-9]+)?$`)

// variablesIn returns those of a rank, whose names end in suffix, from the output of
// "show convenience": numbers with their values, and the names of the others.
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
