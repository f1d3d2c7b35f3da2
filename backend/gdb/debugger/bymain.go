// First stops behind main: at places that only a library of the program has, and at the program unit of Fortran.

package debugger

import (
	"fmt"
	"slices"

	"sdm/backend/gdb/request"
	"sdm/backend/gdb/values"
	"sdm/protocol"
)

// goByMain lets a rank run to main if the program does not have the place of its first stop: its libraries, one of
// which may have it, are loaded by then. why says that the rank stays where it is, if it has no main.
func (att *attachment) goByMain(q *request.Request, why string) {
	att.firstStop = stopAtMain
	att.breakAtStart(q, stopAtMain, func(a request.Answer) {
		switch {
		case att.State.IsOver():
		case a.Failed():
			att.Done(q)
			att.arrived()
			att.stayAtEntry(why)
		default:
			att.points.claim(0, stopAtMain, a.Results.Path("bkpt").Fields)
			att.leaveEntry(q)
		}
	})
}

// isFirst reports whether a breakpoint is that of a first stop. All ranks of a gdb may have reached it, so that it is
// gone.
func (st *stops) isFirst(p *point) bool {
	return p != nil && p.number == 0 && slices.Contains([]string{st.attach.stopAt, stopAtMain, programUnit}, p.location)
}

// firstAtMain reports whether a rank has stopped first, at main.
func (st *stops) firstAtMain(t *values.Thread) bool {
	return st.attach.firstStop == stopAtMain && st.isFirst(st.points.at(t.Stop))
}

// entersLibrary resumes a rank that goes by main to a place of a library. If there is no such place now either, the
// rank stays in main, with a note: to wait for a library that is loaded later would let it run to its end if the name
// is wrong. It returns false for any other stop.
func (st *stops) entersLibrary(r *run, t *values.Thread) bool {
	place := st.attach.stopAt
	if place == stopAtMain || !st.firstAtMain(t) {
		return false
	}
	st.Symbols.ReadLibraries()
	st.goOnTo(place, func(words string) {
		const stays = "cannot stop at %s: %s The rank stays in main; break %s waits for libraries that are loaded later."
		st.Event(protocol.KindNote, protocol.Note{Text: fmt.Sprintf(stays, place, words, place)})
		st.attach.firstStop = stopAtMain
		if !st.entersProgramUnit(r, t) {
			st.reportStop(r, t)
		}
	})
	return true
}

// goOnTo makes a place the first stop of a rank that has stopped at main, and resumes the rank. It calls refused with
// gdb's words if there is no such place.
func (st *stops) goOnTo(place string, refused func(words string)) {
	st.attach.arrived()
	st.attach.firstStop = place
	q := request.Internal("launch")
	st.attach.breakAtStart(q, place, func(a request.Answer) {
		switch {
		case st.State.IsOver():
		case a.Failed():
			st.attach.arrived()
			refused(a.Results.Str("msg"))
		default:
			st.points.claim(0, place, a.Results.Path("bkpt").Fields)
			st.runs.resumeAll(q)
			st.run.silent = true
		}
	})
}
