// Expressions that are evaluated only if that changes nothing.

package values

import (
	"sdm/backend/gdb/request"
	"sdm/protocol"
	"sdm/protocol/sideeffect"
)

// Guard calls then, unless the request may change nothing and its expression assigns or calls a function. What the text
// does not tell, such as an operator of C++ that is a function, gdb refuses during the evaluation.
func (p *Printer) Guard(q *request.Request, then func()) {
	if !q.Args.Pure && q.Name != "members" { // whose expression is evaluated again for each page
		then()
		return
	}
	p.inFortran(q, func(fortran bool) {
		if expr := q.Printing().Expr; sideeffect.Of(expr, fortran) {
			p.Fail(q, protocol.NotPure(expr))
			return
		}
		then()
	})
}
