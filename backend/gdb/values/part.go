// Parts of a value that gdb has truncated: a long array in a structure.

package values

import (
	"strconv"
	"strings"

	"sdm/backend/gdb/gdbtext"
	"sdm/backend/gdb/request"
	"sdm/protocol"
)

// partOfFortran calls then with the expression for the part of a Fortran value at a path (see
// gdbtext.TruncatedFortran), or with "" if there is none. It asks for the types of arrays on the path, since
// their bounds determine the indices.
func (p *Printer) partOfFortran(q *request.Request, expr string, path []string, then func(expr string)) {
	switch {
	case len(path) == 0:
		then(expr)
	case path[0][0] == '%':
		p.partOfFortran(q, expr+path[0], path[1:], then)
	default:
		p.arrays.arrayOf(q.About(expr), func(a gdbtext.Array, bad *protocol.Fault) {
			i, _ := strconv.Atoi(path[0])
			if bad != nil || i >= a.Shape.Elements() {
				then("")
				return
			}
			p.partOfFortran(q, a.Item(i), path[1:], then)
		})
	}
}

// evaluatedPart answers with a value. If a part of it was truncated, the answer also has the number of
// elements of the first such part.
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
		p.partOfFortran(q, strings.TrimPrefix(w.Expr, "*"), path, func(expr string) { part(expr, shown) })
	} else if path, shown, ok := gdbtext.TruncatedPart(value); ok {
		part(gdbtext.PartExpr(w.Expr, path), shown)
	} else {
		whole()
	}
}
