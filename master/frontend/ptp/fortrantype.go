// Types of Fortran, as the C of gdb prints them.

package ptp

import "sdm/protocol/ptp"

// characters reads how gdb's C shows the type of Fortran's characters: <invalid type code 13>.
func (p *typeParser) characters() (*ptp.Type, error) {
	for _, word := range []string{"<", "invalid", "type", "code"} {
		if !p.take(word) {
			return nil, errType
		}
	}
	p.take(p.peek())
	if !p.take(">") {
		return nil, errType
	}
	return &ptp.Type{Kind: ptp.FixedText}, nil
}

// fortranKinds are the numbers of Fortran, as real(kind=8).
var fortranKinds = map[string]ptp.Kind{"integer": ptp.Int, "real": ptp.Float, "logical": ptp.Bool, "complex": ptp.Struct}

// fortran reads a number of Fortran, behind its name; nil: it is none.
func (p *typeParser) fortran(name string) *ptp.Type {
	kind, ok := fortranKinds[name]
	if !ok || len(p.tokens) < 2 || p.tokens[0].text != "(" || p.tokens[1].text != "kind" {
		return nil
	}
	for p.peek() != "" && !p.take(")") {
		p.tokens = p.tokens[1:]
	}
	if kind != ptp.Struct {
		return &ptp.Type{Kind: kind}
	}
	part := &ptp.Type{Kind: ptp.Float}
	return &ptp.Type{Kind: ptp.Struct, Name: complexName, Fields: []ptp.Field{{Name: "re", Type: part}, {Name: "im", Type: part}}}
}
