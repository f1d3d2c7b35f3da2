// Arrays: their type as ptype prints it, and the expressions for their elements.

package gdbtext

import (
	"fmt"
	"strconv"
	"strings"

	"sdm/protocol"
	"sdm/protocol/pattern"
)

// Array describes the elements of an array: the expressions for them, and where they are in memory.
type Array struct {
	Shape     protocol.Shape
	Base      string // expression to which an index is appended
	Count     string // expression for the number of elements; "" if the type tells it
	Addr      uint64 // of the first element
	Size      int    // of an element, in bytes
	Scattered bool   // the elements are not contiguous
	OfObjects bool   // the elements may be objects of the C++ library, or have such members
	Kind      Kind   // how the elements are read from memory
	Text      bool   // a string that a pointer points to, up to the zero
}

// Item returns the expression for element i, counted from 0 in memory order.
func (a Array) Item(i int) string { return a.Base + a.Shape.Index(i) }

// MaxElement bounds the size of an element, in bytes.
const MaxElement = 1 << 30

var (
	// C: "double [10][20]", "char (&)[3]", "} [50]"; not "int (*)[5]", which is a pointer.
	typeC    = pattern.New(`^(?:.*[^)\]]|.*\(&&?\)|.*[^)\]] ?&) ?((?:\[[0-9]+\])+)$`)
	typeText = pattern.New(`^(?:const |volatile |unsigned |signed )*(?:char|wchar_t|char8_t|char16_t|char32_t) `)
	// Fortran: "real(kind=8), allocatable (10,-1:20)".
	typeFortran = pattern.New(`^.* \((-?[0-9]+(?::-?[0-9]+)?(?:,-?[0-9]+(?::-?[0-9]+)?)*)\)$`)
	typeVector  = pattern.New(`^(?:const |class |struct )*std::(vector|valarray)<`)
	typeString  = pattern.New(`^(?:const |class |struct )*std::(?:__cxx11::)?(?:(?:w|u8|u16|u32)?string|basic_string<.*>)(?: const)?(?: &)?$`)
	// A pointer to characters, and a character variable of Fortran.
	typeTextPointer = pattern.New(`^(?:const |volatile |unsigned |signed )*(?:char|wchar_t|char8_t|char16_t|char32_t) \*(?: ?const)?$`)
	typeTextFortran = pattern.New(`^character(?:\(kind=[0-9]+\))?\*([0-9]+)$`)
	// A vector of numbers, which have no parts.
	typeFlat  = pattern.New(`^[^<]*<(?:unsigned |signed |long )*(?:char|short|int|long|float|double|bool|__int128|std::complex<[a-z ]+>)(?: (?:unsigned )?int)? ?[,>]`)
	typeArray = pattern.New(`^(?:const |class |struct )*std::array<.*, ([0-9]+)(?:ul)?>$`)
)

// ParseArray reads the output of ptype for an expression, and reports whether that is an array, a
// string, or a container with contiguous elements. Addr, Size, Scattered and Kind are not set.
func ParseArray(expr, text string) (Array, bool) {
	text = strings.TrimPrefix(strings.TrimSpace(text), "type = ")
	first, _, _ := strings.Cut(text, "\n")
	last := text[strings.LastIndexByte(text, '\n')+1:]
	class, _, _ := strings.Cut(first, " [with ")
	class = strings.TrimSuffix(class, " {")
	if len(first) > maxTypeText || len(last) > maxTypeText {
		return Array{}, false
	}
	if found := typeVector.FindStringSubmatch(class); found != nil && !strings.Contains(class, "vector<bool") {
		a := Array{Base: "(" + expr + ")._M_impl._M_start", Count: "(" + expr + ")._M_impl._M_finish - (" + expr + ")._M_impl._M_start"}
		if found[1] == "valarray" {
			a.Base, a.Count = "("+expr+")._M_data", "("+expr+")._M_size"
		}
		a.Shape.Dims, a.OfObjects = []protocol.Dim{{}}, !typeFlat.MatchString(class)
		return a, true
	}
	if typeString.MatchString(class) {
		return Array{Base: "(" + expr + ")._M_dataplus._M_p", Count: "(" + expr + ")._M_string_length", Shape: protocol.Shape{Dims: []protocol.Dim{{}}}}, true
	}
	if typeTextPointer.MatchString(last) {
		return Array{Base: "(" + expr + ")", Text: true, Shape: protocol.Shape{Dims: []protocol.Dim{{}}}}, true
	}
	if found := typeArray.FindStringSubmatch(class); found != nil {
		n, err := strconv.Atoi(found[1])
		return Array{Base: "(" + expr + ")._M_elems", Shape: protocol.Shape{Dims: []protocol.Dim{{Count: n}}}}, err == nil && n > 0
	}
	a := Array{Base: "(" + expr + ")"}
	if found := typeC.FindStringSubmatch(last); found != nil {
		a.OfObjects = strings.HasPrefix(last, "}") || strings.Contains(last, "std::")
		for _, n := range strings.FieldsFunc(found[1], func(r rune) bool { return r == '[' || r == ']' }) {
			count, _ := strconv.Atoi(n) // a number that is too large is treated as missing
			a.Shape.Dims = append(a.Shape.Dims, protocol.Dim{Count: count})
		}
		if n := len(a.Shape.Dims); n > 1 && typeText.MatchString(last) {
			a.Shape.Dims = a.Shape.Dims[:n-1] // gdb prints a row as one string
		}
	} else if found := typeTextFortran.FindStringSubmatch(last); found != nil {
		a.Base, a.Shape.Fortran, a.Shape.Dims = expr, true, []protocol.Dim{fortranBounds(found[1])}
	} else if found := typeFortran.FindStringSubmatch(last); found != nil {
		a.Base, a.Shape.Fortran = expr, true
		for part := range strings.SplitSeq(found[1], ",") {
			a.Shape.Dims = append(a.Shape.Dims, fortranBounds(part))
		}
	}
	return a, a.Shape.Elements() > 0
}

// maxTypeText bounds the lines of a type that are matched, in bytes.
const maxTypeText = 4096

// fortranBounds reads "10" or "-1:20".
func fortranBounds(text string) protocol.Dim {
	low, high, ranged := strings.Cut(text, ":")
	if !ranged {
		low, high = "1", text
	}
	first, err1 := strconv.Atoi(low)
	last, err2 := strconv.Atoi(high)
	if err1 != nil || err2 != nil || last < first || last-first < 0 {
		return protocol.Dim{}
	}
	return protocol.Dim{Low: first, Count: last - first + 1}
}

var hexNumber = pattern.New(`0x[0-9a-f]+`)

// AddressIn returns the first address in a value, such as a pointer's; 0: there is none.
func AddressIn(value string) uint64 {
	n, _ := strconv.ParseUint(hexNumber.FindString(value), 0, 64) // 0 if there is none
	return n
}

// Bytes returns the size of all elements.
func (a Array) Bytes() int { return a.Shape.Elements() * a.Size }

// OutOfOrder reports whether the elements that gdb shows of an array of several dimensions are not the
// first ones in memory order: gdb prints a part of each row of C, and counts equal rows of Fortran
// differently.
func (a Array) OutOfOrder(value string) bool {
	if len(a.Shape.Dims) < 2 {
		return false
	}
	if a.Shape.Fortran {
		return strings.Contains(value, ") <repeats ")
	}
	for _, d := range a.Shape.Dims[1:] {
		if d.Count > PageSize {
			return true
		}
	}
	return false
}

// Slice returns an expression for the elements first to last, which must be contiguous.
func (a Array) Slice(first, last int) string {
	if low := a.Shape.Dims[0].Low; a.Shape.Fortran && len(a.Shape.Dims) == 1 {
		return fmt.Sprintf("%s(%d:%d)", a.Base, low+first, low+last) // a section of Fortran need not be contiguous
	}
	return fmt.Sprintf("%s@%d", a.Item(first), last-first+1)
}

// Address parses an address that is the whole text; 0: it is none.
func Address(text string) uint64 {
	n, _ := strconv.ParseUint(strings.TrimPrefix(text, "0x"), 16, 64)
	return n
}
