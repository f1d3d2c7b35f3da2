// The program unit of Fortran, at which a Fortran program stops first.

package debugger

import (
	"sdm/backend/gdb/gdbtext"
	"sdm/backend/gdb/request"
	"sdm/backend/gdb/values"
)

// programUnit is the name that gfortran and Intel's compilers give to the program unit. They generate a main
// that calls it.
const programUnit = "MAIN__"

// entersProgramUnit resumes a rank that has stopped at such a main, until it is in the program unit, where gdb's
// start stops, too. If there is no program unit, it reports the stop at main. It returns false for any other stop.
func (st *stops) entersProgramUnit(r *run, t *values.Thread) bool {
	f, ok := values.FrameIn(t.Stop)
	p := st.points.at(t.Stop)
	if st.attach.firstStop != stopAtMain || !ok || p == nil || p.number != 0 || !gdbtext.IsFortran(f.File) {
		return false
	}
	st.attach.arrived()
	st.attach.firstStop = programUnit
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
