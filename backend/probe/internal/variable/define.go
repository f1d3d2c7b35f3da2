// Definitions of types, by their declarations.

package variable

import (
	"debug/dwarf"
)

// definition returns the entry that defines a type which is only declared at e; nil: none does in this file.
func (n *Names) definition(e *dwarf.Entry) *dwarf.Entry {
	name, _ := e.Val(dwarf.AttrName).(string)
	if name == "" {
		return nil
	}
	at, known := n.whole[e.Offset]
	if !known {
		s := &search{names: n, left: maxEntries}
		path := append(s.around(s.unitAt(e.Offset), e.Offset, nil), name)
		r := n.debug.Data.Reader()
		for _, unit := range n.having(name) {
			r.Seek(unit)
			if e := s.next(r); e != nil && e.Children && at == 0 {
				at = s.define(r, path, 0)
			}
		}
		if len(n.whole) == maxKept {
			clear(n.whole)
		}
		n.whole[e.Offset] = at
	}
	if at == 0 {
		return nil
	}
	return n.entry(at)
}

// define returns the offset of the first definition of a type on the present level or in its namespaces; 0: there is
// none. path are the names of the namespaces, as in within, and of the type.
func (s *search) define(r *dwarf.Reader, path []string, nested int) (at dwarf.Offset) {
	for {
		e := s.next(r)
		if e == nil || e.Tag == 0 {
			return at
		}
		switch e.Tag {
		case dwarf.TagStructType, dwarf.TagClassType, dwarf.TagUnionType:
			declared, _ := e.Val(dwarf.AttrDeclaration).(bool)
			if x, _ := e.Val(dwarf.AttrName).(string); len(path) == 1 && x == path[0] && !declared && at == 0 {
				at = e.Offset
			}
		case dwarf.TagNamespace, dwarf.TagModule:
			rest, here := path, within(nil, e)
			if len(here) > 0 && len(path) > 1 && here[0] == path[0] {
				rest, here = path[1:], nil
			}
			if e.Children && nested < maxNested && at == 0 && len(here) == 0 {
				at = s.define(r, rest, nested+1)
				continue
			}
		}
		if e.Children {
			s.skip(r, e)
		}
	}
}
