// MPI_Abort: ranks that call it stop there.

package debugger

import (
	"strings"

	"sdm/backend"
	"sdm/backend/gdb/request"
	"sdm/backend/mi"
)

// abortPoint is the breakpoint at MPI_Abort, one for all ranks of a gdb. It is set at
// the first stop of a rank that has an MPI library or was linked with a static one, or
// when a running rank loads such a library. Fortran's mpi_abort and PMPI_Abort call it,
// or are aliases.
type abortPoint struct {
	Off    bool   // it is never set
	asked  bool   // gdb has been told to set it
	number string // gdb's number; "": not set yet
}

// abortWatch is its state for one rank.
type abortWatch struct {
	*core
	symbols *symbols
	read    bool // the symbols of its MPI library have been read
	told    bool // the call has been reported and is not reported again
}

// watchAbort sets the breakpoint for an MPI rank, unless it is set.
func (aw *abortWatch) watchAbort() {
	if aw.GDB.Abort.Off || aw.read || aw.IsCore() || aw.GDB.isGDB10 || !aw.Host.mpi(aw.Target.PID) {
		return
	}
	aw.read = true
	if aw.symbols.missSymbols() {
		aw.symbols.readSymbols("sharedlibrary "+backend.MPILibrary.String(), func() {})
	}
	if aw.GDB.Abort.asked {
		return
	}
	aw.GDB.Abort.asked = true
	aw.ask(request.Internal("break"), func(a request.Answer) { aw.GDB.abortSet(a) }, "-break-insert", append(aw.here(), "MPI_Abort")...)
}

// libraryCame sets the breakpoint if a running rank loads MPI, as Python does. A gdb in
// all-stop mode needs a stopped rank.
func (aw *abortWatch) libraryCame(name string) {
	if backend.MPILibrary.MatchString(name) && aw.State == backend.Running && !aw.Target.AllStop {
		aw.read = false
		aw.watchAbort()
	}
}

func (d *GDB) abortSet(a request.Answer) {
	bkpt := a.Results.Path("bkpt").Fields
	if d.Abort.number = bkpt.Str("number"); a.Failed() || d.Abort.number == "" {
		d.Abort.asked = false // a library that is loaded later may have it
		return
	}
	for _, m := range d.ranks {
		m.points.Claim(0, "MPI_Abort", bkpt) // number 0: not shown to the user
	}
}

// atAbort reports whether a stop is at that breakpoint.
func (aw *abortWatch) atAbort(stop mi.Tuple) bool {
	number, _, _ := strings.Cut(stop.Str("bkptno"), ".")
	return number != "" && number == aw.GDB.Abort.number
}
