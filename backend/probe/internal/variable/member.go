// Members of structures, those of bases among them.

package variable

import (
	"debug/dwarf"
	"fmt"
	"slices"
	"strings"

	"sdm/backend/probe/internal/cfi"
)

// member returns a component of x, or of what it points to.
func (v *evaluation) member(x object, field string) (object, error) {
	x, e, err := v.plain(x)
	if err == nil && e != nil && e.Tag == dwarf.TagPointerType {
		if x, err = v.follow(x, e); err == nil {
			e = v.typeOf(x.names, x.kind)
		}
	}
	switch {
	case err != nil:
		return x, err
	case x.array != nil || e != nil && e.Tag == dwarf.TagArrayType:
		return x, fmt.Errorf("%s is an array: give one element", x.text)
	case e == nil:
		return x, fmt.Errorf("the type of %s is not known in this file", x.text)
	case !isClass(e):
		return x, fmt.Errorf("%s has no components", x.text)
	}
	found, ok := v.component(x, e, field, 0)
	if ok {
		return found, nil
	}
	if x.unit.fortran { // class(...) is a structure with a pointer and a table
		if data, ok := v.component(x, e, "_data", 0); ok {
			return v.member(data, field)
		}
	}
	switch {
	case v.left < 0:
		return x, fmt.Errorf("the type of %s is too large", x.text)
	case v.several:
		return x, fmt.Errorf("%s has several components %s", x.text, field)
	}
	return x, fmt.Errorf("%s has no component %s", x.text, field)
}

// component looks for a component of a structure, also in its bases and in components without a name.
func (v *evaluation) component(x object, e *dwarf.Entry, field string, nested int) (object, bool) {
	if nested > maxDims || !e.Children {
		return x, false
	}
	r := x.names.debug.Data.Reader()
	r.Seek(e.Offset)
	if _, err := r.Next(); err != nil {
		return x, false
	}
	s := &search{names: x.names, left: v.left}
	var within []*dwarf.Entry // bases, and components without a name
	for {
		m := s.next(r)
		if m == nil || m.Tag == 0 {
			break
		}
		if m.Tag == dwarf.TagInheritance || m.Tag == dwarf.TagMember {
			name, named := m.Val(dwarf.AttrName).(string)
			switch external, _ := m.Val(dwarf.AttrExternal).(bool); {
			case external: // static
			case m.Tag == dwarf.TagMember && (name == field || x.unit.fortran && strings.EqualFold(name, field)):
				v.left = s.left
				return v.at(x, m)
			case !named:
				within = append(within, m)
			}
		}
		if m.Children {
			s.skip(r, m)
		}
	}
	v.left = s.left
	var found []object
	for _, m := range within {
		inner, ok := v.at(x, m)
		if !ok {
			continue
		}
		if e := v.typeOf(inner.names, inner.kind); e != nil && isClass(e) {
			if y, ok := v.component(inner, e, field, nested+1); ok && !slices.ContainsFunc(found, func(z object) bool { return z.addr == y.addr && z.kind == y.kind }) {
				found = append(found, y)
			}
		}
	}
	switch len(found) {
	case 0:
		return x, false
	case 1:
		return found[0], true
	}
	v.several = true
	return x, false
}

// at returns the component of x that an entry describes; ok is false if its place cannot be computed.
func (v *evaluation) at(x object, m *dwarf.Entry) (object, bool) {
	switch offset := m.Val(dwarf.AttrDataMemberLoc).(type) {
	case int64:
		x.addr += uint64(offset)
	case []byte:
		addr, ok := cfi.Evaluate(offset, v.mem, cfi.Object{Addr: x.addr}, x.addr)
		if !ok {
			return x, false
		}
		x.addr = addr
	}
	x.kind, _ = m.Val(dwarf.AttrType).(dwarf.Offset)
	bits, isField := m.Val(dwarf.AttrBitSize).(int64)
	if !isField {
		return x, true
	}
	if bits <= 0 || bits > 64 {
		return x, false
	}
	x.bits = uint64(bits)
	if first, ok := m.Val(dwarf.AttrDataBitOffset).(int64); ok {
		x.addr, x.shift = x.addr+uint64(first)/8, uint64(first)%8
		return x, first >= 0
	}
	size, ok := m.Val(dwarf.AttrByteSize).(int64) // the form before DWARF 4: from the most significant bit of a word
	if !ok {
		size, ok = v.sizeOf(x.names, x.kind)
	}
	before, _ := m.Val(dwarf.AttrBitOffset).(int64)
	first := size*8 - before - bits
	if !ok || size > 8 || first < 0 {
		return x, false
	}
	x.addr, x.shift = x.addr+uint64(first)/8, uint64(first)%8
	return x, true
}
