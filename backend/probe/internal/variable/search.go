// The search of debug information for variables with a name.

package variable

import (
	"bytes"
	"debug/dwarf"
	"slices"
	"strings"

	"sdm/backend/probe/internal/expression"
)

// search is one search.
type search struct {
	names *Names
	want  expression.Name
	deep  bool // within functions, too
	left  int  // entries that may be read
	units []dwarf.Offset
	unit  unit
	// What has been found: variables that all files see, variables of one file, variables in something that the user
	// has not named.
	external, static, inner []variable

	removed, thread bool   // there is one without a place, or one of each thread
	local           string // the function of a local one
}

// artificial is the name of units that refer to others for names: gcc makes them when it optimizes at link
// time.
const artificial = "<artificial>"

// walkAll visits the units.
func (s *search) walkAll() {
	r := s.names.debug.Data.Reader()
	for _, at := range s.units {
		r.Seek(at)
		e, err := r.Next()
		if err != nil || e == nil || !e.Children {
			continue
		}
		s.unit = unitOf(e)
		s.walk(r, nil, "", 0)
	}
}

// isFile reports whether a path is the name file, or ends with it.
func isFile(path, file string) bool { return path == file || strings.HasSuffix(path, "/"+file) }

// languages are the codes of Fortran (DWARF 5, table 7.17, and later additions).
var languages = []int64{0x07, 0x08, 0x0e, 0x22, 0x23, 0x2d}

func unitOf(e *dwarf.Entry) unit {
	u := unit{at: e.Offset}
	u.file, _ = e.Val(dwarf.AttrName).(string)
	language, _ := e.Val(dwarf.AttrLanguage).(int64)
	u.fortran = slices.Contains(languages, language)
	u.addresses, _ = e.Val(dwarf.AttrAddrBase).(int64)
	return u
}

// walk visits the entries up to the end of the present level. around are the names of what they are in, and function
// is the name of the function they are in; "": none.
func (s *search) walk(r *dwarf.Reader, around []string, function string, nested int) {
	for {
		e := s.next(r)
		if e == nil || e.Tag == 0 {
			return
		}
		if e.Tag == dwarf.TagVariable || s.deep && e.Tag == dwarf.TagFormalParameter {
			s.look(e, around, function)
		}
		if !e.Children {
			continue
		}
		inner, inFunction, enter := around, function, false
		switch e.Tag {
		case dwarf.TagNamespace, dwarf.TagModule:
			inner, enter = within(around, e), true
		case dwarf.TagCommonDwarfBlock:
			enter = true
		case dwarf.TagSubprogram:
			if enter = s.deep; enter {
				inFunction = s.names.nameOf(e)
				inner = append(slices.Clip(around), inFunction)
			}
		case dwarf.TagLexDwarfBlock, dwarf.TagInlinedSubroutine:
			enter = s.deep
		}
		if enter && nested < maxNested {
			s.walk(r, inner, inFunction, nested+1)
		} else {
			s.skip(r, e)
		}
	}
}

// within returns the names around the entries of a namespace or module. Namespaces without a name, and inline ones,
// need not be written.
func within(around []string, e *dwarf.Entry) []string {
	name, named := e.Val(dwarf.AttrName).(string)
	if inline, _ := e.Val(dwarf.AttrExportSymbols).(bool); !named || inline {
		return around
	}
	return append(slices.Clip(around), name)
}

// next returns the next entry; nil: there is none, or too many have been read.
func (s *search) next(r *dwarf.Reader) *dwarf.Entry {
	if s.left--; s.left <= 0 {
		return nil
	}
	e, err := r.Next()
	if err != nil {
		return nil
	}
	return e
}

// skip moves the reader after the entries within e.
func (s *search) skip(r *dwarf.Reader, e *dwarf.Entry) {
	for open := 1; open > 0; {
		if at, ok := e.Val(dwarf.AttrSibling).(dwarf.Offset); ok && at > e.Offset && e.Children {
			r.Seek(at)
			if open--; open == 0 {
				return
			}
		}
		if e = s.next(r); e == nil {
			return
		}
		if e.Tag == 0 {
			open--
		} else if e.Children {
			open++
		}
	}
}

// look adds a variable if it has the name that is looked for.
func (s *search) look(e *dwarf.Entry, around []string, function string) {
	named := s.names.origin(e, dwarf.AttrName)
	if named == nil {
		return
	}
	name, _ := named.Val(dwarf.AttrName).(string)
	last := len(s.want.Parts) - 1
	if !s.equal(name, s.want.Parts[last]) {
		return
	}
	if declared, _ := e.Val(dwarf.AttrDeclaration).(bool); declared {
		return
	}
	v := variable{unit: s.unit}
	if named != e {
		from := s.unitAt(named.Offset) // another one after optimization at link time
		v.unit.file = from.file
		around = s.around(from, named.Offset, around)
	}
	if s.want.File != "" && !isFile(v.unit.file, s.want.File) {
		return
	}
	full := append(slices.Clip(around), name)
	more := len(full) - len(s.want.Parts) // parts that the user has not written
	if more < 0 || more > 0 && s.want.Whole || !slices.EqualFunc(full[more:], s.want.Parts, s.equal) {
		return
	}
	v.called = strings.Join(full, "::")
	v.location, _ = e.Val(dwarf.AttrLocation).([]byte)
	switch n := len(v.location); {
	case n > 0 && (v.location[0] == opAddr || v.location[0] == opAddrx):
	case n > 0 && (v.location[n-1] == opThread || v.location[n-1] == opThreadGNU):
		s.thread = true
		return
	case function != "":
		s.local = function
		return
	default:
		s.removed = true
		return
	}
	if typed := s.names.origin(e, dwarf.AttrType); typed != nil {
		v.kind, _ = typed.Val(dwarf.AttrType).(dwarf.Offset)
	}
	if x := s.names.origin(e, dwarf.AttrLinkageName); x != nil {
		v.linkage, _ = x.Val(dwarf.AttrLinkageName).(string)
	} else {
		v.linkage = name
	}
	if x := s.names.origin(e, dwarf.AttrExternal); x != nil && function == "" {
		v.external, _ = x.Val(dwarf.AttrExternal).(bool)
	}
	list := &s.static
	switch {
	case more > 0:
		list = &s.inner
	case v.external:
		list = &s.external
	}
	same := func(x variable) bool {
		return bytes.Equal(x.location, v.location) && x.unit.addresses == v.unit.addresses
	}
	if len(*list) < maxSame && !slices.ContainsFunc(*list, same) {
		*list = append(*list, v)
	}
}

// Operations of DWARF (DWARF 5, 7.7.1, and an extension of GNU).
const (
	opAddr      = 0x03
	opAddrx     = 0xa1
	opThread    = 0x9b
	opThreadGNU = 0xe0
)

// equal compares a name of the debug information with one that the user has written.
func (s *search) equal(name, written string) bool {
	if s.unit.fortran {
		return strings.EqualFold(name, written)
	}
	return name == written || strings.ContainsRune(name, '<') && expression.Plain(name) == written
}

// unitAt returns the unit of an entry.
func (s *search) unitAt(offset dwarf.Offset) unit {
	i, _ := slices.BinarySearch(s.names.debug.Units, offset+1)
	if i == 0 || s.names.debug.Units[i-1] == s.unit.at {
		return s.unit
	}
	e := s.names.entry(s.names.debug.Units[i-1])
	if e == nil {
		return s.unit
	}
	return unitOf(e)
}

// around returns the names of what is around the entry at an offset of a unit; otherwise if they are not known.
func (s *search) around(from unit, offset dwarf.Offset, otherwise []string) (names []string) {
	r := s.names.debug.Data.Reader()
	r.Seek(from.at)
	if e := s.next(r); e == nil || offset < from.at {
		return otherwise
	}
	var before *dwarf.Entry // the entry before, if it has children
	for nested := 0; nested < maxNested; {
		e := s.next(r)
		switch {
		case e == nil && before == nil:
			return otherwise
		case e != nil && e.Tag != 0 && e.Offset == offset:
			return names
		case e != nil && e.Tag != 0 && e.Offset < offset:
			if before = nil; e.Children {
				before = e
				s.skip(r, e)
			}
		case before == nil: // there is no entry at the offset
			return otherwise
		default: // the entry is within before
			r.Seek(before.Offset)
			if s.next(r) == nil {
				return otherwise
			}
			switch before.Tag {
			case dwarf.TagNamespace, dwarf.TagModule, dwarf.TagStructType, dwarf.TagClassType, dwarf.TagUnionType:
				names = within(names, before)
			case dwarf.TagSubprogram:
				names = append(names, s.names.nameOf(before))
			}
			before = nil
			nested++
		}
	}
	return otherwise
}
