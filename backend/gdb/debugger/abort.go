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
	Off    bool   // not wanted
	asked  bool   // gdb has been told to set it
	number string // gdb's number; "": not set yet
}

// abortWatch is its state for one rank.
type abortWatch struct {
	read bool // the symbols of its MPI library have been read
	told bool // the call has been reported and is not reported again
}

// mpi reports whether the rank has such a library, or was linked with a static one.
func (m *Machine) mpi() bool { return m.Host.mpi(m.Target.PID) }

// watchAbort sets the breakpoint for an MPI rank, unless it is set.
func (m *Machine) watchAbort() {
	if m.GDB.Abort.Off || m.abort.read || m.IsCore() || m.GDB.ten || !m.mpi() {
		return
	}
	m.abort.read = true
	if m.missSymbols() {
		m.readSymbols("sharedlibrary "+values.MPILibrary.String(), func() {})
	}
	if m.GDB.Abort.asked {
		return
	}
	m.GDB.Abort.asked = true
	m.ask(request.Internal("break"), func(a request.Answer) { m.GDB.abortSet(a) }, "-break-insert", append(m.here(), "MPI_Abort")...)
}

// libraryCame sets the breakpoint if a running rank loads MPI, as Python does. A gdb in
// all-stop mode needs a stopped rank.
func (m *Machine) libraryCame(name string) {
	if values.MPILibrary.MatchString(name) && m.State == backend.Running && !m.Target.AllStop {
		m.abort.read = false
		m.watchAbort()
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
func (m *Machine) atAbort(stop mi.Tuple) bool {
	number, _, _ := strings.Cut(stop.Str("bkptno"), ".")
	return number != "" && number == m.GDB.Abort.number
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
func (m *Machine) tellAbort(t *values.Thread) {
	m.abort.told = true
	f, _ := values.FrameIn(t.Stop)
	m.ask(request.Internal("print"), func(a request.Answer) {
		code := a.Results.Str("value")
		m.withSource(t, func(f *values.Frame, _ string) {
			body, c := m.stopBody(t, stopAtAbort), values.ColumnsOf(m.Target.Rank, 0)
			body.Within = "MPI_Abort"
			c.Add("code", code)
			if f != nil {
				m.standWithin(t, f, &body, c)
				m.Event(protocol.KindStopped, body, c.Sorted()...)
				return
			}
			c.Append(m.stopColumns(t)...)
			m.tellCaller(t, body, c)
		})
	}, "-data-evaluate-expression", "--thread", strconv.Itoa(t.GDB), "--frame", "0", "--language", "c", abortCode(f.Func))
}

// tellCaller reports the call if no frame has source, as in Python: it shows the
// calling frame.
func (m *Machine) tellCaller(t *values.Thread, body protocol.Stop, c *values.Columns) {
	m.ask(request.Internal("backtrace"), func(a request.Answer) {
		if frames := values.FramesIn(a.Results); len(frames) == 1 {
			f := frames[0].Frame
			f.Level = 0
			body.Frame = &f
		}
		m.Event(protocol.KindStopped, body, c.Sorted()...)
	}, "-stack-list-frames", "--thread", strconv.Itoa(t.GDB), "1", "1")
}
