// The program unit of Fortran, at which a job that stops in main stops.

package debugger

import (
	"sdm/backend/gdb/gdbtext"
	"sdm/backend/gdb/request"
	"sdm/backend/gdb/values"
)

// programUnit is how gfortran and Intel's compilers call the program unit, which a main that they make calls.
const programUnit = "MAIN__"

// entersProgramUnit lets a rank that has come to such a main go on to the program unit, where gdb's start stops, too. Where there
// is none the stop at main is told.
func (st *stops) entersProgramUnit(r *run, t *values.Thread) bool {
	f, ok := values.FrameIn(t.Stop)
	p := st.points.at(t.Stop)
	if st.attach.away != stopAtMain || !ok || p == nil || p.number != 0 || !gdbtext.IsFortran(f.File) {
		return false
	}
	st.attach.arrived()
	st.attach.away = programUnit
	q := request.Internal("launch")
	st.attach.breakAtStart(q, programUnit, func(a request.Answer) {
		switch {
		case st.State.IsOver():
		case a.Failed():
			st.attach.arrived()
			st.reportStop(r, t)
		default:
			st.points.claim(0, programUnit, a.Results.Path("bkpt").Fields)
			st.runs.resumeAll(q)
			st.run.silent = true
		}
	})
	return true
}
