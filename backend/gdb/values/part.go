// Parts of a value that gdb has cut off: a long array in a structure.

package values

import (
	"strconv"
	"strings"

	"sdm/backend/gdb/gdbtext"
	"sdm/backend/gdb/request"
	"sdm/protocol"
)

// goDown gives the expression for a part of a value of Fortran, whose elements are named by bounds that only their
// types tell; "" where it cannot be had.
func (p *Printer) goDown(q *request.Request, expr string, path []string, then func(expr string)) {
	switch {
	case len(path) == 0:
		then(expr)
	case path[0][0] == '%':
		p.goDown(q, expr+path[0], path[1:], then)
	default:
		p.arrays.arrayOf(q.About(expr), func(a gdbtext.Array, bad *protocol.Fault) {
			i, _ := strconv.Atoi(path[0]) // by cutFortran
			if bad != nil || i >= a.Shape.Elements() {
				then("")
				return
			}
			p.goDown(q, a.Item(i), path[1:], then)
		})
	}
}

// evaluatedPart answers with a value, and says of the first part which was cut off how many elements there
// are.
func (p *Printer) evaluatedPart(q *request.Request, value string) {
	w := q.Printing()
	text, _ := gdbtext.Truncate(value, p.most(w))
	if len(value) > p.most(w) && p.replyMembers(q, value, 0) {
		return
	}
	whole := func() { p.replyValue(q, Printed{Expr: q.Args.Expr}, text) }
	if items, n := gdbtext.ContainerItems(text); gdbtext.IsTruncated(text) && len(items) > 0 {
		shown := 0
		for _, item := range items {
			_, times := gdbtext.Repeats(item)
			shown += times
		}
		p.countOf(q, w, n, func(n int) {
			if n <= shown {
				whole()
				return
			}
			p.replyValue(q, Printed{Expr: q.Args.Expr, Format: q.Args.Format, Elements: n, Last: shown - 1}, text)
		})
		return
	}
	part := func(expr string, shown int) {
		p.arrays.arrayOf(q.About(expr), func(a gdbtext.Array, refusal *protocol.Fault) {
			n := a.Shape.Elements()
			if refusal != nil || shown == 0 || n <= shown {
				whole()
				return
			}
			body := pageOf(a, q.Args, 0, shown-1)
			body.Part = expr
			p.replyValue(q, body, text)
		})
	}
	if path, shown, ok := gdbtext.TruncatedFortran(value); ok {
		p.goDown(q, strings.TrimPrefix(w.Expr, "*"), path, func(expr string) { part(expr, shown) })
	} else if path, shown, ok := gdbtext.TruncatedPart(value); ok {
		part(gdbtext.PartExpr(w.Expr, path), shown)
	} else {
		whole()
	}
}
