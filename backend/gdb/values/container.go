// Containers that a pretty-printer shows: they have no expression for an element, so that
// their pages are cut out of what gdb shows of them from the beginning.

package values

import (
	"fmt"
	"strconv"
	"strings"

	"sdm/backend/gdb/gdbtext"
	"sdm/backend/gdb/request"
	"sdm/protocol"
)

// countOf calls then with the number of elements of a container: n, which its pretty-printer has printed,
// or, if n is UnknownCount, the size that a std::list stores. 0: it is unknown.
func (p *Printer) countOf(q *request.Request, w gdbtext.Printing, n int, then func(n int)) {
	if n != gdbtext.UnknownCount {
		then(n)
		return
	}
	p.Ask(q, func(a request.Answer) {
		n, _ := strconv.Atoi(a.Results.Str("value")) // 0 if there is no such member
		then(n)
	}, "-data-evaluate-expression", append(p.At(q), " ("+w.Expr+")._M_impl._M_node._M_size")...)
}

// maxContained bounds how far pages of a container reach: gdb walks through it from the beginning, and
// shows two megabytes in a second.
const maxContained = 20_000

// pageOfContainer answers with some elements of a container, or with refusal if the value is not one.
func (p *Printer) pageOfContainer(q *request.Request, w gdbtext.Printing, first, last int, refusal *protocol.Fault) {
	if first >= maxContained {
		p.Fail(q, &protocol.Fault{Kind: protocol.FaultGDB, Message: fmt.Sprintf("the first %d elements of a container can be shown", maxContained)})
		return
	}
	p.askPrint(q, w, w.Expr, func(a request.Answer, value string) {
		items, n := gdbtext.ContainerItems(value)
		if a.Failed() || n == 0 {
			p.askMembers(q, w, first, refusal)
			return
		}
		p.countOf(q, w, n, func(n int) {
			if first >= len(items) {
				p.Fail(q, &protocol.Fault{Kind: protocol.FaultGDB, Message: fmt.Sprintf("There are only %d elements.", n)})
				return
			}
			last := min(last, len(items)-1)
			text, shown := gdbtext.Truncate("{"+strings.Join(items[first:last+1], ", ")+"}", p.most(w))
			p.replyValue(q, Printed{Expr: q.Args.Expr, Format: q.Args.Format, Elements: n, First: first,
				Last: first + max(shown, 1) - 1}, text)
		})
	}, fmt.Sprintf("-elements %d", 2*(last+1)), "-repeats unlimited") // gdb counts keys and values
}
