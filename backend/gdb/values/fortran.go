// Variables of Fortran whose names gdb takes for functions.

package values

import (
	"cmp"

	"sdm/backend"
	"sdm/backend/gdb/gdbtext"
	"sdm/backend/gdb/request"
	"sdm/protocol"
)

// qualified asks for the value of an expression again if gdb has refused it because it took the name of a
// variable for a function: with the procedure of the frame in front of that name. In all other cases it
// calls otherwise.
func (p *Printer) qualified(q *request.Request, w gdbtext.Printing, expr string, refused request.Answer,
	otherwise func()) {
	before, name, after, ok := gdbtext.Unscoped(expr, refused.Results.Str("msg"))
	if !refused.Failed() || !ok {
		otherwise()
		return
	}
	p.frame(q, func(f Frame, ok bool) {
		if !ok || !gdbtext.IsFortran(f.File) {
			otherwise()
			return
		}
		expr := before + gdbtext.ProcedureName(f.Func) + "::" + name + after
		p.askPrint(q, w, expr, func(a request.Answer, value string) {
			p.qualified(q, w, expr, a, func() {
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

// frame calls then with the frame of a request; false if there is none.
func (p *Printer) frame(q *request.Request, then func(f Frame, ok bool)) {
	level := p.Frames.frameOf(q)
	p.Frames.ListFrames(q, cmp.Or(q.Args.Thread, p.Chosen().Thread), level, level, func(frames []Frame, _ string) {
		if len(frames) != 1 {
			then(Frame{}, false)
			return
		}
		then(frames[0], true)
	})
}

// inFortran calls then with whether the frame of a request is in a source file of Fortran. It asks gdb only for the
// callers of the innermost frame.
func (p *Printer) inFortran(q *request.Request, then func(yes bool)) {
	if p.StateNow() != backend.Stopped {
		then(false)
		return
	}
	at := p.Selected(q)
	if t := p.Threads().Find(at.Thread); at.Frame == 0 && t != nil {
		f, _ := FrameIn(t.Stop)
		then(gdbtext.IsFortran(f.File))
		return
	}
	p.frame(q, func(f Frame, ok bool) { then(ok && gdbtext.IsFortran(f.File)) })
}
