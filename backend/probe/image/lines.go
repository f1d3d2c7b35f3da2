// Lines and inlined functions.

package image

import (
	"debug/dwarf"
	"slices"
	"sort"
	"strings"
)

// Place is a function and a line in it.
type Place struct {
	Function string
	File     string // as the compiler named it; "": not known
	Line     int    // 0: not known
}

// Lines are the lines of an image, by the addresses of its file. Each compilation unit is read
// when it is needed first. One goroutine uses it at a time.
type Lines struct {
	data  *dwarf.Data
	units []unitRange // ascending
	read  map[dwarf.Offset]*unit
}

type unitRange struct {
	first, end uint64
	entry      *dwarf.Entry
}

// unit is a compilation unit that has been read.
type unit struct {
	rows      []row // ascending by address
	functions []function
	files     []*dwarf.LineFile
	dir       string                  // that begins the names of files as gdb does not show them
	scopes    map[dwarf.Offset]string // of functions in namespaces and classes: "ns::Class::"
}

// row is the line from an address on; a row with end has none.
type row struct {
	addr uint64
	file string
	line int
	end  bool
}

// function is a range of a function or of one that is inlined there.
type function struct {
	first, end uint64
	origin     *dwarf.Entry // has the name
	depth      int          // 0: a function; from 1: inlined in one of lower depth
	file       string
	line       int // of the call, with depth from 1
}

// ReadLines returns the lines of an ELF file; nil if it has no debug information. The bytes are used
// as long as the lines are.
func ReadLines(data []byte) (l *Lines, err error) {
	if problem := protect(func() { l, err = readLines(data) }); problem != nil {
		return nil, problem
	}
	return l, err
}

func readLines(data []byte) (*Lines, error) {
	f, err := parseFile(data)
	if err != nil {
		return nil, err
	}
	d, err := f.dwarf()
	if d == nil || err != nil {
		return nil, err
	}
	l := &Lines{data: d, read: map[dwarf.Offset]*unit{}}
	return l, l.findUnits()
}

func (l *Lines) findUnits() error {
	r := l.data.Reader()
	for {
		e, err := r.Next()
		if e == nil || err != nil {
			break
		}
		if e.Tag == dwarf.TagCompileUnit {
			ranges, _ := l.data.Ranges(e)
			for _, x := range ranges {
				l.units = append(l.units, unitRange{x[0], x[1], e})
			}
		}
		r.SkipChildren()
	}
	slices.SortFunc(l.units, func(a, b unitRange) int { return compare(a.first, b.first) })
	return nil
}

func compare(a, b uint64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// At returns the places of an address, the innermost inlined function first and the function
// itself last; none if nothing is known.
func (l *Lines) At(addr uint64) (places []Place) {
	if l == nil {
		return nil
	}
	if err := protect(func() { places = l.at(addr) }); err != nil {
		return nil
	}
	return places
}

func (l *Lines) at(addr uint64) []Place {
	i := sort.Search(len(l.units), func(i int) bool { return l.units[i].first > addr }) - 1
	if i < 0 || addr >= l.units[i].end {
		return nil
	}
	return l.unit(l.units[i].entry).at(addr)
}

func (l *Lines) unit(e *dwarf.Entry) *unit {
	u := l.read[e.Offset]
	if u == nil {
		u = &unit{dir: directory(e), scopes: map[dwarf.Offset]string{}}
		l.read[e.Offset] = u
		u.readRows(l.data, e)
		u.readFunctions(l.data, e)
	}
	return u
}

// readRows reads the line table. Its sequences may be in any order. Of several rows for one
// address the last that begins a statement counts; line 0 means that of the row before.
func (u *unit) readRows(data *dwarf.Data, e *dwarf.Entry) {
	r, err := data.LineReader(e)
	if r == nil || err != nil {
		return
	}
	u.files = r.Files()
	var x dwarf.LineEntry
	for r.Next(&x) == nil {
		n := len(u.rows)
		switch {
		case x.EndSequence:
			u.rows = append(u.rows, row{addr: x.Address, end: true})
		case n > 0 && !u.rows[n-1].end && (x.Line == 0 || u.rows[n-1].addr == x.Address && !x.IsStmt):
		case n > 0 && u.rows[n-1].addr == x.Address && !u.rows[n-1].end:
			u.rows[n-1] = row{addr: x.Address, file: u.nameOf(x.File), line: x.Line}
		default:
			u.rows = append(u.rows, row{addr: x.Address, file: u.nameOf(x.File), line: x.Line})
		}
	}
	slices.SortStableFunc(u.rows, func(a, b row) int {
		switch {
		case a.addr != b.addr:
			return compare(a.addr, b.addr)
		case a.end == b.end:
			return 0
		case a.end: // the next sequence begins where one ends
			return -1
		}
		return 1
	})
}

// directory returns the directory in which a unit was compiled by a relative name, with a slash;
// otherwise "".
func directory(e *dwarf.Entry) string {
	name, _ := e.Val(dwarf.AttrName).(string)
	dir, _ := e.Val(dwarf.AttrCompDir).(string)
	if dir == "" || strings.HasPrefix(name, "/") {
		return ""
	}
	return dir + "/"
}

// nameOf returns the name of a file as it was given to the compiler.
func (u *unit) nameOf(f *dwarf.LineFile) string {
	if f == nil {
		return ""
	}
	return strings.TrimPrefix(f.Name, u.dir)
}

// mostNested bounds the depth of entries: lexical blocks and inlined functions in one another.
const mostNested = 200

// readFunctions reads the functions of a unit and those inlined in them.
func (u *unit) readFunctions(data *dwarf.Data, e *dwarf.Entry) {
	r := data.Reader()
	r.Seek(e.Offset)
	_, _ = r.Next()
	u.children(data, r, "", 0, 0)
}

// children reads the entries up to the end of a parent's; scope is the name of the namespaces and
// classes around them, and depth the number of functions.
func (u *unit) children(data *dwarf.Data, r *dwarf.Reader, scope string, depth, nested int) {
	for {
		e, err := r.Next()
		if err != nil || e == nil || e.Tag == 0 {
			return
		}
		inner, within := u.entry(data, e, scope, depth)
		switch {
		case !e.Children:
		case nested == mostNested:
			r.SkipChildren()
		default:
			u.children(data, r, inner, within, nested+1)
		}
	}
}

// entry reads an entry; it returns the scope and the depth of its children.
func (u *unit) entry(data *dwarf.Data, e *dwarf.Entry, scope string, depth int) (string, int) {
	switch e.Tag {
	case dwarf.TagNamespace, dwarf.TagStructType, dwarf.TagClassType, dwarf.TagUnionType:
		name, ok := e.Val(dwarf.AttrName).(string)
		if !ok {
			name = "(anonymous namespace)"
		}
		return scope + name + "::", depth
	case dwarf.TagSubprogram:
		u.scopes[e.Offset] = scope
		u.add(data, e, 0)
		return "", 1
	case dwarf.TagInlinedSubroutine:
		u.add(data, e, depth)
		return scope, depth + 1
	}
	return scope, depth
}

func (u *unit) add(data *dwarf.Data, e *dwarf.Entry, depth int) {
	ranges, err := data.Ranges(e)
	if err != nil || len(ranges) == 0 {
		return
	}
	f := function{origin: originOf(data, e, mostOrigins), depth: depth}
	if n, ok := e.Val(dwarf.AttrCallFile).(int64); ok && n >= 0 && n < int64(len(u.files)) {
		f.file = u.nameOf(u.files[n])
	}
	line, _ := e.Val(dwarf.AttrCallLine).(int64)
	f.line = int(line)
	for _, x := range ranges {
		f.first, f.end = x[0], x[1]
		u.functions = append(u.functions, f)
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
func (u *unit) name(f *function) string {
	name, _ := f.origin.Val(dwarf.AttrName).(string)
	return u.scopes[f.origin.Offset] + name
}

// at returns the places of an address.
func (u *unit) at(addr uint64) []Place {
	var around []function
	for _, f := range u.functions {
		if f.first <= addr && addr < f.end && f.depth == len(around) { // entries follow those around them
			around = append(around, f)
		}
	}
	i := sort.Search(len(u.rows), func(i int) bool { return u.rows[i].addr > addr }) - 1
	if len(around) == 0 || i < 0 || u.rows[i].end {
		return nil
	}
	file, line := u.rows[i].file, u.rows[i].line
	var places []Place
	for _, f := range slices.Backward(around) {
		places = append(places, Place{u.name(&f), file, line})
		file, line = f.file, f.line
	}
	return places
}
