// MPI_Abort: ranks that call it stop there.

package debugger

import (
	"runtime"
	"strconv"
	"strings"

	"sdm/backend"
	"sdm/backend/gdb/request"
	"sdm/backend/gdb/values"
	"sdm/backend/mi"
	"sdm/protocol"
)

// stopAtAbort is the reason of such a stop.
const stopAtAbort = "mpi-abort"

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
	*Machine
	read bool // the symbols of its MPI library have been read
	told bool // the call has been reported and is not reported again
}

// mpi reports whether the rank has such a library, or was linked with a static one.
func (aw *abortWatch) mpi() bool { return aw.Host.mpi(aw.Target.PID) }

// watchAbort sets the breakpoint for an MPI rank, unless it is set.
func (aw *abortWatch) watchAbort() {
	if aw.GDB.Abort.Off || aw.read || aw.IsCore() || aw.GDB.isGDB10 || !aw.mpi() {
		return
	}
	aw.read = true
	if aw.Symbols.missSymbols() {
		aw.Symbols.readSymbols("sharedlibrary "+backend.MPILibrary.String(), func() {})
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

func (d *Debugger) abortSet(a request.Answer) {
	bkpt := a.Results.Path("bkpt").Fields
	if d.Abort.number = bkpt.Str("number"); a.Failed() || d.Abort.number == "" {
		d.Abort.asked = false // a library that is loaded later may have it
		return
	}
	for _, m := range d.Machines {
		m.points.claim(0, "MPI_Abort", bkpt) // number 0: not shown to the user
	}
}

// atAbort reports whether a stop is at that breakpoint.
func (aw *abortWatch) atAbort(stop mi.Tuple) bool {
	number, _, _ := strings.Cut(stop.Str("bkptno"), ".")
	return number != "" && number == aw.GDB.Abort.number
}

// abortCode returns the expression for the error code. It is the second argument by the
// calling convention, since MPI libraries rarely have debug information. Fortran passes
// its address.
func abortCode(function string) string {
	second := "$rsi"
	if runtime.GOARCH == "arm64" {
		second = "$x1"
	}
	if strings.HasPrefix(strings.TrimPrefix(function, "P"), "MPI_Abort") {
		return "(int)" + second
	}
	return "*(int *)" + second
}

// tellAbort reports the call at the frame of the program that made it, and selects that
// frame.
func (aw *abortWatch) tellAbort(t *values.Thread) {
	aw.told = true
	f, _ := values.FrameIn(t.Stop)
	aw.ask(request.Internal("print"), func(a request.Answer) {
		code := a.Results.Str("value")
		aw.stops.withSource(t, func(f *values.Frame, _ string) {
			body, c := aw.stops.stopBody(t, stopAtAbort), values.ColumnsOf(aw.Target.Rank, 0)
			body.Within = "MPI_Abort"
			c.Add("code", code)
			if f != nil {
				aw.stops.standWithin(t, f, &body, c)
				aw.Event(protocol.KindStopped, body, c.Sorted()...)
				return
			}
			c.Append(aw.stops.stopColumns(t)...)
			aw.tellCaller(t, body, c)
		})
	}, "-data-evaluate-expression", "--thread", strconv.Itoa(t.GDB), "--frame", "0", "--language", "c", abortCode(f.Func))
}

// tellCaller reports the call if no frame has source, as in Python: it shows the
// calling frame.
func (aw *abortWatch) tellCaller(t *values.Thread, body protocol.Stop, c *values.Columns) {
	aw.ask(request.Internal("backtrace"), func(a request.Answer) {
		if frames := values.FramesIn(a.Results); len(frames) == 1 {
			f := frames[0].Frame
			f.Level = 0
			body.Frame = &f
		}
		aw.Event(protocol.KindStopped, body, c.Sorted()...)
	}, "-stack-list-frames", "--thread", strconv.Itoa(t.GDB), "1", "1")
}
