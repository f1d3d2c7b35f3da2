// Numbers, enumerations and names of types.

package ptp

import (
	"strconv"
	"strings"

	"sdm/protocol/ptp"
)

// named returns a type that has only its name so far.
func named(name string) *ptp.Type { return &ptp.Type{Name: name} }

// scalarWords are the words of C's arithmetic types.
var scalarWords = map[string]bool{
	"char": true, "short": true, "int": true, "long": true, "signed": true, "unsigned": true,
	"float": true, "double": true, "_Bool": true, "bool": true, "void": true, "__int128": true,
}

func (p *typeParser) scalar(first string) (*ptp.Type, error) {
	if !scalarWords[first] {
		if first == "complex" {
			w, _ := p.word()
			return p.complex(w)
		}
		name, err := p.qualified(first)
		p.qualifiers()
		return named(name), err
	}
	has := map[string]bool{first: true}
	for p.qualifiers(); scalarWords[p.peek()]; p.qualifiers() {
		w, _ := p.word()
		has[w] = true
	}
	switch {
	case has["void"]:
		return &ptp.Type{Kind: ptp.Pointer}, nil // valid only after a star, which discards it
	case has["float"] || has["double"]:
		return &ptp.Type{Kind: ptp.Float}, nil
	case has["char"] && !has["signed"]: // int8_t is a number
		return &ptp.Type{Kind: ptp.Char}, nil
	case has["_Bool"] || has["bool"]:
		return &ptp.Type{Kind: ptp.Bool}, nil
	case has["unsigned"]:
		return &ptp.Type{Kind: ptp.Unsigned}, nil
	}
	return &ptp.Type{Kind: ptp.Int}, nil
}

// complex is a complex number of C, from the words after "complex" on: a structure of two numbers,
// whose sizes element sets.
func (p *typeParser) complex(first string) (*ptp.Type, error) {
	part, err := p.scalar(first)
	if err != nil || part.Kind != ptp.Float {
		return nil, errType
	}
	return &ptp.Type{Kind: ptp.Struct, Name: complexName,
		Fields: []ptp.Field{{Name: "re", Type: part}, {Name: "im", Type: part}}}, nil
}

// qualified reads the rest of a name of C++: namespaces and arguments of templates, as gdb writes them.
func (p *typeParser) qualified(name string) (string, error) {
	for {
		switch {
		case name == "" && p.peek() == "(" || p.peek() == "::":
			if p.take("::") {
				name += "::"
			}
			if p.peek() == "(" { // anonymous namespace
				name += p.bracketed("(", ")")
				continue
			}
			w, ok := p.word()
			if !ok {
				return "", errType
			}
			name += w
		case p.peek() == "<" && name != "":
			name += p.bracketed("<", ">")
		default:
			if isOfLibrary(name) {
				return "", errType
			}
			return name, nil
		}
	}
}

// isOfLibrary reports whether a type is one of C++'s library.
func isOfLibrary(name string) bool { return strings.HasPrefix(name, "std::") }

func (p *typeParser) enumeration() (*ptp.Type, error) {
	if !p.take("class") {
		p.take("struct")
	}
	name, ok := p.word()
	if ok || p.peek() == "(" {
		var err error
		if name, err = p.qualified(name); err != nil {
			return nil, err
		}
	}
	for p.peek() == ":" || scalarWords[p.peek()] { // the type of its values
		p.tokens = p.tokens[1:]
	}
	if !p.take("{") {
		if name == "" {
			return nil, errType
		}
		return named("enum " + name), nil
	}
	t := &ptp.Type{Kind: ptp.Enum, Name: name}
	next := int64(0)
	for !p.take("}") {
		first, _ := p.word()
		constant, err := p.qualified(first)
		if err != nil || constant == "" {
			return nil, errType // gdb leaves out long lists, and prints sets of flags otherwise
		}
		if p.take("=") {
			v, err := strconv.ParseInt(p.peek(), 10, 64)
			if err != nil {
				return nil, errType
			}
			p.take(p.peek())
			next = v
		}
		t.Values = append(t.Values, ptp.Constant{Name: constant, Value: next})
		next++
		p.take(",")
	}
	return t, nil
}
