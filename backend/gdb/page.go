// Arrays that are too long to be shown at once.

package gdb

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"sdm/protocol"
)

// pageSize is how many elements gdb shows of an array: its setting print
// elements, see Config.CommandLine.
const pageSize = 200

// evaluatedWhole answers with a value. Of one that gdb has cut off it says how many
// elements there are.
func (m *machine) evaluatedWhole(q *request, value string) {
	if !isCut(value) {
		m.evaluatedPart(q, value)
		return
	}
	m.arrayOf(q, func(a array, _ *protocol.Fault) {
		if n, shown := a.shape.Elements(), elementsIn(value); n > shown {
			m.replyValue(q, a.page(q.args.Expr, 0, shown-1), value)
			return
		}
		m.evaluatedPart(q, value)
	})
}

func (m *machine) replyValue(q *request, body printed, value string) {
	c := columnsOf(m.target.Rank, q.args.Limit)
	c.add("value", value)
	m.replyWith(q, q.bodyOf(body), c.sorted())
}

// isCut tells whether gdb has left elements out at the end.
func isCut(value string) bool {
	return strings.HasSuffix(strings.TrimRight(value, "})"), "...")
}

// page says which elements an answer holds.
func (a array) page(expr string, first, last int) printed {
	p := printed{Expr: expr, Elements: a.shape.Elements(), First: first, Last: last}
	if a.shape.Fortran || len(a.shape.Dims) > 1 {
		p.Shape = &a.shape
	}
	return p
}

// slice is an expression for some elements, side by side in memory.
func (a array) slice(first, last int) string {
	if low := a.shape.Dims[0].Low; a.shape.Fortran && len(a.shape.Dims) == 1 {
		return fmt.Sprintf("%s(%d:%d)", a.base, low+first, low+last) // which need not be
	}
	return fmt.Sprintf("%s@%d", a.item(first), last-first+1)
}

// page answers with some elements of an array. gdb builds nothing for them, as
// it would for the children of a variable object.
func (m *machine) page(q *request) {
	first, last := q.args.First, min(q.args.Last, q.args.First+pageSize-1)
	if first < 0 || last < first {
		m.fail(q, &protocol.Fault{Kind: protocol.FaultUsage, Message: fmt.Sprintf("there are no elements %d to %d", first, q.args.Last)})
		return
	}
	m.arrayOf(q, func(a array, refusal *protocol.Fault) {
		n := a.shape.Elements()
		if n == 0 && a.base == "" && refusal != nil {
			m.pageOfContainer(q, first, last, refusal)
			return
		}
		last = min(last, n-1)
		switch {
		case n > 0 && last < first:
			refusal = &protocol.Fault{Kind: protocol.FaultGDB, Message: fmt.Sprintf("There are only %d elements.", n)}
		case refusal == nil && a.apart && len(a.shape.Dims) > 1:
			refusal = notSideBySide(q)
		}
		if refusal != nil {
			m.fail(q, refusal)
			return
		}
		m.ask(q, func(got answer) {
			if got.failed() {
				m.refused(q, got)
				return
			}
			m.replyValue(q, a.page(q.args.Expr, first, last), got.Results.Str("value"))
		}, "-data-evaluate-expression", append(m.at(q), " "+a.slice(first, last))...)
	})
}

func notSideBySide(q *request) *protocol.Fault {
	return &protocol.Fault{Kind: protocol.FaultGDB, Message: "the elements of " + q.args.Expr + " do not lie side by side in memory"}
}

// elementsIn counts the elements of an array as gdb prints it, those of its rows
// and those that repeat included.
//
//	{{1, 2}, {3, 4 <repeats 9 times>...}...}
//	"abc", 'x' <repeats 30 times>, "\001"...
//	(1, 2, <repeats 5 times>, 7, ...)
//	std::vector of length 9, capacity 9 = {{x = 1, y = 2}, {x = 3, y = 4}...}
func elementsIn(value string) int { return elementsWithin(value, mostDims) }

// mostDims bounds how deep rows may lie in rows.
const mostDims = 8

func elementsWithin(value string, depth int) int {
	if i := strings.Index(value, " = {"); i >= 0 && strings.HasPrefix(value, "std::") {
		value = value[i+3:]
	}
	if rest, ok := strings.CutPrefix(value, "{_M_elems = "); ok { // std::array
		value = strings.TrimSuffix(rest, "}")
	}
	value = strings.TrimSuffix(value, "...")
	if value == "" || value[0] != '{' && value[0] != '(' {
		return textElements(value)
	}
	n := 0
	var last int // how many elements the piece before was
	for _, piece := range pieces(value[1:]) {
		piece = strings.TrimSuffix(strings.TrimSpace(piece), "...")
		row, times := repeats(piece)
		switch {
		case row == "" && times > 1: // Fortran: the one before is one of them
			n += last * (times - 1)
		case row == "":
		case depth > 1 && isRow(row):
			last = elementsWithin(row, depth-1)
			n += times * last
		default:
			last = 1
			n += times
		}
	}
	return n
}

// isRow tells an array within an array from a structure or a complex number.
func isRow(element string) bool {
	if element[0] != '{' {
		return element[0] == '(' && !isComplex(element)
	}
	name, _, named := strings.Cut(element[1:], " = ")
	return !named || strings.ContainsAny(name, `{,"'`)
}

// isComplex tells "(1.5,-2)", which gdb writes without a blank, from a row.
func isComplex(element string) bool {
	return strings.Count(element, ",") == 1 && !strings.Contains(element, ", ")
}

// pieces parts the elements between brackets, at the commas that stand in none
// and in no text. What follows the closing bracket is dropped. The rows of a
// Fortran array are parted by blanks alone.
func pieces(text string) []string {
	var all []string
	begin, depth := 0, 0
	within := byte(0)
	for j := 0; j < len(text); j++ {
		switch b := text[j]; {
		case within != 0 && b == '\\':
			j++
		case within != 0:
			if b == within {
				within = 0
			}
		case b == '"' || b == '\'':
			within = b
		case b == '{' || b == '(':
			if depth == 0 && strings.HasPrefix(text[begin:j], "(") {
				all, begin = append(all, text[begin:j]), j
			}
			depth++
		case b == '}' || b == ')':
			if depth == 0 {
				return append(all, text[begin:j])
			}
			depth--
		case b == ',' && depth == 0:
			all, begin = append(all, text[begin:j]), j+1
		}
	}
	return append(all, text[begin:])
}

// repeats parts "0 <repeats 50 times>".
func repeats(element string) (of string, times int) {
	of, text, ok := strings.Cut(element, "<repeats ")
	if n, err := strconv.Atoi(strings.TrimSuffix(text, " times>")); ok && err == nil {
		return strings.TrimSpace(of), n
	}
	return element, 1
}

// textElements counts the elements of a text as gdb prints it. They are bytes,
// but for a wide text (L"", u"", U""), whose elements are characters.
func textElements(value string) int {
	n := 0
	for _, piece := range pieces(value) {
		one, times := repeats(strings.TrimSpace(piece))
		wide := len(one) > 1 && strings.IndexByte("LuU", one[0]) >= 0
		i := strings.IndexAny(one, `"'`)
		if i < 0 {
			continue
		}
		n += times * charactersIn(one[i+1:], one[i], wide)
	}
	return n
}

// charactersIn counts what stands before the closing quote.
func charactersIn(text string, quote byte, wide bool) int {
	n := 0
	for i := 0; i < len(text) && text[i] != quote; n++ {
		switch {
		case text[i] == '\\' && octalDigits(text[i+1:]) > 0:
			i += 1 + octalDigits(text[i+1:])
		case text[i] == '\\':
			i += 2
		case wide:
			_, size := utf8.DecodeRuneInString(text[i:])
			i += size
		default:
			i++
		}
	}
	return n
}

func octalDigits(text string) int {
	n := 0
	for n < len(text) && n < 3 && text[n] >= '0' && text[n] <= '7' {
		n++
	}
	return n
}
