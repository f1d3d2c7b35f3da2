// Writing records as text.

package mi

import "strconv"

// Append appends the record as gdb writes it, without a newline; the parser reads the same record
// from it. Tapes, tests and fake gdbs use it.
func (r Record) Append(b []byte) []byte {
	switch r.Class {
	case Prompt:
		return append(b, "(gdb) "...)
	case Other:
		return append(b, r.Text...)
	}
	if r.Token >= 0 {
		b = strconv.AppendInt(b, r.Token, 10)
	}
	b = append(b, r.Class.String()...)
	switch r.Class {
	case Console, Target, Log:
		return appendCString(b, r.Text)
	}
	b = append(b, r.Name...)
	if len(r.Results) > 0 {
		b = append(b, ',')
	}
	return r.Results.Append(b)
}

// Append appends the fields of a tuple without braces around them.
func (t Tuple) Append(b []byte) []byte {
	for i := range t {
		if i > 0 {
			b = append(b, ',')
		}
		if t[i].Name != "" {
			b = append(append(b, t[i].Name...), '=')
		}
		b = t[i].Value.Append(b)
	}
	return b
}

// Append appends a value.
func (v Value) Append(b []byte) []byte {
	switch v.Kind {
	case TupleValue:
		return append(v.Fields.Append(append(b, '{')), '}')
	case ListValue:
		return append(v.Fields.Append(append(b, '[')), ']')
	}
	return appendCString(b, v.Str)
}

// String returns the record as one line of text.
func (r Record) String() string { return string(r.Append(nil)) }
