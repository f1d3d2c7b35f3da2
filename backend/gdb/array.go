// Arrays as gdb's expressions reach them.

package gdb

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"sdm/protocol"
)

// array is how the elements of an array are named, and where they are.
type array struct {
	shape protocol.Shape
	base  string // the expression that an index is put behind
	count string // what gives the number of elements, where the type does not
	addr  uint64 // of the first element
	size  int    // of an element, in bytes
	apart bool   // its elements do not lie side by side
	parts bool   // its elements, or those of a container, may be objects
	kind  kind   // what its elements are
	text  bool   // it is what a pointer to characters points to, up to the zero
}

// item names element i for gdb.
func (a array) item(i int) string { return a.base + a.shape.Index(i) }

// mostElement bounds the size of an element, in bytes.
const mostElement = 1 << 30

var (
	// C: "double [10][20]", "char (&)[3]", "} [50]"; not "int (*)[5]", which is a pointer.
	typeC    = regexp.MustCompile(`^(?:.*[^)\]]|.*\(&&?\)|.*[^)\]] ?&) ?((?:\[[0-9]+\])+)$`)
	typeText = regexp.MustCompile(`^(?:const |volatile |unsigned |signed )*(?:char|wchar_t|char8_t|char16_t|char32_t) `)
	// Fortran: "real(kind=8), allocatable (10,-1:20)".
	typeFortran = regexp.MustCompile(`^.* \((-?[0-9]+(?::-?[0-9]+)?(?:,-?[0-9]+(?::-?[0-9]+)?)*)\)$`)
	typeVector  = regexp.MustCompile(`^(?:const |class |struct )*std::(vector|valarray)<`)
	typeString  = regexp.MustCompile(`^(?:const |class |struct )*std::(?:__cxx11::)?(?:(?:w|u8|u16|u32)?string|basic_string<.*>)(?: const)?(?: &)?$`)
	// A pointer to characters, and a text of Fortran.
	typeTextPointer = regexp.MustCompile(`^(?:const |volatile |unsigned |signed )*(?:char|wchar_t|char8_t|char16_t|char32_t) \*(?: ?const)?$`)
	typeTextFortran = regexp.MustCompile(`^character(?:\(kind=[0-9]+\))?\*([0-9]+)$`)
	// A vector of numbers, which are all that they hold.
	typeFlat  = regexp.MustCompile(`^[^<]*<(?:unsigned |signed |long )*(?:char|short|int|long|float|double|bool|__int128|std::complex<[a-z ]+>)(?: (?:unsigned )?int)? ?[,>]`)
	typeArray = regexp.MustCompile(`^(?:const |class |struct )*std::array<.*, ([0-9]+)(?:ul)?>$`)
)

// arrayOfType reads what gdb's ptype says of an expression. It tells whether
// that is an array.
func arrayOfType(expr, text string) (array, bool) {
	text = strings.TrimPrefix(strings.TrimSpace(text), "type = ")
	first, _, _ := strings.Cut(text, "\n")
	last := text[strings.LastIndexByte(text, '\n')+1:]
	class, _, _ := strings.Cut(first, " [with ")
	class = strings.TrimSuffix(class, " {")
	if len(first) > mostTypeText || len(last) > mostTypeText {
		return array{}, false
	}
	if found := typeVector.FindStringSubmatch(class); found != nil && !strings.Contains(class, "vector<bool") {
		a := array{base: "(" + expr + ")._M_impl._M_start", count: "(" + expr + ")._M_impl._M_finish - (" + expr + ")._M_impl._M_start"}
		if found[1] == "valarray" {
			a.base, a.count = "("+expr+")._M_data", "("+expr+")._M_size"
		}
		a.shape.Dims, a.parts = []protocol.Dim{{}}, !typeFlat.MatchString(class)
		return a, true
	}
	if typeString.MatchString(class) {
		return array{base: "(" + expr + ")._M_dataplus._M_p", count: "(" + expr + ")._M_string_length", shape: protocol.Shape{Dims: []protocol.Dim{{}}}}, true
	}
	if typeTextPointer.MatchString(last) {
		return array{base: "(" + expr + ")", text: true, shape: protocol.Shape{Dims: []protocol.Dim{{}}}}, true
	}
	if found := typeArray.FindStringSubmatch(class); found != nil {
		n, err := strconv.Atoi(found[1])
		return array{base: "(" + expr + ")._M_elems", shape: protocol.Shape{Dims: []protocol.Dim{{Count: n}}}}, err == nil && n > 0
	}
	a := array{base: "(" + expr + ")"}
	if found := typeC.FindStringSubmatch(last); found != nil {
		a.parts = strings.HasPrefix(last, "}") || strings.Contains(last, "std::")
		for _, n := range strings.FieldsFunc(found[1], func(r rune) bool { return r == '[' || r == ']' }) {
			count, _ := strconv.Atoi(n) // too large a number counts as none
			a.shape.Dims = append(a.shape.Dims, protocol.Dim{Count: count})
		}
		if n := len(a.shape.Dims); n > 1 && typeText.MatchString(last) {
			a.shape.Dims = a.shape.Dims[:n-1] // gdb writes a row as one text
		}
	} else if found := typeTextFortran.FindStringSubmatch(last); found != nil {
		a.base, a.shape.Fortran, a.shape.Dims = expr, true, []protocol.Dim{fortranBounds(found[1])}
	} else if found := typeFortran.FindStringSubmatch(last); found != nil {
		a.base, a.shape.Fortran = expr, true
		for part := range strings.SplitSeq(found[1], ",") {
			a.shape.Dims = append(a.shape.Dims, fortranBounds(part))
		}
	}
	return a, a.shape.Elements() > 0
}

// mostTypeText bounds the lines of a type that are looked at, in bytes.
const mostTypeText = 4096

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

// arrayOf finds out about the array that a request is about; refusal is nil
// then.
func (m *machine) arrayOf(q *request, then func(a array, refusal *protocol.Fault)) {
	expr := q.printing().expr
	k := m.ask(q, func(answered answer) {
		if answered.failed() {
			then(array{}, &protocol.Fault{Kind: protocol.FaultGDB, Message: answered.Results.Str("msg")})
			return
		}
		a, ok := arrayOfType(expr, answered.text)
		a.kind = kindOf(strings.TrimPrefix(strings.TrimSpace(answered.text), "type = "))
		if a.text {
			a.kind = characters
		}
		switch {
		case acts(expr, a.shape.Fortran):
			then(array{}, &protocol.Fault{Kind: protocol.FaultGDB, Message: "the elements of " + expr + " would be got by evaluating it again"})
		case !ok:
			then(array{parts: strings.Contains(answered.text, "std::")}, &protocol.Fault{Kind: protocol.FaultGDB, Message: expr + " is not an array"})
		case a.text:
			m.lengthOfText(q, a, then)
		case a.count == "":
			m.placeArray(q, a, then)
		default:
			m.ask(q, func(c answer) {
				a.shape.Dims[0].Count, _ = strconv.Atoi(c.Results.Str("value"))
				m.placeArray(q, a, then)
			}, "-data-evaluate-expression", append(m.at(q), operand(a.count))...)
		}
	}, "-interpreter-exec", append(m.at(q), "console", "ptype/mt "+expr)...)
	k.print = true
}

// placeArray asks where the first and the last element are.
func (m *machine) placeArray(q *request, a array, then func(array, *protocol.Fault)) {
	n := a.shape.Elements()
	if n == 0 {
		then(a, &protocol.Fault{Kind: protocol.FaultGDB, Message: q.args.Expr + " has no elements"})
		return
	}
	var last uint64
	var bad *protocol.Fault
	ask := func(text string, with func(answer)) {
		m.ask(q, func(got answer) {
			if got.failed() && bad == nil {
				bad = &protocol.Fault{Kind: protocol.FaultGDB, Message: got.Results.Str("msg")}
			}
			with(got)
		}, "-data-evaluate-expression", append(m.at(q), operand(text))...)
	}
	ask("&("+a.item(0)+")", func(got answer) { a.addr = addressIn(got.Results.Str("value")) })
	ask("&("+a.item(n-1)+")", func(got answer) { last = addressIn(got.Results.Str("value")) })
	ask("sizeof ("+a.item(0)+")", func(got answer) {
		a.size, _ = strconv.Atoi(got.Results.Str("value"))
		if bad == nil && (a.addr == 0 || a.size < 1 || a.size > mostElement) {
			bad = &protocol.Fault{Kind: protocol.FaultGDB, Message: fmt.Sprintf("gdb does not say where %s is", q.args.Expr)}
		}
		a.apart = last != a.addr+uint64(n-1)*uint64(a.size)
		then(a, bad)
	})
}

var hexNumber = regexp.MustCompile(`0x[0-9a-f]+`)

// addressIn finds the address in a pointer as gdb prints it.
func addressIn(value string) uint64 {
	n, _ := strconv.ParseUint(hexNumber.FindString(value), 0, 64) // 0 where there is none
	return n
}
