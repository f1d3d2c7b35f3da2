// Arrays that are too long to be shown at once.

package gdb

import (
	"fmt"
	"strconv"
	"strings"

	"sdm/protocol"
)

// pageSize is how many elements gdb shows of an array: its setting print
// elements, see Config.CommandLine.
const pageSize = 200

// evaluatedWhole answers with a value. Of one that gdb has cut off it says how many
// elements there are.
func (m *machine) evaluatedWhole(q *request, value string) {
	if !isCut(value) {
		m.replyValue(q, printed{Expr: q.args.Expr}, value)
		return
	}
	m.countElements(q, func(n int) {
		body := printed{Expr: q.args.Expr}
		if shown := elementsIn(value); n > shown {
			body.Elements, body.Last = n, shown-1
		}
		m.replyValue(q, body, value)
	})
}

func (m *machine) replyValue(q *request, body printed, value string) {
	c := columnsOf(m.target.Rank, q.args.Limit)
	c.add("value", value)
	m.reply(q, body, c.sorted()...)
}

// isCut tells whether gdb has left elements out at the end.
func isCut(value string) bool {
	return strings.HasSuffix(value, "...}") || strings.HasSuffix(value, "...)") || strings.HasSuffix(value, `"...`)
}

// counters are how many elements an expression has: a std::vector, whose own
// operators gdb would call in the program, in C, in Fortran.
var counters = []string{"(%[1]s)._M_impl._M_finish - (%[1]s)._M_impl._M_start", "sizeof (%[1]s) / sizeof ((%[1]s)[0])", "size (%[1]s)"}

// countElements gives the number of elements, 0 where nobody knows.
func (m *machine) countElements(q *request, then func(int)) {
	m.firstOf(q, counters, []any{q.args.Expr}, func(a answer) {
		n, err := strconv.Atoi(a.Results.Str("value"))
		if err != nil || a.failed() {
			n = 0
		}
		then(n)
	})
}

// pages are the elements from number %[2]d on, %[4]d of them: of a std::vector, in C,
// in Fortran (from %[3]d to %[5]d). gdb builds nothing for them, as it would for the children
// of a variable object.
var pages = []string{"(%[1]s)._M_impl._M_start[%[2]d]@%[4]d", "(%[1]s)[%[2]d]@%[4]d", "%[1]s(%[3]d:%[5]d)"}

// page answers with some elements of an array.
func (m *machine) page(q *request) {
	first, last := q.args.First, min(q.args.Last, q.args.First+pageSize-1)
	if first < 0 || last < first {
		m.fail(q, &protocol.Fault{Kind: protocol.FaultUsage, Message: fmt.Sprintf("there are no elements %d to %d", first, q.args.Last)})
		return
	}
	m.countElements(q, func(n int) {
		if n > 0 {
			last = min(last, n-1)
		}
		if last < first {
			m.fail(q, &protocol.Fault{Kind: protocol.FaultGDB, Message: fmt.Sprintf("There are only %d elements.", n)})
			return
		}
		m.firstOf(q, pages, []any{q.args.Expr, first, first + 1, last - first + 1, last + 1}, func(a answer) {
			if a.failed() {
				m.refused(q, a)
				return
			}
			m.replyValue(q, printed{q.args.Expr, n, first, last}, a.Results.Str("value"))
		})
	})
}

// firstOf evaluates one form of an expression after the other until gdb takes
// one; then gets that, or the refusal of the form for C.
func (m *machine) firstOf(q *request, forms []string, args []any, then func(answer)) {
	var refusal *answer
	var try func(i int)
	try = func(i int) {
		text := fmt.Sprintf(forms[i]+"%.0[1]s", args...) // the last verb uses up what a form leaves
		m.ask(q, func(a answer) {
			if refusal == nil || i == 1 { // what it says to the form for C helps most
				refusal = &a
			}
			switch {
			case !a.failed():
				then(a)
			case i == len(forms)-1:
				then(*refusal)
			default:
				try(i + 1)
			}
		}, "-data-evaluate-expression", append(m.at(q), " "+text)...)
	}
	try(0)
}

// elementsIn counts the elements of an array as gdb prints it, those that repeat
// included.
func elementsIn(value string) int {
	if strings.HasSuffix(value, `"...`) {
		return pageSize
	}
	i := strings.IndexAny(value, "{(")
	if i < 0 {
		return 0
	}
	n, depth, begin := 0, 0, i+1
	within := byte(0)
	for j := i + 1; j < len(value); j++ {
		switch b := value[j]; {
		case within != 0 && b == '\\':
			j++
		case within != 0:
			if b == within {
				within = 0
			}
		case b == '"' || b == '\'':
			within = b
		case b == '{' || b == '(':
			depth++
		case b == '}' || b == ')':
			depth--
		case b == ',' && depth == 0:
			n += repeats(value[begin:j])
			begin = j + 1
		}
	}
	rest := strings.TrimRight(value[begin:], "})")
	return n + repeats(strings.TrimSuffix(rest, "..."))
}

// repeats reads "0 <repeats 50 times>".
func repeats(element string) int {
	if _, text, ok := strings.Cut(element, " <repeats "); ok {
		if n, err := strconv.Atoi(strings.TrimSuffix(strings.TrimSpace(text), " times>")); err == nil {
			return n
		}
	}
	if strings.TrimSpace(element) == "" {
		return 0
	}
	return 1
}
