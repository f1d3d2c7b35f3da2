// Structures that are too long to be shown at once: they are paged by their members.

package debugger

import (
	"sdm/backend/gdb/gdbtext"
	"sdm/protocol"
)

// replyMembers answers with the members of a structure from first on; false where the value has none.
func (m *Machine) replyMembers(q *Request, value string, first int) bool {
	w := q.printing()
	all := gdbtext.Segments(value, m.most(w))
	if first >= len(all) {
		return false
	}
	text, last := gdbtext.PageOfMembers(all, first, m.most(w))
	body := printed{Expr: q.args.Expr, Format: q.args.Format}
	if !gdbtext.HasSideEffects(w.Expr, false) { // else there is no way to the others
		body.Elements, body.First, body.Last, body.Members = len(all), first, last, true
	}
	m.replyValue(q, body, text)
	return true
}

// askMembers is page for a structure; the refusal is the answer where it is none.
func (m *Machine) askMembers(q *Request, w gdbtext.Printing, first int, refusal *protocol.Fault) {
	m.askPrint(q, w, w.Expr, func(a answer, value string) {
		value = value[len(gdbtext.ReferenceHead(value)):]
		if a.failed() || !m.replyMembers(q, value, first) {
			m.fail(q, refusal)
		}
	})
}
