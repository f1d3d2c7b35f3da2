// Package variable reads variables of programs by the debug information of their files: it finds names, follows
// components, pointers and arrays, and returns the bytes that are there. Memory is an interface.
package variable

import (
	"bytes"
	"debug/dwarf"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"

	"sdm/backend/probe/cfi"
	"sdm/backend/probe/expression"
	"sdm/backend/probe/image"
)

// Names finds the variables of one file. What was found is kept. One goroutine uses it at a time.
type Names struct {
	debug  *image.Debug
	found  map[string]found
	whole  map[dwarf.Offset]dwarf.Offset // definitions of types by their declarations; 0: there is none
	linked []dwarf.Offset                // units whose name is artificial; nil: not looked for yet
}

// found is the result of a search.
type found struct {
	variable
	why error
}

// variable is a variable of a file.
type variable struct {
	location []byte // DWARF expression of its address
	kind     dwarf.Offset
	unit     unit
	external bool
	linkage  string // name in the symbol table, if it is another one
	called   string // name with what is around it
}

// unit is the compilation unit of an entry.
type unit struct {
	at        dwarf.Offset // first entry
	file      string
	fortran   bool
	addresses int64 // where its part of .debug_addr begins
}

// New returns the names of a file.
func New(d *image.Debug) *Names {
	return &Names{debug: d, found: map[string]found{}, whole: map[dwarf.Offset]dwarf.Offset{}}
}

const (
	mostKept    = 64      // results of searches
	mostEntries = 5 << 20 // that are read in a search: two to three seconds
	mostNested  = 200     // entries in one another
	mostSame    = 64      // variables with one name that are compared
)

var errNone = errors.New("there is no such variable")

// find returns a variable. An error is errNone, or says what is there instead.
func (n *Names) find(name expression.Name) (variable, error) {
	key := name.String()
	f, known := n.found[key]
	if !known {
		if len(n.found) == mostKept {
			clear(n.found)
		}
		f.variable, f.why = n.search(name)
		n.found[key] = f
	}
	return f.variable, f.why
}

// search looks for a variable outside of functions first: one that all files see, then a static one, then one in a
// namespace, class or module that the user has left out. Then static ones in functions are looked for.
func (n *Names) search(name expression.Name) (variable, error) {
	s := &search{names: n, want: name, left: mostEntries, units: n.having(name.Parts[len(name.Parts)-1])}
	for _, deep := range []bool{false, true} {
		s.deep = deep
		s.walkAll()
		if s.left <= 0 {
			return variable{}, fmt.Errorf("there is too much debug information to look for %s", name)
		}
		for _, all := range [][]variable{s.external, s.static, s.inner} {
			if len(all) == 0 {
				continue
			}
			if len(all) == 1 {
				return all[0], nil
			}
			return variable{}, ambiguous(name, all)
		}
	}
	switch {
	case s.local != "":
		return variable{}, fmt.Errorf("%s is a local variable of %s, which has no fixed place in memory: make it static or global", name, s.local)
	case s.removed:
		return variable{}, fmt.Errorf("%s has no fixed place in memory: it is a constant, or the compiler has removed it", name)
	case s.thread:
		return variable{}, fmt.Errorf("%s is a variable of each thread, which is not read", name)
	}
	return variable{}, errNone
}

// mostListed bounds the names in a message.
const mostListed = 3

// ambiguity is the error for a name that several variables have.
type ambiguity string

func (a ambiguity) Error() string { return string(a) }

func ambiguous(name expression.Name, all []variable) error {
	var names []string
	for _, v := range all {
		called := v.called
		if !strings.Contains(called, "::") {
			called = "'" + v.unit.file[strings.LastIndexByte(v.unit.file, '/')+1:] + "'::" + called
		}
		if !slices.Contains(names, called) {
			names = append(names, called)
		}
	}
	if len(names) == 1 {
		return ambiguity(fmt.Sprintf("%d variables are called %s, and their names do not tell them apart: give one of them another name", len(all), names[0]))
	}
	more := ""
	if len(names) > mostListed {
		names, more = names[:mostListed], ", ..."
	}
	return ambiguity(fmt.Sprintf("several variables are called %s: say which (%s%s)", name, strings.Join(names, ", "), more))
}

// search is one search.
type search struct {
	names *Names
	want  expression.Name
	deep  bool // within functions, too
	left  int  // entries that may be read
	units []dwarf.Offset
	unit  unit
	// What has been found: variables that all files see, those of one file, those in something that the user has not
	// named.
	external, static, inner []variable

	removed, thread bool   // there is one without a place, or one of each thread
	local           string // the function of a local one
}

// artificial is the name of units that refer to others for names: those of gcc after optimization at link time.
const artificial = "<artificial>"

// having returns the units that may have an entry with a name.
func (n *Names) having(name string) []dwarf.Offset {
	if strings.ContainsRune(name, '<') { // it may have blanks
		return n.debug.Units
	}
	if n.linked == nil {
		n.linked = []dwarf.Offset{}
		for _, at := range n.debug.Units {
			if e := n.entry(at); e != nil && e.Val(dwarf.AttrName) == artificial {
				n.linked = append(n.linked, at)
			}
		}
	}
	units := slices.Concat(n.linked, n.debug.Having(name))
	if lower := strings.ToLower(name); lower != name { // compilers of Fortran write names in lower case
		units = append(units, n.debug.Having(lower)...)
	}
	slices.Sort(units)
	return slices.Compact(units)
}

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

// isFile reports whether a path is that of a file, or ends with it.
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
// that of the function they are in; "": none.
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
		if enter && nested < mostNested {
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

// mostOrigins bounds the references from an entry to the one that has its name.
const mostOrigins = 4

// origin returns the entry that has an attribute of e: e itself, or what it refers to; nil: none has.
func (n *Names) origin(e *dwarf.Entry, a dwarf.Attr) *dwarf.Entry {
	for range mostOrigins {
		if e == nil || e.Val(a) != nil {
			return e
		}
		at, ok := e.Val(dwarf.AttrSpecification).(dwarf.Offset)
		if !ok {
			if at, ok = e.Val(dwarf.AttrAbstractOrigin).(dwarf.Offset); !ok {
				return nil
			}
		}
		e = n.entry(at)
	}
	return nil
}

// entry returns the entry at an offset; nil: there is none.
func (n *Names) entry(at dwarf.Offset) *dwarf.Entry {
	r := n.debug.Data.Reader()
	r.Seek(at)
	e, err := r.Next()
	if err != nil || e == nil || e.Tag == 0 {
		return nil
	}
	return e
}

func (n *Names) nameOf(e *dwarf.Entry) string {
	if e = n.origin(e, dwarf.AttrName); e == nil {
		return ""
	}
	name, _ := e.Val(dwarf.AttrName).(string)
	return name
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
	if len(*list) < mostSame && !slices.ContainsFunc(*list, same) {
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
	for nested := 0; nested < mostNested; {
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

// definition returns the entry that defines a type which is only declared at e; nil: none does in this file.
func (n *Names) definition(e *dwarf.Entry) *dwarf.Entry {
	name, _ := e.Val(dwarf.AttrName).(string)
	if name == "" {
		return nil
	}
	at, known := n.whole[e.Offset]
	if !known {
		s := &search{names: n, left: mostEntries}
		path := append(s.around(s.unitAt(e.Offset), e.Offset, nil), name)
		r := n.debug.Data.Reader()
		for _, unit := range n.having(name) {
			r.Seek(unit)
			if e := s.next(r); e != nil && e.Children && at == 0 {
				at = s.define(r, path, 0)
			}
		}
		if len(n.whole) == mostKept {
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
			if e.Children && nested < mostNested && at == 0 && len(here) == 0 {
				at = s.define(r, rest, nested+1)
				continue
			}
		}
		if e.Children {
			s.skip(r, e)
		}
	}
}

// address returns the address of a variable; ok is false if it cannot be computed.
func (n *Names) address(v *variable, mem cfi.Memory, bias uint64) (addr uint64, ok bool) {
	return cfi.Evaluate(v.location, mem, cfi.Object{Bias: bias, Indexed: func(i uint64) (uint64, bool) {
		at := uint64(v.unit.addresses) + 8*i
		if i > uint64(len(n.debug.Addresses)) || v.unit.addresses < 0 || at > uint64(len(n.debug.Addresses)) || uint64(len(n.debug.Addresses))-at < 8 {
			return 0, false
		}
		return binary.LittleEndian.Uint64(n.debug.Addresses[at:]), true
	}})
}
