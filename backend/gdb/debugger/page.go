// Arrays that are too long to be shown at once.

package debugger

import (
	"fmt"
	"strings"

	"sdm/backend/gdb/gdbtext"
	"sdm/protocol"
)

// evaluatedWhole answers with a value. Of one that gdb has cut off, and of one that is too long, it says how many
// elements there are.
func (m *Machine) evaluatedWhole(q *Request, value string) {
	if len(value) <= mostShown && !strings.Contains(value, "...") { // most are
		m.replyValue(q, printed{Expr: q.args.Expr}, value)
		return
	}
	w := q.printing()
	if !gdbtext.IsTruncated(value) && len(value) <= m.most(w) {
		m.evaluatedPart(q, value)
		return
	}
	m.arrayOf(q, func(a gdbtext.Array, bad *protocol.Fault) {
		n := a.Shape.Elements()
		if bad == nil && a.Flat(value) {
			m.pageOfArray(q, w, a, 0, gdbtext.PageSize-1)
			return
		}
		text, shown := gdbtext.Truncate(value, m.most(w))
		if n > shown && shown > 0 {
			m.replyPage(q, a, pageOf(a, q.args, 0, shown-1), text)
			return
		}
		m.evaluatedPart(q, value)
	})
}

// evaluatedLarge answers where gdb has refused to fetch a value, since it is too large: with the beginning of an array, or
// with a little of each of its parts.
func (m *Machine) evaluatedLarge(q *Request, refusal answer) {
	w := q.printing()
	m.arrayOf(q, func(a gdbtext.Array, bad *protocol.Fault) {
		switch {
		case gdbtext.HasSideEffects(w.Expr, a.Shape.Fortran):
			m.refused(q, refusal)
		case bad == nil && a.Size <= MostFetched:
			m.pageOfArray(q, w, a, 0, gdbtext.PageSize-1)
		default:
			m.askLarge(q, w, func(got answer, value string) {
				if got.failed() {
					m.refused(q, got)
					return
				}
				m.evaluatedPart(q, value)
			})
		}
	})
}

// beginning gives a value that gdb has refused to fetch, as it stands among others: the first elements of an
// array, or a little of each part.
func (m *Machine) beginning(q *Request, expr string, then func(text string, bad *protocol.Fault)) {
	about := q.about(expr)
	w := gdbtext.ParsePrinting(about.args)
	told := func(end func(string) string) func(answer, string) {
		return func(got answer, value string) {
			if got.failed() {
				then("", &protocol.Fault{Kind: protocol.FaultGDB, Message: got.Results.Str("msg")})
				return
			}
			then(gdbtext.Listed(end(value)), nil)
		}
	}
	m.arrayOf(about, func(a gdbtext.Array, bad *protocol.Fault) {
		switch {
		case gdbtext.HasSideEffects(w.Expr, a.Shape.Fortran):
			then("", bad)
		case bad == nil && a.Size <= MostFetched && !a.Scattered:
			last := min(a.Shape.Elements(), gdbtext.PageSize, max(MostFetched/a.Size, 1)) - 1
			m.askPrint(about, w, a.Slice(0, last), told(gdbtext.WithMore))
		default:
			m.askLarge(about, w, told(func(value string) string { return value }))
		}
	})
}

// MostFetched is the size of the values that gdb fetches, in bytes: its setting max-value-size, see
// Config.CommandLine.
const MostFetched = 1 << 20

func (m *Machine) replyValue(q *Request, body printed, value string) {
	c := columnsOf(m.Target.Rank, q.args.Limit)
	c.add("value", q.head+value)
	m.replyWith(q, q.bodyOf(body), c.sorted())
}

// pageOf is the body of an answer that holds some elements of an array.
func pageOf(a gdbtext.Array, args protocol.Args, first, last int) printed {
	p := printed{Expr: args.Expr, Format: args.Format, Elements: a.Shape.Elements(), First: first, Last: last}
	if a.Shape.Fortran || len(a.Shape.Dims) > 1 {
		p.Shape = &a.Shape
	}
	return p
}

// page answers with some elements of an array. gdb builds nothing for them, as
// it would for the children of a variable object.
func (m *Machine) page(q *Request) {
	first, last := q.args.First, min(q.args.Last, q.args.First+gdbtext.PageSize-1)
	if first < 0 || last < first {
		m.fail(q, &protocol.Fault{Kind: protocol.FaultUsage, Message: fmt.Sprintf("there are no elements %d to %d", first, q.args.Last)})
		return
	}
	w := q.printing()
	m.arrayOf(q, func(a gdbtext.Array, refusal *protocol.Fault) {
		n := a.Shape.Elements()
		switch {
		case n == 0 && a.Base == "" && refusal != nil:
			m.pageOfContainer(q, w, first, last, refusal)
		case n > 0 && min(last, n-1) < first:
			m.fail(q, &protocol.Fault{Kind: protocol.FaultGDB, Message: fmt.Sprintf("There are only %d elements.", n)})
		case refusal != nil:
			m.fail(q, refusal)
		default:
			m.pageOfArray(q, w, a, first, last)
		}
	})
}

// pageOfArray answers with elements of an array, or with the first of them, as many as an answer may hold.
func (m *Machine) pageOfArray(q *Request, w gdbtext.Printing, a gdbtext.Array, first, last int) {
	last = min(last, a.Shape.Elements()-1)
	answer := func(got answer, value string) {
		if got.failed() {
			m.refused(q, got)
			return
		}
		value, cut := gdbtext.WholeCharacters(value)
		if last == a.Shape.Elements()-1 {
			cut = 0
		}
		text, shown := value, last-first+1-cut
		if len(value) > m.most(w) {
			text, shown = gdbtext.Truncate(value, m.most(w))
		}
		m.replyPage(q, a, pageOf(a, q.args, first, first+max(shown, 1)-1), text)
	}
	switch {
	case !a.Scattered:
		last = min(last, first+max(MostFetched/a.Size, 1)-1)
		m.askPrint(q, w, a.Slice(first, last), answer, w.InFull()...)
	case len(a.Shape.Dims) == 1:
		m.askLine(q, unbounded+w.Line(a.Slice(first, last), w.InFull()...), answer)
	case a.Shape.Fortran:
		m.askColumns(q, w, a, first, last, answer)
	default:
		m.fail(q, notSideBySide(q))
	}
}

// unbounded has gdb fetch a value of any size that is sensible: elements that do not lie side by side are fetched with
// all that lies between them.
const unbounded = "with max-value-size 1073741824 -- "

// askColumns asks for elements of an array of Fortran, by the columns in which they lie.
func (m *Machine) askColumns(q *Request, w gdbtext.Printing, a gdbtext.Array, first, last int, then func(answer, string)) {
	var parts []string
	var bad *answer
	for i := first; i <= last; {
		n := min(a.Shape.Dims[0].Count-i%a.Shape.Dims[0].Count, last-i+1)
		i += n
		m.askLine(q, unbounded+w.Line(a.Base+a.Shape.Column(i-n, n), w.InFull()...), func(got answer, value string) {
			if got.failed() && bad == nil {
				bad = &got
			}
			parts = append(parts, strings.TrimSuffix(strings.TrimPrefix(value, "("), ")"))
			switch {
			case i <= last:
			case bad != nil:
				then(*bad, "")
			default:
				then(got, "("+strings.Join(parts, ", ")+")")
			}
		})
	}
}

func notSideBySide(q *Request) *protocol.Fault {
	return &protocol.Fault{Kind: protocol.FaultGDB, Message: "the elements of " + q.args.Expr + " do not lie side by side in memory"}
}
