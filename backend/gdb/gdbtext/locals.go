// Output of "info locals".

package gdbtext

import (
	"slices"
	"strings"

	"sdm/backend/mi"
	"sdm/protocol/pattern"
)

// variableLine matches the first line of a variable; the following lines of its value are indented.
var variableLine = pattern.New(`(?m)^([A-Za-z_$][^ =\n]*) = (.*)$`)

// OptimizedOut is the value of a variable that has been optimized out.
const OptimizedOut = "<optimized out>"

// placeOfVariable matches what gdb 18 appends to variables of one name in several blocks.
var placeOfVariable = pattern.New(`(?m)\t<[^\t\n]*:[0-9]+(?:, shadowed)?>$`)

// WithoutEntryValues removes the values that arguments had when the function was called ("n@entry"):
// the command line of gdb shows those in frames only.
func WithoutEntryValues(list mi.Tuple) mi.Tuple {
	isEntry := func(f mi.Field) bool { return strings.HasSuffix(f.Value.Fields.Str("name"), "@entry") }
	return slices.DeleteFunc(slices.Clone(list), isEntry)
}

// WithOmitted returns a list of variables of GDB/MI, completed by those that only text, the output of
// "info locals", shows. If some variables of the list are not in text, the list is returned unchanged.
func WithOmitted(list mi.Tuple, text string) mi.Tuple {
	var all mi.Tuple
	next := 0
	for _, found := range variableLine.FindAllStringSubmatch(placeOfVariable.ReplaceAllString(text, ""), -1) {
		if next < len(list) && isShown(list[next].Value.Fields, found[1], found[2]) {
			next++
			if found[2] != OptimizedOut {
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

// isShown reports whether a line of the command line is about a variable of the list, and not about
// another one of its name.
func isShown(variable mi.Tuple, name, value string) bool {
	return variable.Str("name") == name && (value != OptimizedOut || variable.Str("value") == OptimizedOut ||
		IsOptimizedOut(variable.Str("value")))
}

// IsOptimizedOut reports whether all of a structure or an array has been optimized out: GDB/MI shows its
// members then, the command line does not.
func IsOptimizedOut(value string) bool {
	return strings.HasPrefix(value, "{") && strings.Contains(value, OptimizedOut) &&
		!leftOver.MatchString(strings.ReplaceAll(value, OptimizedOut, ""))
}

// leftOver matches a value among the members of a structure.
var leftOver = pattern.New(`= *[^ {},]|[{,] *[^ {},=]+ *[,}]`)
