// Convenience variables.

package debugger

import (
	"strings"

	"sdm/protocol/pattern"
)

// keptVariable is a convenience variable that can be given to another gdb.
type keptVariable struct{ name, value string }

// shownVariable matches a line of "show convenience": "$i_of_rank_3 = 5". A value of
// several lines is not a number.
var shownVariable = pattern.New(`^\$([A-Za-z]\w*) = (.*)$`)

// plainNumber matches a value that gdb reads as it prints it.
var plainNumber = pattern.New(`^-?[0-9]+(?:\.[0-9]+)?(?:e[+-]?[0-9]+)?$`)

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
