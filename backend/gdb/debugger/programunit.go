// The program unit of Fortran, at which a Fortran program stops first.

package debugger

import (
	"sdm/backend/gdb/gdbtext"
	"sdm/backend/gdb/values"
)

// programUnit is the name that gfortran and Intel's compilers give to the program unit. They generate a main
// that calls it.
const programUnit = "MAIN__"

// entersProgramUnit resumes a rank that has stopped at such a main, until it is in the program unit, where gdb's
// start stops, too. If there is no program unit, it reports the stop at main. It returns false for any other stop.
func (st *stops) entersProgramUnit(r *run, t *values.Thread) bool {
	f, ok := values.FrameIn(t.Stop)
	if !ok || !st.firstAtMain(t) || !gdbtext.IsFortran(f.File) {
		return false
	}
	st.goOnTo(programUnit, func(string) { st.reportStop(r, t) })
	return true
}
