// Declarators of types: pointers, dimensions, sizes.

package ptp

import (
	"fmt"
	"strconv"

	"sdm/protocol/ptp"
)

// declarator reads the name of a variable, if any, with pointers and dimensions, and returns the
// resulting type; size is the size of the variable in bytes. A pointer has no element type.
func (p *typeParser) declarator(base *ptp.Type, size int) (name string, t *ptp.Type, err error) {
	stars := 0
	for ; p.take("*") || p.take("&"); p.qualifiers() { // a reference is an address, too
		stars++
	}
	var counts []int
	if p.take("(") { // a pointer to a function, or to an array
		if stars, counts, name, err = p.inParentheses(); err != nil {
			return "", nil, err
		}
		base = nil
	} else {
		name, _ = p.word()
		if counts, err = p.dimensions(); err != nil {
			return "", nil, err
		}
	}
	each := size
	for _, n := range counts {
		if n == 0 { // without a bound; no element can be shown
			t = &ptp.Type{Kind: ptp.TextKind}
			break
		}
		each /= n
	}
	if t == nil {
		t, err = p.element(base, stars, each)
	}
	for i := len(counts) - 1; i >= 0 && err == nil; i-- {
		t = &ptp.Type{Kind: ptp.Array, Size: t.Size * counts[i], Count: counts[i], Elem: t}
	}
	return name, t, err
}

// inParentheses reads "*name[2])(int, char *)", after the first parenthesis.
func (p *typeParser) inParentheses() (stars int, counts []int, name string, err error) {
	for ; p.take("*") || p.take("&"); p.qualifiers() {
		stars++
	}
	name, _ = p.word()
	if counts, err = p.dimensions(); err != nil || stars == 0 || !p.take(")") {
		return 0, nil, "", errType
	}
	for open := 0; open > 0 || p.peek() == "(" || p.peek() == "["; {
		switch w := p.peek(); w {
		case "":
			return 0, nil, "", errType
		case "(", "[":
			open++
		case ")", "]":
			open--
		}
		p.tokens = p.tokens[1:]
	}
	return stars, counts, name, nil
}

func (p *typeParser) dimensions() ([]int, error) {
	var counts []int
	for p.take("[") {
		n := 0
		if p.peek() != "]" {
			var err error
			if n, err = strconv.Atoi(p.peek()); err != nil || n < 0 || n > 1<<30 { // with a computed bound
				return nil, errType
			}
			p.take(p.peek())
		}
		if !p.take("]") {
			return nil, errType
		}
		counts = append(counts, n)
	}
	return counts, nil
}

// element returns the type without its dimensions.
func (p *typeParser) element(base *ptp.Type, stars, size int) (*ptp.Type, error) {
	isEmpty := base != nil && stars == 0 && base.Kind == ptp.Struct && len(base.Fields) == 0 // in C of no bytes
	if size < 1 && !(isEmpty && size == 0) {
		return nil, errType
	}
	if stars > 0 {
		t := &ptp.Type{Kind: ptp.Pointer, Size: size}
		if stars == 1 && base != nil && base.Kind == ptp.Char {
			t.Kind = ptp.CharPointer
		}
		return t, nil
	}
	switch {
	case base == nil || base.Kind == ptp.Pointer: // void
		return nil, errType
	case base.Kind == 0:
		t, err := p.resolve(base.Name, size)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", base.Name, err)
		}
		return t, nil
	}
	t := *base
	if t.Name == complexName && len(t.Fields) == 2 && t.Fields[0].Type.Size == 0 {
		return complexOf(t, size), nil
	}
	t.Size = size
	return &t, nil
}

const complexName = "complex"

// complexOf returns a complex number of a size in bytes.
func complexOf(t ptp.Type, size int) *ptp.Type {
	part := *t.Fields[0].Type
	part.Size = size / 2
	t.Size = size
	t.Fields = []ptp.Field{{Name: "re", Type: &part}, {Name: "im", Type: &part, Offset: size / 2}}
	return &t
}
