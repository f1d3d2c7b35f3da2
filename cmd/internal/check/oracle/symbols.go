// Variables, functions and types of a program, read from its debug information.

package oracle

// The symbols of a program, from its debug information. Sessions make expressions and locations of
// them.

import (
	"debug/dwarf"
	"debug/elf"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
)

// Shape tells what an expression of a type can be used for.
type Shape int

// The shapes of types.
const (
	Other Shape = iota
	Integer
	Floating
	Boolean
	Enumeration
	Pointer
	Array
	Structure
)

// Type is a type, as far as expressions need it.
type Type struct {
	Shape  Shape
	Name   string // as gdb accepts it; "" if it has none
	Elem   *Type  // of a pointer or array; nil for void
	Count  int    // of an array; 0 if unknown
	Fields []Variable
}

// Variable is a variable, parameter or member.
type Variable struct {
	Name string
	Type *Type
}

// Function is a function with code in the program's own sources.
type Function struct {
	Name   string // as gdb accepts it
	File   string // without directories
	Lines  []int  // with code, in order
	Params []Variable
	Locals []Variable
	Result *Type // nil for void
}

// Symbols are the declarations in the sources of a program.
type Symbols struct {
	Functions []Function
	Globals   []Variable
	Types     []string // names of structures
}

// ReadSymbols reads the debug information of an executable, as far as it comes from files in the
// directory sources.
func ReadSymbols(path, sources string) (*Symbols, error) {
	f, err := elf.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := f.DWARF()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	r := &symbolReader{data: data, sources: sources, types: map[dwarf.Offset]*Type{}, out: &Symbols{}}
	if err := r.units(); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	slices.SortFunc(r.out.Functions, func(a, b Function) int { return strings.Compare(a.Name, b.Name) })
	slices.SortFunc(r.out.Globals, func(a, b Variable) int { return strings.Compare(a.Name, b.Name) })
	slices.Sort(r.out.Types)
	r.out.Types = slices.Compact(r.out.Types)
	return r.out, nil
}

// symbolReader is the state of ReadSymbols.
type symbolReader struct {
	data    *dwarf.Data
	sources string
	types   map[dwarf.Offset]*Type
	out     *Symbols
	fortran bool
	lines   []dwarf.LineEntry // of the unit
	files   []*dwarf.LineFile
}

// units reads all compilation units.
func (r *symbolReader) units() error {
	d := r.data.Reader()
	for {
		e, err := d.Next()
		if e == nil || err != nil {
			return err
		}
		if e.Tag != dwarf.TagCompileUnit {
			d.SkipChildren()
			continue
		}
		if err := r.readLines(e); err != nil {
			return err
		}
		lang, _ := e.Val(dwarf.AttrLanguage).(int64)
		r.fortran = lang == 0x07 || lang == 0x08 || lang == 0x0e || lang == 0x22 || lang == 0x23 // DW_LANG_Fortran*
		if err := r.scope(d, e, "", nil); err != nil {
			return err
		}
	}
}

// readLines reads the line table of a unit.
func (r *symbolReader) readLines(unit *dwarf.Entry) error {
	r.lines, r.files = nil, nil
	lr, err := r.data.LineReader(unit)
	if err != nil || lr == nil {
		return err
	}
	for {
		var e dwarf.LineEntry
		switch err := lr.Next(&e); err {
		case nil:
			r.lines = append(r.lines, e)
		case io.EOF:
			r.files = lr.Files()
			return nil
		default:
			return err
		}
	}
}

// scope reads the children of an entry. prefix is the namespace or class that contains them; in is
// the function, or nil.
func (r *symbolReader) scope(d *dwarf.Reader, parent *dwarf.Entry, prefix string, in *Function) error {
	if !parent.Children {
		return nil
	}
	for {
		e, err := d.Next()
		if err != nil || e == nil || e.Tag == 0 {
			return err
		}
		if err := r.entry(d, e, prefix, in); err != nil {
			return err
		}
	}
}

// entry reads an entry and its children; see scope.
func (r *symbolReader) entry(d *dwarf.Reader, e *dwarf.Entry, prefix string, in *Function) error {
	name, _ := e.Val(dwarf.AttrName).(string)
	switch e.Tag {
	case dwarf.TagSubprogram:
		return r.function(d, e, prefix)
	case dwarf.TagLexDwarfBlock:
		return r.scope(d, e, prefix, in)
	case dwarf.TagNamespace, dwarf.TagModule:
		return r.scope(d, e, prefix+name+"::", in)
	case dwarf.TagFormalParameter, dwarf.TagVariable:
		if name != "" && r.isOwn(e) {
			r.variable(e, Variable{prefix + name, r.typeOf(e)}, in)
		}
	case dwarf.TagStructType, dwarf.TagClassType:
		if name != "" && r.isOwn(e) {
			r.out.Types = append(r.out.Types, prefix+name)
		}
	}
	d.SkipChildren()
	return nil
}

// variable adds a variable to a function, or to the globals if it has an address.
func (r *symbolReader) variable(e *dwarf.Entry, v Variable, in *Function) {
	switch {
	case in == nil && e.Val(dwarf.AttrLocation) != nil:
		r.out.Globals = append(r.out.Globals, v)
	case in == nil:
	case e.Tag == dwarf.TagFormalParameter:
		in.Params = append(in.Params, v)
	default:
		in.Locals = append(in.Locals, v)
	}
}

// function reads a function that has code of its own.
func (r *symbolReader) function(d *dwarf.Reader, e *dwarf.Entry, prefix string) error {
	declared := e
	for range 2 { // abstract origin, specification
		if declared.Val(dwarf.AttrName) != nil {
			break
		}
		for _, attr := range []dwarf.Attr{dwarf.AttrAbstractOrigin, dwarf.AttrSpecification} {
			if at, ok := declared.Val(attr).(dwarf.Offset); ok {
				declared = r.at(at)
			}
		}
	}
	name, _ := declared.Val(dwarf.AttrName).(string)
	ranges, err := r.data.Ranges(e)
	if err != nil {
		return err
	}
	f := Function{Name: prefix + name}
	f.File, f.Lines = r.linesIn(ranges)
	if name == "" || len(f.Lines) == 0 || strings.ContainsAny(name, "~<") || strings.HasPrefix(name, "operator") || declared != e &&
		prefix == "" {
		f.Lines = nil // names of members and instances are harder to give
	}
	if declared.Val(dwarf.AttrType) != nil {
		f.Result = r.typeOf(declared)
	}
	if err := r.scope(d, e, "", &f); err != nil {
		return err
	}
	if len(f.Lines) > 0 {
		r.out.Functions = append(r.out.Functions, f)
	}
	return nil
}

// at returns the entry at an offset, without attributes if there is none.
func (r *symbolReader) at(offset dwarf.Offset) *dwarf.Entry {
	d := r.data.Reader()
	d.Seek(offset)
	e, err := d.Next()
	if err != nil || e == nil {
		return &dwarf.Entry{}
	}
	return e
}

// linesIn returns the lines with code in ranges of addresses, and their file; none if the file is
// not one of ours.
func (r *symbolReader) linesIn(ranges [][2]uint64) (string, []int) {
	file, lines := "", map[int]bool{}
	for _, l := range r.lines {
		if !l.IsStmt || l.EndSequence || l.File == nil || !within(ranges, l.Address) || !r.ours(l.File.Name) {
			continue
		}
		if base := filepath.Base(l.File.Name); file == "" || base == file {
			file = base
			lines[l.Line] = true
		}
	}
	var sorted []int
	for n := range lines {
		sorted = append(sorted, n)
	}
	slices.Sort(sorted)
	return file, sorted
}

// within reports whether an address is in one of the ranges.
func within(ranges [][2]uint64, addr uint64) bool {
	return slices.ContainsFunc(ranges, func(r [2]uint64) bool { return r[0] <= addr && addr < r[1] })
}

// ours reports whether a file is one of the directory sources.
func (r *symbolReader) ours(path string) bool {
	return filepath.Dir(path) == r.sources || !filepath.IsAbs(path)
}

// isOwn reports whether an entry was declared in one of our files.
func (r *symbolReader) isOwn(e *dwarf.Entry) bool {
	n, ok := e.Val(dwarf.AttrDeclFile).(int64)
	return ok && int(n) < len(r.files) && r.files[n] != nil && r.ours(r.files[n].Name)
}

// typeOf returns the type of an entry; nil: none.
func (r *symbolReader) typeOf(e *dwarf.Entry) *Type {
	at, ok := e.Val(dwarf.AttrType).(dwarf.Offset)
	if !ok {
		return nil
	}
	return r.typeAt(at)
}

// typeAt returns the type at an offset. A type that contains itself is read once.
func (r *symbolReader) typeAt(at dwarf.Offset) *Type {
	if t, ok := r.types[at]; ok {
		return t
	}
	t := &Type{}
	r.types[at] = t
	d := r.data.Reader()
	d.Seek(at)
	e, err := d.Next()
	if err != nil || e == nil {
		return t
	}
	t.Name, _ = e.Val(dwarf.AttrName).(string)
	switch e.Tag {
	case dwarf.TagBaseType:
		t.Shape = baseShape(e)
	case dwarf.TagEnumerationType:
		t.Shape = Enumeration
	case dwarf.TagPointerType:
		t.Shape, t.Elem = Pointer, r.typeOf(e)
	case dwarf.TagArrayType:
		t.Shape, t.Elem = Array, r.typeOf(e)
		t.Count = arrayCount(d, e)
	case dwarf.TagStructType, dwarf.TagClassType, dwarf.TagUnionType:
		t.Shape = Structure
		r.members(d, e, t)
	case dwarf.TagTypedef, dwarf.TagConstType, dwarf.TagVolatileType, dwarf.TagReferenceType:
		if to := r.typeOf(e); to != nil {
			name := t.Name
			*t = *to
			if name != "" {
				t.Name = name
			}
		}
	}
	return t
}

// baseShape returns the shape of a base type.
func baseShape(e *dwarf.Entry) Shape {
	switch n, _ := e.Val(dwarf.AttrEncoding).(int64); n { // DWARF 5, table 7.11
	case 2:
		return Boolean
	case 4:
		return Floating
	case 5, 6, 7, 8:
		return Integer
	}
	return Other
}

// arrayCount returns the number of elements of an array; 0: unknown.
func arrayCount(d *dwarf.Reader, e *dwarf.Entry) int {
	if !e.Children {
		return 0
	}
	for {
		sub, err := d.Next()
		if err != nil || sub == nil || sub.Tag == 0 {
			return 0
		}
		if n, ok := sub.Val(dwarf.AttrUpperBound).(int64); ok {
			return int(n) + 1
		}
		if n, ok := sub.Val(dwarf.AttrCount).(int64); ok {
			return int(n)
		}
	}
}

// members reads the members of a structure.
func (r *symbolReader) members(d *dwarf.Reader, e *dwarf.Entry, t *Type) {
	if !e.Children {
		return
	}
	for {
		m, err := d.Next()
		if err != nil || m == nil || m.Tag == 0 {
			return
		}
		if name, _ := m.Val(dwarf.AttrName).(string); m.Tag == dwarf.TagMember && name != "" &&
			m.Val(dwarf.AttrExternal) == nil {
			at, _ := m.Val(dwarf.AttrType).(dwarf.Offset)
			t.Fields = append(t.Fields, Variable{name, nil})
			here := len(t.Fields) - 1
			t.Fields[here].Type = r.typeAt(at)
		}
		d.SkipChildren()
	}
}
