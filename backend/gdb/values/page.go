// Arrays that are too long to be shown at once.

package values

import (
	"fmt"
	"strings"

	"sdm/backend/gdb/gdbtext"
	"sdm/backend/gdb/request"
	"sdm/protocol"
)

// evaluatedWhole answers with a value. Of one that gdb has cut off, and of one that is too long, it says how many
// elements there are.
func (p *Printer) evaluatedWhole(q *request.Request, value string) {
	if len(value) <= MostShown && !strings.Contains(value, "...") { // most are
		p.replyValue(q, Printed{Expr: q.Args.Expr}, value)
		return
	}
	w := q.Printing()
	if !gdbtext.IsTruncated(value) && len(value) <= p.most(w) {
		p.evaluatedPart(q, value)
		return
	}
	p.arrays.arrayOf(q, func(a gdbtext.Array, bad *protocol.Fault) {
		n := a.Shape.Elements()
		if bad == nil && a.Flat(value) {
			p.pageOfArray(q, w, a, 0, gdbtext.PageSize-1)
			return
		}
		text, shown := gdbtext.Truncate(value, p.most(w))
		if n > shown && shown > 0 {
			p.replyPage(q, a, pageOf(a, q.Args, 0, shown-1), text)
			return
		}
		p.evaluatedPart(q, value)
	})
}

// evaluatedLarge answers where gdb has refused to fetch a value, since it is too large: with the beginning of an array, or
// with a little of each of its parts.
func (p *Printer) evaluatedLarge(q *request.Request, refusal request.Answer) {
	w := q.Printing()
	p.arrays.arrayOf(q, func(a gdbtext.Array, bad *protocol.Fault) {
		switch {
		case gdbtext.HasSideEffects(w.Expr, a.Shape.Fortran):
			p.Refused(q, refusal)
		case bad == nil && a.Size <= MostFetched:
			p.pageOfArray(q, w, a, 0, gdbtext.PageSize-1)
		default:
			p.askLarge(q, w, func(got request.Answer, value string) {
				if got.Failed() {
					p.Refused(q, got)
					return
				}
				p.evaluatedPart(q, value)
			})
		}
	})
}

// beginning gives a value that gdb has refused to fetch, as it stands among others: the first elements of an
// array, or a little of each part.
func (p *Printer) beginning(q *request.Request, expr string, then func(text string, bad *protocol.Fault)) {
	about := q.About(expr)
	w := gdbtext.ParsePrinting(about.Args)
	told := func(end func(string) string) func(request.Answer, string) {
		return func(got request.Answer, value string) {
			if got.Failed() {
				then("", &protocol.Fault{Kind: protocol.FaultGDB, Message: got.Results.Str("msg")})
				return
			}
			then(gdbtext.Listed(end(value)), nil)
		}
	}
	p.arrays.arrayOf(about, func(a gdbtext.Array, bad *protocol.Fault) {
		switch {
		case gdbtext.HasSideEffects(w.Expr, a.Shape.Fortran):
			then("", bad)
		case bad == nil && a.Size <= MostFetched && !a.Scattered:
			last := min(a.Shape.Elements(), gdbtext.PageSize, max(MostFetched/a.Size, 1)) - 1
			p.askPrint(about, w, a.Slice(0, last), told(gdbtext.WithMore))
		default:
			p.askLarge(about, w, told(func(value string) string { return value }))
		}
	})
}

// MostFetched is the size of the values that gdb fetches, in bytes: its setting max-value-size, see
// Config.CommandLine.
const MostFetched = 1 << 20

func (p *Printer) replyValue(q *request.Request, body Printed, value string) {
	c := ColumnsOf(p.Process().Rank, q.Args.Limit)
	c.Add("value", q.Head+value)
	p.ReplyWith(q, q.BodyOf(body), c.Sorted())
}

// pageOf is the body of an answer that holds some elements of an array.
func pageOf(a gdbtext.Array, args protocol.Args, first, last int) Printed {
	p := Printed{Expr: args.Expr, Format: args.Format, Elements: a.Shape.Elements(), First: first, Last: last}
	if a.Shape.Fortran || len(a.Shape.Dims) > 1 {
		p.Shape = &a.Shape
	}
	return p
}

// page answers with some elements of an array. gdb builds nothing for them, as
// it would for the children of a variable object.
func (p *Printer) page(q *request.Request) {
	first, last := q.Args.First, min(q.Args.Last, q.Args.First+gdbtext.PageSize-1)
	if first < 0 || last < first {
		p.Fail(q, &protocol.Fault{Kind: protocol.FaultUsage, Message: fmt.Sprintf("there are no elements %d to %d", first, q.Args.Last)})
		return
	}
	w := q.Printing()
	p.arrays.arrayOf(q, func(a gdbtext.Array, refusal *protocol.Fault) {
		n := a.Shape.Elements()
		switch {
		case n == 0 && a.Base == "" && refusal != nil:
			p.pageOfContainer(q, w, first, last, refusal)
		case n > 0 && min(last, n-1) < first:
			p.Fail(q, &protocol.Fault{Kind: protocol.FaultGDB, Message: fmt.Sprintf("There are only %d elements.", n)})
		case refusal != nil:
			p.Fail(q, refusal)
		default:
			p.pageOfArray(q, w, a, first, last)
		}
	})
}

// pageOfArray answers with elements of an array, or with the first of them, as many as an answer may hold.
func (p *Printer) pageOfArray(q *request.Request, w gdbtext.Printing, a gdbtext.Array, first, last int) {
	last = min(last, a.Shape.Elements()-1)
	answer := func(got request.Answer, value string) {
		if got.Failed() {
			p.Refused(q, got)
			return
		}
		value, cut := gdbtext.WholeCharacters(value)
		if last == a.Shape.Elements()-1 {
			cut = 0
		}
		text, shown := value, last-first+1-cut
		if len(value) > p.most(w) {
			text, shown = gdbtext.Truncate(value, p.most(w))
		}
		p.replyPage(q, a, pageOf(a, q.Args, first, first+max(shown, 1)-1), text)
	}
	switch {
	case !a.Scattered:
		last = min(last, first+max(MostFetched/a.Size, 1)-1)
		p.askPrint(q, w, a.Slice(first, last), answer, w.InFull()...)
	case len(a.Shape.Dims) == 1:
		p.askLine(q, unbounded+w.Line(a.Slice(first, last), w.InFull()...), answer)
	case a.Shape.Fortran:
		p.askColumns(q, w, a, first, last, answer)
	default:
		p.Fail(q, notSideBySide(q))
	}
}

// unbounded has gdb fetch a value of any size that is sensible: elements that do not lie side by side are fetched with
// all that lies between them.
const unbounded = "with max-value-size 1073741824 -- "

// askColumns asks for elements of an array of Fortran, by the columns in which they lie.
func (p *Printer) askColumns(q *request.Request, w gdbtext.Printing, a gdbtext.Array, first, last int, then func(request.Answer, string)) {
	var parts []string
	var bad *request.Answer
	for i := first; i <= last; {
		n := min(a.Shape.Dims[0].Count-i%a.Shape.Dims[0].Count, last-i+1)
		i += n
		p.askLine(q, unbounded+w.Line(a.Base+a.Shape.Column(i-n, n), w.InFull()...), func(got request.Answer, value string) {
			if got.Failed() && bad == nil {
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

func notSideBySide(q *request.Request) *protocol.Fault {
	return &protocol.Fault{Kind: protocol.FaultGDB, Message: "the elements of " + q.Args.Expr + " do not lie side by side in memory"}
}
