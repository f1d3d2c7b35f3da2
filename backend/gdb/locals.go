// The variables of a frame: those that GDB/MI lists, and those that it omits.

package gdb

import (
	"regexp"
	"slices"
	"strings"

	"sdm/backend/mi"
)

// GDB/MI lists no variable without a location: one that is optimized out or has become
// a constant (list_args_or_locals, mi-cmd-stack.c). The command line does. So the
// command line gives the names in their order, with structures and arrays cut to one
// line each, and GDB/MI the values.
const (
	localsLine = "with print max-depth 0 -- info locals"
	argsLine   = "with print max-depth 0 -- info args"
)

// variableLine matches the first line of a variable; further lines are indented.
var variableLine = regexp.MustCompile(`(?m)^([A-Za-z_$][^ =\n]*) = (.*)$`)

// gone is the value of a variable that is optimized out.
const gone = "<optimized out>"

// placeOfVariable matches what gdb 18 adds to variables of one name in several blocks.
var placeOfVariable = regexp.MustCompile(`(?m)\t<[^\t\n]*:[0-9]+(?:, shadowed)?>$`)

// withoutEntryValues removes the values of arguments at the function call ("n@entry"):
// gdb's command line shows those in frames only.
func withoutEntryValues(list mi.Tuple) mi.Tuple {
	isEntry := func(f mi.Field) bool { return strings.HasSuffix(f.Value.Fields.Str("name"), "@entry") }
	return slices.DeleteFunc(slices.Clone(list), isEntry)
}

// withPlaceless adds to GDB/MI's list the variables that only the command line has
// shown. If the list is not found in text, it is returned unchanged.
func withPlaceless(list mi.Tuple, text string) mi.Tuple {
	var all mi.Tuple
	next := 0
	for _, found := range variableLine.FindAllStringSubmatch(placeOfVariable.ReplaceAllString(text, ""), -1) {
		if next < len(list) && isShown(list[next].Value.Fields, found[1], found[2]) {
			next++
			if found[2] != gone {
				all = append(all, list[next-1])
				continue
			}
		}
		all = append(all, mi.Field{Value: mi.Value{Fields: mi.Tuple{
			{Name: "name", Value: mi.Value{Str: strings.Clone(found[1])}}, {Name: "value", Value: mi.Value{Str: strings.Clone(found[2])}},
		}}})
	}
	if next < len(list) {
		return list
	}
	return all
}

// isShown reports whether the command line has shown this variable of the list, and not
// another of its name that hides it.
func isShown(variable mi.Tuple, name, value string) bool {
	return variable.Str("name") == name && (value != gone || variable.Str("value") == gone || isAllGone(variable.Str("value")))
}

// isAllGone reports whether all of a structure or array is optimized out: GDB/MI shows
// its members, the command line does not.
func isAllGone(value string) bool {
	return strings.HasPrefix(value, "{") && strings.Contains(value, gone) && !leftOver.MatchString(strings.ReplaceAll(value, gone, ""))
}

// leftOver matches a value among the members of a structure.
var leftOver = regexp.MustCompile(`= *[^ {},]|[{,] *[^ {},=]+ *[,}]`)

// askVariables asks for the variables of a frame: command is that of GDB/MI, path leads
// to its list, and line is the command for gdb's command line.
func (m *machine) askVariables(q *request, at []string, line string, then func(a answer, list mi.Tuple), path []string, command string, args ...string) {
	text := ""
	k := m.ask(q, func(a answer) { text = a.text }, "-interpreter-exec", append(slices.Clip(at), "console", line)...)
	k.print, k.apart = true, true
	k = m.ask(q, func(a answer) { then(a, withPlaceless(withoutEntryValues(a.Results.Path(path...).Fields), text)) }, command, append(slices.Clip(at), args...)...)
	k.print, k.apart = true, true
}
