// Lists of variables in GDB/MI.

package gdbtext

import (
	"slices"
	"strconv"

	"sdm/backend/mi"
)

// NamesAndValues reads a list of {name=…,value=…}. A name that is there already, as in an inner block,
// gets a number: "i#2".
func NamesAndValues(list mi.Tuple) (names, values []string) {
	for _, e := range list {
		name := e.Value.Fields.Str("name")
		unique := name
		for n := 2; slices.Contains(names, unique); n++ {
			unique = name + "#" + strconv.Itoa(n)
		}
		names = append(names, unique)
		values = append(values, Listed(e.Value.Fields.Str("value")))
	}
	return names, values
}

// maxListed bounds each value in a list of values, in bytes.
const maxListed = 4 << 10

// Listed returns a value as it is shown in a list: truncated to 4 KiB.
func Listed(value string) string {
	value, _ = Truncate(value, maxListed)
	return value
}

// WithField returns a tuple with the value of a field replaced.
func WithField(v mi.Value, name, value string) mi.Value {
	fields := append(mi.Tuple{}, v.Fields...)
	for i := range fields {
		if fields[i].Name == name {
			fields[i].Value = mi.Value{Str: value}
		}
	}
	v.Fields = fields
	return v
}
