// First stops behind main: at places that only a library of the program has, and at the program unit of Fortran.

package debugger

import (
	"fmt"

	"sdm/backend/gdb/gdbtext"
	"sdm/backend/gdb/request"
	"sdm/backend/gdb/values"
	"sdm/protocol"
)

// entersLibrary resumes a rank that goes by main to a place of a library. If there is no such place now either, the
// rank stays in main, with a note: to wait for a library that is loaded later would let it run to its end if the name
// is wrong. It returns false for any other stop.
func (b *bringUp) entersLibrary(t *values.Thread, report func()) bool {
	place := b.first.stopAt
	if place == stopAtMain || !b.first.firstAtMain(t) {
		return false
	}
	b.symbols.ReadLibraries()
	b.goOnTo(place, func(words string) {
		const stays = "cannot stop at %s: %s The rank stays in main; break %s waits for libraries that are loaded later."
		b.Event(protocol.KindNote, protocol.Note{Text: fmt.Sprintf(stays, place, words, place)})
		b.first.place = stopAtMain
		if !b.entersProgramUnit(t, report) {
			report()
		}
	})
	return true
}

// goOnTo makes a place the first stop of a rank that has stopped at main, and resumes the rank. It calls refused with
// gdb's words if there is no such place.
func (b *bringUp) goOnTo(place string, refused func(words string)) {
	b.first.arrived()
	b.first.place = place
	q := request.Internal("launch")
	b.first.breakAtStart(q, place, func(a request.Answer) {
		switch {
		case b.State.IsOver():
		case a.Failed():
			b.first.arrived()
			refused(a.Results.Str("msg"))
		default:
			b.points.Claim(0, place, a.Results.Path("bkpt").Fields)
			b.runs.resumeAll(q)
			b.run.silent = true
		}
	})
}

// entersProgramUnit resumes a rank that has stopped at such a main, until it is in the program unit, where gdb's
// start stops, too. If there is no program unit, it reports the stop at main. It returns false for any other stop.
func (b *bringUp) entersProgramUnit(t *values.Thread, report func()) bool {
	f, ok := values.FrameIn(t.Stop)
	if !ok || !b.first.firstAtMain(t) || !gdbtext.IsFortran(f.File) {
		return false
	}
	b.goOnTo(programUnit, func(string) { report() })
	return true
}
