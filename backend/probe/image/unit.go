// A compilation unit.

package image

import (
	"debug/dwarf"
	"slices"
	"sort"
)

// unit is a compilation unit. Of its entries those are read first that are not within functions and
// classes; what is within a function is read when an address in it is asked for.
type unit struct {
	data      *dwarf.Data
	entry     *dwarf.Entry
	behind    dwarf.Offset // its entries are before this
	rows      []row        // ascending by address
	files     []*dwarf.LineFile
	dir       string // that begins the names of files as gdb does not show them
	functions []function
	blocks    []block // ascending by offset
	deep      bool    // functions within functions and classes are among functions
}

// function is a range of a function.
type function struct {
	first, end uint64
	*body
}

// body is a function, whatever its ranges are.
type body struct {
	entry   *dwarf.Entry
	inlined []inlined // within; in the order of entries, so that each follows those around it
	read    bool      // inlined has been read
}

// inlined is a range of a function that is inlined in another one.
type inlined struct {
	first, end uint64
	entry      *dwarf.Entry
	depth      int // from 1
	file       string
	line       int // of the call
}

// block is a namespace, a class or a function with its entries.
type block struct {
	first, end dwarf.Offset // end is 0 if it ends with the block around it
	scope      string       // of its entries: "ns::Class::"
	around     int          // number of the block around it; -1: none
	skipped    bool         // its entries have not been read
}

// mostNested bounds the depth of entries: lexical blocks and inlined functions in one another.
const mostNested = 200

// index reads the functions of a unit.
func (u *unit) index() {
	r := u.data.Reader()
	r.Seek(u.entry.Offset)
	if e, err := r.Next(); e != nil && err == nil && e.Children {
		u.level(r, "", -1, 0)
	}
}

// level reads the entries up to the end of a block's.
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
		if e.Tag == dwarf.TagNamespace && nested < mostNested {
			u.blocks[last].skipped = false
			u.level(r, inner, last, nested+1)
		} else {
			skip(r, e)
		}
	}
}

// skip goes to the entry behind those within an entry. (SkipChildren of the library calls itself for each
// level, of which a damaged file may have any number.)
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

// scopeWithin returns the scope of what is within an entry, and whether the entry is a block.
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

// at returns the places of an address.
func (u *unit) at(addr uint64) []Place {
	f := u.function(addr)
	i := sort.Search(len(u.rows), func(i int) bool { return u.rows[i].addr > addr }) - 1
	if f == nil || i < 0 || u.rows[i].end {
		return nil
	}
	around := []*dwarf.Entry{f.entry}
	calls := []inlined{{}}
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

// walk calls do for all entries up to the end of those within an entry, and for those within them. do
// gets a number and returns that for those within.
func (u *unit) walk(r *dwarf.Reader, do func(e *dwarf.Entry, depth int) int, depth, nested int) {
	for {
		e, err := r.Next()
		if err != nil || e == nil || e.Tag == 0 {
			return
		}
		inner := do(e, depth)
		switch {
		case !e.Children:
		case nested == mostNested || inner < 0:
			skip(r, e)
		default:
			u.walk(r, do, inner, nested+1)
		}
	}
}

// within returns what is inlined in a function.
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
			return -1 // a function of its own
		}
		return depth
	}, 1, 0)
	return b.inlined
}

// inline adds the ranges of a function that is inlined.
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

// mostOrigins bounds the references from an entry to the one with the name.
const mostOrigins = 4

// originOf returns the entry that has the name of a function.
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
	origin := originOf(u.data, e, mostOrigins)
	name, _ := origin.Val(dwarf.AttrName).(string)
	return u.scope(origin.Offset) + name
}

// scope returns the namespaces and classes around an entry; "" for one of another unit.
func (u *unit) scope(offset dwarf.Offset) string {
	if offset < u.entry.Offset || offset >= u.behind {
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
	var before *dwarf.Entry // the last one with entries within
	for nested := 0; nested < mostNested; {
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
		case before == nil: // it is not there
			return ""
		default: // it is within the one before
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
