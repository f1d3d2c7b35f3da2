// The variables of a frame: those that GDB/MI lists, and those that it leaves out.

package gdb

import (
	"regexp"
	"slices"
	"strings"

	"sdm/backend/mi"
)

// GDB/MI lists no variable that has no place: one that is optimised out, or that has become a constant
// (list_args_or_locals, mi-cmd-stack.c). The command line does. It is asked for the names in their order, where structures and
// arrays are cut to one line each; the values come by GDB/MI.
const (
	localsLine = "with print max-depth 0 -- info locals"
	argsLine   = "with print max-depth 0 -- info args"
)

// variableLine is how gdb begins to show a variable; what goes on in further lines is indented.
var variableLine = regexp.MustCompile(`(?m)^([A-Za-z_$][^ =\n]*) = (.*)$`)

// gone is the value of a variable that the compiler has left nothing of.
const gone = "<optimized out>"

// placeOfVariable is what gdb 18 adds to variables of one name in several blocks.
var placeOfVariable = regexp.MustCompile(`(?m)\t<[^\t\n]*:[0-9]+(?:, shadowed)?>$`)

// withoutEntryValues leaves out what arguments were when the function was called ("n@entry"): gdb's command line shows those
// in frames only.
func withoutEntryValues(list mi.Tuple) mi.Tuple {
	isEntry := func(f mi.Field) bool { return strings.HasSuffix(f.Value.Fields.Str("name"), "@entry") }
	return slices.DeleteFunc(slices.Clone(list), isEntry)
}

// withPlaceless gives the list that GDB/MI has made of variables, with those that only gdb's command line has told. A text in
// which the list is not found again is none of that list.
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

// isShown tells whether gdb's command line has shown a variable of the list: one of its name may be hidden by it.
func isShown(variable mi.Tuple, name, value string) bool {
	return variable.Str("name") == name && (value != gone || variable.Str("value") == gone || isAllGone(variable.Str("value")))
}

// isAllGone tells whether nothing is left of a structure or an array: GDB/MI shows its members, gdb's command line none.
func isAllGone(value string) bool {
	return strings.HasPrefix(value, "{") && strings.Contains(value, gone) && !leftOver.MatchString(strings.ReplaceAll(value, gone, ""))
}

// leftOver is a value among the members of a structure.
var leftOver = regexp.MustCompile(`= *[^ {},]|[{,] *[^ {},=]+ *[,}]`)

// askVariables asks for those of a frame: command is that of GDB/MI, under path stands its list, and line is that of gdb's
// command line.
func (m *machine) askVariables(q *request, at []string, line string, then func(a answer, list mi.Tuple), path []string, command string, args ...string) {
	text := ""
	k := m.ask(q, func(a answer) { text = a.text }, "-interpreter-exec", append(slices.Clip(at), "console", line)...)
	k.print, k.apart = true, true
	k = m.ask(q, func(a answer) { then(a, withPlaceless(withoutEntryValues(a.Results.Path(path...).Fields), text)) }, command, append(slices.Clip(at), args...)...)
	k.print, k.apart = true, true
}
