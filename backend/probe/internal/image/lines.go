// Lines and inlined functions.

package image

import (
	"cmp"
	"debug/dwarf"
	"slices"
	"sort"
	"strings"
)

// Place is a function and a line in it.
type Place struct {
	Function string // "": its entry is in another file, so that only symbols tell it
	File     string // as the compiler named it; "": not known
	Line     int    // 0: not known
}

// Lines are the lines of an image, by the addresses of its file. Compilation units, and functions in them,
// are read when they are needed for the first time. One goroutine uses it at a time.
type Lines struct {
	data  *dwarf.Data
	units []unitRange // ascending
	read  map[dwarf.Offset]*unit
}

// unitRange is a range of addresses of a compilation unit.
type unitRange struct {
	first, end uint64
	entry      *dwarf.Entry
	limit      dwarf.Offset // end of its entries
}

// row is the line of the addresses from addr to the next row. A row with end marks the end of a sequence.
type row struct {
	addr uint64
	file string
	line int
	end  bool
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
	d, info, err := f.dwarf()
	if d == nil || err != nil {
		return nil, err
	}
	l := &Lines{data: d, read: map[dwarf.Offset]*unit{}}
	l.findUnits(firstEntries(info))
	slices.SortFunc(l.units, func(a, b unitRange) int { return cmp.Compare(a.first, b.first) })
	return l, nil
}

// findUnits finds the ranges of units whose first entries are at these offsets, ascending.
func (l *Lines) findUnits(offsets []dwarf.Offset) {
	r := l.data.Reader()
	for i, at := range offsets {
		end := ^dwarf.Offset(0)
		if i+1 < len(offsets) {
			end = offsets[i+1]
		}
		r.Seek(at)
		if e, err := r.Next(); e != nil && err == nil {
			l.addUnit(e, end)
		}
	}
}

// addUnit adds the ranges of a compilation unit; end is the end of its entries.
func (l *Lines) addUnit(e *dwarf.Entry, end dwarf.Offset) {
	if e.Tag != dwarf.TagCompileUnit && e.Tag != dwarf.TagSkeletonUnit {
		return
	}
	ranges, _ := l.data.Ranges(e)
	for _, x := range ranges {
		l.units = append(l.units, unitRange{x[0], x[1], e, end})
	}
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
	return l.unit(&l.units[i]).at(addr)
}

// unit returns the unit of a range, which is read if necessary.
func (l *Lines) unit(x *unitRange) *unit {
	u := l.read[x.entry.Offset]
	if u == nil {
		u = &unit{data: l.data, entry: x.entry, limit: x.limit, dir: directory(x.entry), split: isSplit(x.entry)}
		l.read[x.entry.Offset] = u
		u.readRows(l.data, x.entry)
		u.index()
	}
	return u
}

// isSplit reports whether the entries of a unit are in another file (-gsplit-dwarf). Its lines are in the program.
func isSplit(e *dwarf.Entry) bool {
	const dwoNameGNU = 0x2130 // DW_AT_GNU_dwo_name, before DWARF 5
	return e.Tag == dwarf.TagSkeletonUnit || e.AttrField(dwoNameGNU) != nil
}

// readRows reads the line table. Its sequences may be in any order. Of several rows for one address the last
// one that begins a statement is kept. A row with line 0 is left out, so that the row before applies.
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
			return cmp.Compare(a.addr, b.addr)
		case a.end == b.end:
			return 0
		case a.end: // the next sequence begins where one ends
			return -1
		}
		return 1
	})
}

// directory returns the directory in which a unit was compiled, with a slash at the end; "" if the name of
// its source file is absolute.
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
