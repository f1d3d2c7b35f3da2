// A compilation unit.

package image

import (
	"debug/dwarf"
	"slices"
	"sort"
)

// unit is a compilation unit. At first only the entries outside of functions and classes are read; those
// within a function are read when an address in it is looked up.
type unit struct {
	data      *dwarf.Data
	entry     *dwarf.Entry
	limit     dwarf.Offset // end of its entries
	rows      []row        // ascending by address
	files     []*dwarf.LineFile
	dir       string // prefix of the names of files that gdb does not show
	split     bool   // its entries are in another file
	functions []function
	blocks    []block // ascending by offset
	deep      bool    // functions within functions and classes are among functions
}

// function is a range of a function.
type function struct {
	first, end uint64
	*body
}

// body is a function, which all its ranges share.
type body struct {
	entry   *dwarf.Entry
	inlined []inlined // functions that are inlined in it, in the order of entries: outer ones precede inner ones
	read    bool      // inlined has been read
}

// inlined is a range of a function that is inlined in another one.
type inlined struct {
	first, end uint64
	entry      *dwarf.Entry
	depth      int    // number of functions around it, from 1
	file       string // of the call
	line       int    // of the call
}

// block is a namespace, a class or a function with entries within it.
type block struct {
	first, end dwarf.Offset // end is 0 if it ends with the block around it
	scope      string       // of its entries: "ns::Class::"
	around     int          // index of the block around it; -1: none
	skipped    bool         // its entries have not been read
}

// maxNested bounds the depth of entries: lexical blocks and inlined functions in one another.
const maxNested = 200

// index reads the functions of a unit.
func (u *unit) index() {
	r := u.data.Reader()
	r.Seek(u.entry.Offset)
	if e, err := r.Next(); e != nil && err == nil && e.Children {
		u.level(r, "", -1, 0)
	}
}

// level reads the entries of a block, whose index is around, up to their end. scope is the scope of these
// entries.
func (u *unit) level(r *dwarf.Reader, scope string, around, nested int) {
	last := -1 // block that the next entry ends
	for {
		e, err := r.Next()
		if err != nil || e == nil || e.Tag == 0 {
			return
		}
		if last >= 0 {
			u.blocks[last].end = e.Offset
			last = -1
		}
		if e.Tag == dwarf.TagSubprogram {
			u.add(e)
		}
		if !e.Children {
			continue
		}
		inner, isBlock := scopeWithin(e, scope)
		if isBlock {
			last = len(u.blocks)
			u.blocks = append(u.blocks, block{first: e.Offset, scope: inner, around: around, skipped: true})
		}
		if e.Tag == dwarf.TagNamespace && nested < maxNested {
			u.blocks[last].skipped = false
			u.level(r, inner, last, nested+1)
		} else {
			skip(r, e)
		}
	}
}

// skip moves the reader after the children of e. It replaces dwarf.Reader.SkipChildren, which is recursive
// without a bound for damaged files.
func skip(r *dwarf.Reader, e *dwarf.Entry) {
	for within := 1; ; {
		if at, ok := e.Val(dwarf.AttrSibling).(dwarf.Offset); ok && at > e.Offset && e.Children {
			r.Seek(at)
			within--
		}
		if within == 0 {
			return
		}
		var err error
		if e, err = r.Next(); err != nil || e == nil {
			return
		}
		if e.Tag == 0 {
			within--
		} else if e.Children {
			within++
		}
	}
}

// scopeWithin returns the scope of the entries within e, and whether e is a block. scope is the scope
// of e itself.
func scopeWithin(e *dwarf.Entry, scope string) (inner string, isBlock bool) {
	switch e.Tag {
	case dwarf.TagNamespace, dwarf.TagStructType, dwarf.TagClassType, dwarf.TagUnionType:
		name, ok := e.Val(dwarf.AttrName).(string)
		if !ok {
			name = "(anonymous namespace)"
		}
		return scope + name + "::", true
	case dwarf.TagSubprogram:
		return "", true
	}
	return scope, false
}

// add adds the ranges of a function.
func (u *unit) add(e *dwarf.Entry) {
	ranges, err := u.data.Ranges(e)
	if err != nil || len(ranges) == 0 {
		return
	}
	b := &body{entry: e}
	for _, x := range ranges {
		u.functions = append(u.functions, function{x[0], x[1], b})
	}
}

// at returns the places of an address, the innermost first.
func (u *unit) at(addr uint64) []Place {
	f := u.function(addr)
	i := sort.Search(len(u.rows), func(i int) bool { return u.rows[i].addr > addr }) - 1
	switch {
	case i < 0 || u.rows[i].end:
		return nil
	case f == nil && u.split:
		return []Place{{"", u.rows[i].file, u.rows[i].line}}
	case f == nil:
		return nil
	}
	around := []*dwarf.Entry{f.entry} // functions that contain addr, outermost first
	calls := []inlined{{}}            // of each, the call that was inlined; the first is unused
	for _, x := range u.within(f) {
		if x.first <= addr && addr < x.end && x.depth == len(around) {
			around, calls = append(around, x.entry), append(calls, x)
		}
	}
	file, line := u.rows[i].file, u.rows[i].line
	var places []Place
	for i, e := range slices.Backward(around) {
		places = append(places, Place{u.name(e), file, line})
		file, line = calls[i].file, calls[i].line
	}
	return places
}

// function returns the function at an address; nil: there is none. Fortran has functions within
// functions.
func (u *unit) function(addr uint64) *body {
	for {
		for _, f := range u.functions {
			if f.first <= addr && addr < f.end {
				return f.body
			}
		}
		if u.deep {
			return nil
		}
		u.deep = true
		r := u.data.Reader()
		r.Seek(u.entry.Offset)
		if e, err := r.Next(); e != nil && err == nil && e.Children {
			u.walk(r, func(e *dwarf.Entry, depth int) int {
				if e.Tag == dwarf.TagSubprogram {
					u.add(e)
				}
				return depth
			}, 0, 0)
		}
	}
}

// walk calls do for all entries up to the end of the present level, and for the entries within them. do gets
// the depth of an entry and returns the depth for the entries within it; below 0: these are skipped.
func (u *unit) walk(r *dwarf.Reader, do func(e *dwarf.Entry, depth int) int, depth, nested int) {
	for {
		e, err := r.Next()
		if err != nil || e == nil || e.Tag == 0 {
			return
		}
		inner := do(e, depth)
		switch {
		case !e.Children:
		case nested == maxNested || inner < 0:
			skip(r, e)
		default:
			u.walk(r, do, inner, nested+1)
		}
	}
}

// within returns the functions that are inlined in a function. It reads them at the first call.
func (u *unit) within(b *body) []inlined {
	if b.read || !b.entry.Children {
		return b.inlined
	}
	b.read = true
	r := u.data.Reader()
	r.Seek(b.entry.Offset)
	if _, err := r.Next(); err != nil {
		return nil
	}
	u.walk(r, func(e *dwarf.Entry, depth int) int {
		switch e.Tag {
		case dwarf.TagInlinedSubroutine:
			u.inline(b, e, depth)
			return depth + 1
		case dwarf.TagSubprogram:
			return -1 // a nested function, which add has added
		}
		return depth
	}, 1, 0)
	return b.inlined
}

// inline adds the ranges of an inlined function.
func (u *unit) inline(b *body, e *dwarf.Entry, depth int) {
	ranges, err := u.data.Ranges(e)
	if err != nil {
		return
	}
	x := inlined{entry: e, depth: depth}
	if n, ok := e.Val(dwarf.AttrCallFile).(int64); ok && n >= 0 && n < int64(len(u.files)) {
		x.file = u.nameOf(u.files[n])
	}
	line, _ := e.Val(dwarf.AttrCallLine).(int64)
	x.line = int(line)
	for _, at := range ranges {
		x.first, x.end = at[0], at[1]
		b.inlined = append(b.inlined, x)
	}
}

// maxOrigins bounds the chain of references from the entry of a function to the one that has its name.
const maxOrigins = 4

// originOf returns the entry that has the name of a function, after at most further references.
func originOf(data *dwarf.Data, e *dwarf.Entry, further int) *dwarf.Entry {
	for _, a := range []dwarf.Attr{dwarf.AttrAbstractOrigin, dwarf.AttrSpecification} {
		at, ok := e.Val(a).(dwarf.Offset)
		if !ok || further == 0 {
			continue
		}
		r := data.Reader()
		r.Seek(at)
		if origin, err := r.Next(); err == nil && origin != nil {
			return originOf(data, origin, further-1)
		}
	}
	return e
}

// name returns the name of a function with its namespaces and classes.
func (u *unit) name(e *dwarf.Entry) string {
	origin := originOf(u.data, e, maxOrigins)
	name, _ := origin.Val(dwarf.AttrName).(string)
	return u.scope(origin.Offset) + name
}

// scope returns the namespaces and classes around the entry at an offset, as a prefix of its name; "" for an
// entry of another unit.
func (u *unit) scope(offset dwarf.Offset) string {
	if offset < u.entry.Offset || offset >= u.limit {
		return ""
	}
	i := sort.Search(len(u.blocks), func(i int) bool { return u.blocks[i].first >= offset }) - 1
	for i >= 0 && u.blocks[i].end != 0 && u.blocks[i].end <= offset {
		i = u.blocks[i].around
	}
	switch {
	case i < 0:
		return ""
	case u.blocks[i].skipped:
		return u.scopeIn(&u.blocks[i], offset)
	}
	return u.blocks[i].scope
}

// scopeIn returns the scope of an entry in a block whose entries have not been read.
func (u *unit) scopeIn(b *block, offset dwarf.Offset) string {
	r := u.data.Reader()
	r.Seek(b.first)
	if _, err := r.Next(); err != nil {
		return ""
	}
	scope := b.scope
	var before *dwarf.Entry // the entry before, if it has children
	for nested := 0; nested < maxNested; {
		e, err := r.Next()
		switch {
		case err != nil || e == nil:
			return ""
		case e.Tag != 0 && e.Offset == offset:
			return scope
		case e.Tag != 0 && e.Offset < offset:
			if before = nil; e.Children {
				before = e
				skip(r, e)
			}
		case before == nil: // there is no entry at the offset
			return ""
		default: // the entry is within before
			r.Seek(before.Offset)
			if _, err := r.Next(); err != nil {
				return ""
			}
			scope, _ = scopeWithin(before, scope)
			before = nil
			nested++
		}
	}
	return ""
}
