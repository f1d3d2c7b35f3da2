// Structures that are too long to be shown at once: they are paged by their members.

package values

import (
	"sdm/backend/gdb/gdbtext"
	"sdm/backend/gdb/request"
	"sdm/protocol"
	"sdm/protocol/sideeffect"
)

// replyMembers answers with the members of a structure from first on. It returns false if the value has
// no such members.
func (p *Printer) replyMembers(q *request.Request, value string, first int) bool {
	w := q.Printing()
	all := gdbtext.Segments(value, p.most(w))
	if first >= len(all) {
		return false
	}
	text, last := gdbtext.PageOfMembers(all, first, p.most(w))
	body := Printed{Expr: q.Args.Expr, Format: q.Args.Format}
	if !sideeffect.Of(w.Expr, false) { // otherwise the other members cannot be asked for
		body.Elements, body.First, body.Last, body.Members = len(all), first, last, true
	}
	p.replyValue(q, body, text)
	return true
}

// askMembers answers with the members of a structure from first on, or with refusal if the value is not
// one.
func (p *Printer) askMembers(q *request.Request, w gdbtext.Printing, first int, refusal *protocol.Fault) {
	p.askPrint(q, w, w.Expr, func(a request.Answer, value string) {
		value = value[len(gdbtext.ReferenceHead(value)):]
		if a.Failed() || !p.replyMembers(q, value, first) {
			p.Fail(q, refusal)
		}
	})
}
