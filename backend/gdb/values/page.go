// Arrays that are too long to be shown at once.

package values

import (
	"fmt"
	"strings"

	"sdm/backend/gdb/gdbtext"
	"sdm/backend/gdb/request"
	"sdm/protocol"
	"sdm/protocol/sideeffect"
)

// evaluatedWhole answers with a value. If gdb has truncated the value, or if it is too long, the answer
// also has the number of elements.
func (p *Printer) evaluatedWhole(q *request.Request, value string) {
	if len(value) <= MaxShown && !strings.Contains(value, "...") { // the usual case
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
		if bad == nil && a.OutOfOrder(value) {
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

// evaluatedLarge answers for a value that gdb has refused to fetch because it is too large: with the first
// elements of an array, or with fewElements of each array in it.
func (p *Printer) evaluatedLarge(q *request.Request, refusal request.Answer) {
	w := q.Printing()
	p.arrays.arrayOf(q, func(a gdbtext.Array, bad *protocol.Fault) {
		switch {
		case sideeffect.Of(w.Expr, a.Shape.Fortran):
			p.Refused(q, refusal)
		case bad == nil && a.Size <= MaxFetched:
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

// beginning is evaluatedLarge for a value that is shown in a list: it calls then with the text.
func (p *Printer) beginning(q *request.Request, expr string, then func(text string, bad *protocol.Fault)) {
	about := q.About(expr)
	w := gdbtext.ParsePrinting(about.Args)
	answer := func(end func(string) string) func(request.Answer, string) {
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
		case sideeffect.Of(w.Expr, a.Shape.Fortran):
			then("", bad)
		case bad == nil && a.Size <= MaxFetched && !a.Scattered:
			last := min(a.Shape.Elements(), gdbtext.PageSize, max(MaxFetched/a.Size, 1)) - 1
			p.askPrint(about, w, a.Slice(0, last), answer(gdbtext.WithMore))
		default:
			p.askLarge(about, w, answer(func(value string) string { return value }))
		}
	})
}

// MaxFetched is the size of the values that gdb fetches, in bytes: its setting max-value-size, see
// Config.CommandLine.
const MaxFetched = 1 << 20

func (p *Printer) replyValue(q *request.Request, body Printed, value string) {
	c := ColumnsOf(p.Process().Rank, q.Args.Limit)
	c.Add("value", q.Head+value)
	p.ReplyWith(q, q.BodyOf(body), c.Sorted())
}

// pageOf returns the body of an answer with the elements first to last of an array.
func pageOf(a gdbtext.Array, args protocol.Args, first, last int) Printed {
	p := Printed{Expr: args.Expr, Format: args.Format, Elements: a.Shape.Elements(), First: first, Last: last}
	if a.Shape.Fortran || len(a.Shape.Dims) > 1 {
		p.Shape = &a.Shape
	}
	return p
}

// page answers with the elements of an array that the request names. It evaluates an expression for them:
// a variable object would make gdb create an object for each element.
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

// pageOfArray answers with the elements first to last of an array, or with as many of them as an answer may
// contain.
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
		last = min(last, first+max(MaxFetched/a.Size, 1)-1)
		p.askPrint(q, w, a.Slice(first, last), answer, w.InFull()...)
	case len(a.Shape.Dims) == 1:
		p.askLine(q, unbounded+w.Line(a.Slice(first, last), w.InFull()...), answer)
	case a.Shape.Fortran:
		p.askColumns(q, w, a, first, last, answer)
	default:
		p.Fail(q, notContiguous(q))
	}
}

// unbounded makes gdb fetch values of up to a gibibyte: to fetch elements that are not contiguous it also
// fetches the memory between them.
const unbounded = "with max-value-size 1073741824 -- "

// askColumns asks for elements of an array of Fortran, one column of the array after another.
func (p *Printer) askColumns(q *request.Request, w gdbtext.Printing, a gdbtext.Array, first, last int,
	then func(request.Answer, string)) {
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

func notContiguous(q *request.Request) *protocol.Fault {
	return &protocol.Fault{Kind: protocol.FaultGDB, Message: "the elements of " + q.Args.Expr + " are not contiguous in memory"}
}
