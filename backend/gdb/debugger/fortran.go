// What is special in Fortran: its program unit, and variables whose names gdb takes for functions.

package debugger

import (
	"cmp"

	"sdm/backend/gdb/gdbtext"
	"sdm/protocol"
)

// scoped asks for the value of an expression once more, with its procedure in
// front of the name at which gdb gave it up; what is no such failure goes on by or.
func (m *Machine) scoped(q *Request, w gdbtext.Printing, expr string, refused answer, or func()) {
	before, name, after, ok := gdbtext.Unscoped(expr, refused.Results.Str("msg"))
	if !refused.failed() || !ok {
		or()
		return
	}
	level := m.frameOf(q)
	m.listFrames(q, cmp.Or(q.args.Thread, m.chosen.thread), level, level, func(frames []frame, _ string) {
		if len(frames) != 1 || !gdbtext.IsFortran(frames[0].File) {
			or()
			return
		}
		expr := before + gdbtext.ProcedureName(frames[0].Func) + "::" + name + after
		m.askPrint(q, w, expr, func(a answer, value string) {
			m.scoped(q, w, expr, a, func() {
				if !a.failed() {
					m.evaluated(q, a, value)
					return
				}
				m.fail(q, &protocol.Fault{
					Kind: protocol.FaultGDB, Message: refused.Results.Str("msg"),
					Hint: "gdb's Fortran has a function " + name + "; put the procedure or module of the variable in front, as in m::" + name,
				})
			})
		})
	})
}

// programUnit is how gfortran and Intel's compilers call the program unit, which a main that they make calls.
const programUnit = "MAIN__"

// entersProgramUnit lets a rank that has come to such a main go on to the program unit, where gdb's start stops, too. Where there
// is none the stop at main is told.
func (m *Machine) entersProgramUnit(r *run, t *thread) bool {
	f, ok := frameIn(t.stop)
	p := m.points.at(t.stop)
	if m.attach.away != stopAtMain || !ok || p == nil || p.number != 0 || !gdbtext.IsFortran(f.File) {
		return false
	}
	m.arrived()
	m.attach.away = programUnit
	q := ours("launch")
	m.breakAtStart(q, programUnit, func(a answer) {
		switch {
		case m.State.IsOver():
		case a.failed():
			m.arrived()
			m.reportStop(r, t)
		default:
			m.points.claim(0, programUnit, a.Results.Path("bkpt").Fields)
			m.resumeAll(q)
			m.run.silent = true
		}
	})
	return true
}
