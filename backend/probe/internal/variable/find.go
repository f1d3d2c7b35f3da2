// Package variable reads variables of programs by the debug information of their files: it finds names, follows
// components, pointers and arrays, and returns the bytes that are there. Memory is an interface.
package variable

import (
	"debug/dwarf"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"

	"sdm/backend/probe/internal/cfi"
	"sdm/backend/probe/internal/expression"
	"sdm/backend/probe/internal/image"
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
	maxKept    = 64      // results of searches
	maxEntries = 5 << 20 // that are read in a search: two to three seconds
	maxNested  = 200     // entries in one another
	maxSame    = 64      // variables with one name that are compared
)

var errNone = errors.New("there is no such variable")

// find returns a variable. An error is errNone, or says what is there instead.
func (n *Names) find(name expression.Name) (variable, error) {
	key := name.String()
	f, known := n.found[key]
	if !known {
		if len(n.found) == maxKept {
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
	s := &search{names: n, want: name, left: maxEntries, units: n.having(name.Parts[len(name.Parts)-1])}
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

// maxListed bounds the names in a message.
const maxListed = 3

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
	if len(names) > maxListed {
		names, more = names[:maxListed], ", ..."
	}
	return ambiguity(fmt.Sprintf("several variables are called %s: say which (%s%s)", name, strings.Join(names, ", "), more))
}

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

// maxOrigins bounds the references from an entry to the one that has its name.
const maxOrigins = 4

// origin returns the entry that has an attribute of e: e itself, or what it refers to; nil: none has.
func (n *Names) origin(e *dwarf.Entry, a dwarf.Attr) *dwarf.Entry {
	for range maxOrigins {
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
