// Records back to text.

package mi

import "strconv"

// Append writes the record as gdb would, without a newline: what ParseLine
// reads from it is the same record. It serves tapes, tests and fake gdbs.
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

// Append writes the fields of a tuple without braces around them.
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

// Append writes a value.
func (v Value) Append(b []byte) []byte {
	switch v.Kind {
	case TupleValue:
		return append(v.Fields.Append(append(b, '{')), '}')
	case ListValue:
		return append(v.Fields.Append(append(b, '[')), ']')
	}
	return appendCString(b, v.Str)
}

// String gives the record as one line of text.
func (r Record) String() string { return string(r.Append(nil)) }
