// Values of expressions.

package variable

import (
	"cmp"
	"debug/dwarf"
	"encoding/binary"
	"fmt"
	"strings"

	"sdm/backend/probe/internal/cfi"
	"sdm/backend/probe/internal/expression"
	"sdm/backend/probe/internal/image"
)

// Image is a file with variables at its place in a process.
type Image interface {
	// Names returns the names in its debug information; nil: it has none that can be read.
	Names() *Names
	// Symbols returns its symbols; nil: it has none that can be read.
	Symbols() *image.Symbols
	// Bias is the difference between addresses in the process and in the file.
	Bias() uint64
}

// Value is the value of an expression.
type Value struct {
	// Addr is where it is; 0: it was computed.
	Addr uint64
	// Size is the number of bytes there.
	Size uint64
	// Bytes are the first maxBytes bytes at most. Of a bit field the bits are shifted to bit 0.
	Bytes []byte
}

// maxBytes bounds the bytes of a value that are read.
const maxBytes = 64 << 10

// Evaluate returns the value of an expression in a process. images are the program and its libraries in the order in
// which names are looked for. An error says in one line why there is no value, and what the user can do.
func Evaluate(e *expression.Expr, images []Image, mem cfi.Memory) (value Value, err error) {
	problem := image.Protect(func() {
		v := &evaluation{images: images, mem: mem, left: maxVisited}
		var x object
		if x, err = v.of(e); err == nil {
			value, err = v.read(x)
		}
	})
	return value, cmp.Or(problem, err)
}

// evaluation is the evaluation of one expression.
type evaluation struct {
	images  []Image
	mem     cfi.Memory
	left    int  // entries of types that may be visited
	several bool // a component was not found because several bases have one with its name
}

const (
	maxVisited = 100_000 // entries of types
	maxAliases = 64      // typedefs and qualifiers in a row
	maxDims    = 15
)

// object is a value on the way: an object in memory, or a number.
type object struct {
	text   string // as the user has written it
	names  *Names
	unit   unit
	addr   uint64
	kind   dwarf.Offset // its type; 0: not known
	size   uint64       // of one without a type
	array  []dimension  // of an array whose first indices were given; nil: see kind
	bits   uint64       // of a bit field; 0: it is none
	shift  uint64       // first bit of a bit field
	number *int64       // it is this number
}

// dimension is a dimension of an array.
type dimension struct {
	lower, count int64 // count is -1 if it is not known
	stride       int64 // bytes from one element to the next
}

func (v *evaluation) of(e *expression.Expr) (object, error) {
	switch e.Op {
	case expression.Variable:
		return v.variable(e)
	case expression.Number:
		return object{text: e.String(), number: &e.Value}, nil
	case expression.Sum, expression.Difference, expression.Product:
		return v.compute(e)
	}
	x, err := v.of(e.Of)
	if err != nil {
		return x, err
	}
	if x.number != nil || x.names == nil || x.kind == 0 {
		if x.size > 0 {
			return x, fmt.Errorf("there is no debug information for %s: compile the program with -g, or give the name of a variable alone", x.text)
		}
		return x, fmt.Errorf("the type of %s is not known", x.text)
	}
	switch e.Op {
	case expression.Member:
		x, err = v.member(x, e.Field)
	case expression.Element:
		x, err = v.element(x, e.Indices)
	default:
		x, err = v.target(x)
	}
	x.text = e.String()
	return x, err
}

// variable looks a name up in each image.
func (v *evaluation) variable(e *expression.Expr) (x object, err error) {
	missing := fmt.Errorf("there is no global or static variable %s", e.Name)
	var bare *object // without its type: an image that describes it may follow
	for i, m := range v.images {
		n := m.Names()
		if n == nil && i == 0 {
			missing = fmt.Errorf("%w, or no debug information for it: compile the program with -g", missing)
		}
		if n != nil {
			found, why := n.find(e.Name)
			if why == nil {
				x, err := v.place(e, n, &found, m)
				if bare == nil || x.addr == bare.addr {
					return x, err
				}
			}
			if _, several := why.(ambiguity); several && bare == nil {
				return x, why
			}
			if why != nil && why != errNone {
				missing = why
			}
		}
		if bare != nil {
			continue
		}
		for _, name := range symbolsOf(e.Name) {
			if addr, size, ok := m.Symbols().Variable(name, false); ok && size > 0 && bare == nil {
				bare = &object{text: e.String(), addr: addr + m.Bias(), size: size}
			}
		}
	}
	if bare != nil {
		return *bare, nil
	}
	return x, missing
}

// place returns a variable of an image. A program may have its own copy of a variable of a library, which all images
// use then.
func (v *evaluation) place(e *expression.Expr, n *Names, f *variable, m Image) (x object, err error) {
	x = object{text: e.String(), names: n, unit: f.unit, kind: f.kind}
	addr, ok := n.address(f, v.mem, m.Bias())
	if program := v.images[0]; f.external && m != program {
		if copied, size, is := program.Symbols().Variable(f.linkage, true); is && size > 0 {
			addr, ok = copied+program.Bias(), true
		}
	}
	if x.addr = addr; !ok {
		return x, fmt.Errorf("the place of %s in memory cannot be computed", e)
	}
	return x, nil
}

// symbolsOf returns the names that a variable may have in a symbol table: as C, Fortran (gfortran) and, without
// templates, C++ (Itanium C++ ABI, 5.1) form them.
func symbolsOf(n expression.Name) []string {
	if n.File != "" {
		return nil
	}
	if len(n.Parts) == 1 {
		return n.Parts
	}
	nested := "_ZN"
	for _, p := range n.Parts {
		nested += fmt.Sprint(len(p)) + p
	}
	names := []string{nested + "E"}
	if len(n.Parts) == 2 {
		names = append(names, "__"+strings.ToLower(n.Parts[0])+"_MOD_"+strings.ToLower(n.Parts[1]))
	}
	return names
}

// aliases are the types that only give another one a name or a qualifier.
var aliases = map[dwarf.Tag]bool{
	dwarf.TagTypedef: true, dwarf.TagConstType: true, dwarf.TagVolatileType: true, dwarf.TagRestrictType: true,
	dwarf.TagPackedType: true, dwarf.TagSharedType: true, dwarf.TagAtomicType: true, dwarf.TagImmutableType: true,
}

// typeOf returns the entry of a type without aliases and declarations; nil: it is void, or not known.
func (v *evaluation) typeOf(n *Names, kind dwarf.Offset) *dwarf.Entry {
	for range maxAliases {
		if v.left--; kind == 0 || v.left < 0 {
			return nil
		}
		e := n.entry(kind)
		switch {
		case e == nil:
			return nil
		case aliases[e.Tag]:
			kind, _ = e.Val(dwarf.AttrType).(dwarf.Offset)
		case isClass(e):
			if declared, _ := e.Val(dwarf.AttrDeclaration).(bool); declared {
				return n.definition(e)
			}
			return e
		default:
			return e
		}
	}
	return nil
}

func isClass(e *dwarf.Entry) bool {
	return e.Tag == dwarf.TagStructType || e.Tag == dwarf.TagClassType || e.Tag == dwarf.TagUnionType
}

func isReference(e *dwarf.Entry) bool {
	return e.Tag == dwarf.TagReferenceType || e.Tag == dwarf.TagRvalueReferenceType
}

// follow returns what a pointer or reference points to; e is its type.
func (v *evaluation) follow(x object, e *dwarf.Entry) (object, error) {
	var b [8]byte
	if !v.mem.Read(x.addr, b[:]) {
		return x, unreadable(x)
	}
	to := binary.LittleEndian.Uint64(b[:])
	if to == 0 {
		if x.unit.fortran {
			return x, fmt.Errorf("%s is not allocated or associated", x.text)
		}
		return x, fmt.Errorf("%s is a null pointer", x.text)
	}
	x.addr = to
	x.kind, _ = e.Val(dwarf.AttrType).(dwarf.Offset)
	return x, nil
}

func unreadable(x object) error {
	return fmt.Errorf("%s cannot be read: there is no memory at its address", x.text)
}

// plain follows references, and in Fortran pointers, whose targets have the names. It returns the type, which is nil if
// x is a part of an array, or the type is not known.
func (v *evaluation) plain(x object) (object, *dwarf.Entry, error) {
	for range maxAliases {
		if x.array != nil || x.names == nil {
			return x, nil, nil
		}
		e := v.typeOf(x.names, x.kind)
		if e == nil || !isReference(e) && !(x.unit.fortran && e.Tag == dwarf.TagPointerType) {
			return x, e, nil
		}
		var err error
		if x, err = v.follow(x, e); err != nil {
			return x, nil, err
		}
	}
	return x, nil, nil
}

// target returns what a pointer points to, or the first element of an array.
func (v *evaluation) target(x object) (object, error) {
	if x.unit.fortran && x.array == nil { // pointers are followed without a sign, but gdb wants one
		if e := v.typeOf(x.names, x.kind); e != nil && e.Tag == dwarf.TagPointerType {
			return v.follow(x, e)
		}
	}
	x, e, err := v.plain(x)
	switch {
	case err != nil:
		return x, err
	case x.array != nil || e != nil && e.Tag == dwarf.TagArrayType:
		return v.elementAt(x, e, nil)
	case e == nil || e.Tag != dwarf.TagPointerType:
		return x, fmt.Errorf("%s is no pointer", x.text)
	}
	return v.follow(x, e)
}

// sizeOf returns the size of a type that is the same for all objects of it.
func (v *evaluation) sizeOf(n *Names, kind dwarf.Offset) (size int64, ok bool) {
	factor := int64(1)
	for range maxDims {
		e := v.typeOf(n, kind)
		if e == nil {
			return 0, false
		}
		if size, ok := e.Val(dwarf.AttrByteSize).(int64); ok {
			return size * factor, size > 0 && size <= maxCount && size*factor <= maxCount
		}
		if isReference(e) || e.Tag == dwarf.TagPointerType {
			return 8 * factor, true
		}
		if e.Tag != dwarf.TagArrayType || e.Val(dwarf.AttrDataLocation) != nil {
			return 0, false
		}
		dims, ok := v.bounds(object{names: n}, e, cfi.Object{})
		if !ok {
			return 0, false
		}
		for _, d := range dims {
			if factor *= max(d.count, 0); factor > maxCount {
				return 0, false
			}
		}
		kind, _ = e.Val(dwarf.AttrType).(dwarf.Offset)
	}
	return 0, false
}
