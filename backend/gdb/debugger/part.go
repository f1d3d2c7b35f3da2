// Parts of a value that gdb has cut off: a long array in a structure.

package debugger

import (
	"strconv"
	"strings"

	"sdm/backend/gdb/gdbtext"
	"sdm/protocol"
)

// goDown gives the expression for a part of a value of Fortran, whose elements are named by bounds that only their
// types tell; "" where it cannot be had.
func (m *Machine) goDown(q *Request, expr string, path []string, then func(expr string)) {
	switch {
	case len(path) == 0:
		then(expr)
	case path[0][0] == '%':
		m.goDown(q, expr+path[0], path[1:], then)
	default:
		m.arrayOf(q.about(expr), func(a gdbtext.Array, bad *protocol.Fault) {
			i, _ := strconv.Atoi(path[0]) // by cutFortran
			if bad != nil || i >= a.Shape.Elements() {
				then("")
				return
			}
			m.goDown(q, a.Item(i), path[1:], then)
		})
	}
}

// about returns a request for another expression, with the thread and the frame of this one. It is not
// answered.
func (q *Request) about(expr string) *Request {
	other := &Request{Command: &Command{Name: q.Name, args: q.args}, ID: q.ID, began: q.began, answered: true}
	other.args.Expr = expr
	return other
}

// evaluatedPart answers with a value, and says of the first part which was cut off how many elements there
// are.
func (m *Machine) evaluatedPart(q *Request, value string) {
	w := q.printing()
	text, _ := gdbtext.Truncate(value, m.most(w))
	if len(value) > m.most(w) && m.replyMembers(q, value, 0) {
		return
	}
	whole := func() { m.replyValue(q, printed{Expr: q.args.Expr}, text) }
	if items, n := gdbtext.ContainerItems(text); gdbtext.IsTruncated(text) && len(items) > 0 {
		shown := 0
		for _, item := range items {
			_, times := gdbtext.Repeats(item)
			shown += times
		}
		m.countOf(q, w, n, func(n int) {
			if n <= shown {
				whole()
				return
			}
			m.replyValue(q, printed{Expr: q.args.Expr, Format: q.args.Format, Elements: n, Last: shown - 1}, text)
		})
		return
	}
	part := func(expr string, shown int) {
		m.arrayOf(q.about(expr), func(a gdbtext.Array, refusal *protocol.Fault) {
			n := a.Shape.Elements()
			if refusal != nil || shown == 0 || n <= shown {
				whole()
				return
			}
			body := pageOf(a, q.args, 0, shown-1)
			body.Part = expr
			m.replyValue(q, body, text)
		})
	}
	if path, shown, ok := gdbtext.TruncatedFortran(value); ok {
		m.goDown(q, strings.TrimPrefix(w.Expr, "*"), path, func(expr string) { part(expr, shown) })
	} else if path, shown, ok := gdbtext.TruncatedPart(value); ok {
		part(gdbtext.PartExpr(w.Expr, path), shown)
	} else {
		whole()
	}
}
