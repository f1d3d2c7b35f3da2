// Values of Fortran, as gdb's Fortran prints them.

package ptp

import (
	"errors"
	"fmt"
	"math/big"
	"regexp"
	"strings"

	"sdm/protocol/ptp"
)

// fortranValue is a value as gdb's Fortran prints it: a scalar, or the parts of an array or of a derived
// type.
type fortranValue struct {
	raw   string // all of it
	text  string // of a scalar; of characters, without quotes
	parts []fortranValue
	names []string // of the parts of a derived type
}

var errFortran = errors.New("the value cannot be read")

// fortranReader reads values from the front of a text.
type fortranReader struct {
	rest  string
	depth int
}

func parseFortranValue(text string) (fortranValue, error) {
	r := &fortranReader{rest: strings.TrimSpace(text)}
	v, err := r.value()
	if err == nil && strings.TrimSpace(r.rest) != "" {
		err = errFortran
	}
	return v, err
}

// typePrefix precedes the address of a pointer.
var typePrefix = regexp.MustCompile(`^\(PTR TO -> \(.*\)\) (?:0x|@)`)

// value reads a scalar; "(1, 2)" or "((1, 2) (3, 4))", an array or a complex number; or
// "( x = 1, y = (2, 3) )", a derived type.
func (r *fortranReader) value() (v fortranValue, err error) {
	whole := r.rest
	if r.depth++; r.depth > maxNested {
		return v, errFortran
	}
	if found := typePrefix.FindString(r.rest); found != "" {
		r.rest = r.rest[len(found)-2:]
	}
	switch {
	case strings.HasPrefix(r.rest, "( "):
		v.names, v.parts, err = r.members()
	case strings.HasPrefix(r.rest, "("):
		v.parts, err = r.list()
	case strings.HasPrefix(r.rest, "'"):
		v.text, err = r.characters()
	default:
		v.text = r.scalar()
	}
	r.depth--
	v.raw = whole[:len(whole)-len(r.rest)]
	return v, err
}

func (r *fortranReader) take(text string) (ok bool) {
	r.rest, ok = strings.CutPrefix(r.rest, text)
	return ok
}

// members reads "( name = VALUE, name = VALUE )".
func (r *fortranReader) members() (names []string, parts []fortranValue, err error) {
	for r.take("( "); ; {
		name, rest, ok := strings.Cut(r.rest, " = ")
		if !ok || strings.ContainsAny(name, "=,|;(){}") {
			return nil, nil, errFortran
		}
		r.rest = rest
		v, err := r.value()
		if err != nil {
			return nil, nil, err
		}
		names, parts = append(names, name), append(parts, v)
		if r.take(" )") {
			return names, parts, nil
		}
		if !r.take(", ") {
			return nil, nil, errFortran
		}
	}
}

// list reads elements up to the closing parenthesis. What gdb has left out is a part of its own.
func (r *fortranReader) list() (parts []fortranValue, err error) {
	for r.take("("); !r.take(")"); {
		if r.rest == "" {
			return nil, errFortran
		}
		v, err := r.value()
		if err != nil {
			return nil, err
		}
		parts = append(parts, v)
		if !r.take(", ") && !r.take(",") {
			r.take(" ")
		}
	}
	return parts, nil
}

// characters reads text in quotes; what is not whole is an error.
func (r *fortranReader) characters() (string, error) {
	var b strings.Builder
	for i := 1; i < len(r.rest); i++ {
		switch c := r.rest[i]; {
		case c == '\'':
			r.rest = r.rest[i+1:]
			if r.take("...") {
				b.WriteString("...")
			}
			return b.String(), nil
		case c == '\\' && i+1 < len(r.rest):
			n, plain := escaped(r.rest[i+1:])
			b.WriteByte(plain)
			i += n
		default:
			b.WriteByte(c)
		}
	}
	return "", errFortran
}

// scalar reads up to the end of an element; "0x10 <name+8>" and "-nan(0x400000)" are one.
func (r *fortranReader) scalar() string {
	open := 0
	for i := range len(r.rest) {
		switch c := r.rest[i]; {
		case c == '<' || c == '(':
			open++
		case open > 0 && (c == '>' || c == ')'):
			open--
		case open == 0 && (c == ',' || c == ')' || strings.HasPrefix(r.rest[i:], " )")):
			text := r.rest[:i]
			r.rest = r.rest[i:]
			return text
		}
	}
	text := r.rest
	r.rest = ""
	return text
}

// value returns a value of the type in AIF.
func (t fortranType) value(v fortranValue) (ptp.Value, error) {
	switch {
	case len(t.bounds) > 0:
		array, err := t.elements(v, len(t.bounds)-1)
		if err != nil && t.kind == ptp.Float { // some are beyond a double, and text
			t.kind = ptp.TextKind
			return t.elements(v, len(t.bounds)-1)
		}
		return array, err
	case t.kind == ptp.Struct:
		return t.derived(v)
	case v.parts != nil && t.kind != 0:
		return ptp.Value{}, errFortran
	}
	switch t.kind {
	case ptp.Int:
		n, ok := new(big.Int).SetString(v.text, 10)
		if !ok {
			return ptp.Value{}, errFortran
		}
		return (&ptp.Type{Kind: ptp.Int, Size: t.size}).FromNumber(n)
	case ptp.Bool:
		n := int64(0)
		if v.text != ".FALSE." && v.text != "0" {
			n = 1
		}
		return (&ptp.Type{Kind: ptp.Bool, Size: 1}).FromNumber(big.NewInt(n))
	case ptp.Float:
		return floatOf(&ptp.Type{Kind: ptp.Float, Size: t.size}, v.text)
	case ptp.Pointer:
		word, _, _ := strings.Cut(v.text, " ")
		addr, ok := new(big.Int).SetString(word, 0)
		if !ok || !addr.IsUint64() {
			return ptp.Value{}, errFortran
		}
		return ptp.PointerTo(t.size, addr.Uint64(), nil), nil
	case ptp.TextKind:
		return ptp.TextValue(v.text), nil
	}
	if len(v.raw) > maxRaw {
		v.raw = v.raw[:maxRaw] + "..."
	}
	return ptp.TextValue(v.raw), nil
}

// maxRaw bounds the text of a value that is not read, in bytes.
const maxRaw = 200

// derived returns the members of a derived type in turn; arrays have no data there. Members whose types
// are not known are text.
func (t fortranType) derived(v fortranValue) (ptp.Value, error) {
	if len(t.members) == 0 {
		for _, name := range v.names {
			t.members = append(t.members, fortranMember{name: name})
		}
	}
	if len(v.parts) != len(t.members) {
		return ptp.Value{}, fmt.Errorf("%d members of %d", len(v.parts), len(t.members))
	}
	var names []string
	var values []ptp.Value
	for i, m := range t.members {
		of := m.of
		if !of.isKnown() {
			of = fortranType{}
		}
		if len(of.bounds) > 0 {
			names, values = append(names, m.name), append(values, ptp.Value{Format: of.format()})
			continue
		}
		value, err := of.value(v.parts[i])
		if err != nil {
			return ptp.Value{}, err
		}
		names, values = append(names, m.name), append(values, value)
	}
	return ptp.Members(t.name, names, values), nil
}

// elements returns the elements of an array: AIF's dimensions are in the order of C.
func (t fortranType) elements(v fortranValue, dimension int) (ptp.Value, error) {
	if dimension < 0 {
		return t.element().value(v)
	}
	if len(v.parts) != t.bounds[dimension].count {
		return ptp.Value{}, fmt.Errorf("%d elements of %d", len(v.parts), t.bounds[dimension].count)
	}
	data, format := []byte{}, ""
	for i, part := range v.parts {
		one, err := t.elements(part, dimension-1)
		if err != nil {
			return one, err
		}
		if i > 0 && one.Format != format {
			return one, errFortran
		}
		data, format = append(data, one.Data...), one.Format
	}
	if len(v.parts) == 0 {
		t.bounds = t.bounds[:dimension]
		format = t.format()
	}
	return ptp.Elements(len(v.parts), format, data), nil
}

// format returns the format of the type in AIF. Arrays whose bounds are not known are text.
func (t fortranType) format() string {
	switch {
	case !t.isKnown():
		return ptp.TextValue("").Format
	case len(t.bounds) > 0:
		format := t.element().format()
		for _, b := range t.bounds {
			format = ptp.Elements(b.count, format, nil).Format
		}
		return format
	case t.kind == ptp.Struct:
		var names []string
		var values []ptp.Value
		for _, m := range t.members {
			names, values = append(names, m.name), append(values, ptp.Value{Format: m.of.format()})
		}
		return ptp.Members(t.name, names, values).Format
	}
	v, _ := t.value(fortranValue{text: "0"}) // 0 is a value of all kinds
	return v.Format
}
