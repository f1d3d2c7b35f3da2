// Variables of Fortran whose names gdb takes for functions.

package values

import (
	"cmp"

	"sdm/backend/gdb/gdbtext"
	"sdm/backend/gdb/request"
	"sdm/protocol"
)

// scoped asks for the value of an expression once more, with its procedure in
// front of the name at which gdb gave it up; what is no such failure goes on by or.
func (p *Printer) scoped(q *request.Request, w gdbtext.Printing, expr string, refused request.Answer, or func()) {
	before, name, after, ok := gdbtext.Unscoped(expr, refused.Results.Str("msg"))
	if !refused.Failed() || !ok {
		or()
		return
	}
	level := p.Frames.frameOf(q)
	p.Frames.ListFrames(q, cmp.Or(q.Args.Thread, p.Chosen().Thread), level, level, func(frames []Frame, _ string) {
		if len(frames) != 1 || !gdbtext.IsFortran(frames[0].File) {
			or()
			return
		}
		expr := before + gdbtext.ProcedureName(frames[0].Func) + "::" + name + after
		p.askPrint(q, w, expr, func(a request.Answer, value string) {
			p.scoped(q, w, expr, a, func() {
				if !a.Failed() {
					p.evaluated(q, a, value)
					return
				}
				p.Fail(q, &protocol.Fault{
					Kind: protocol.FaultGDB, Message: refused.Results.Str("msg"),
					Hint: "gdb's Fortran has a function " + name + "; put the procedure or module of the variable in front, as in m::" + name,
				})
			})
		})
	})
}
