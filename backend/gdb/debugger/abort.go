// MPI_Abort: ranks that call it stop there.

package debugger

import (
	"regexp"
	"runtime"
	"strconv"
	"strings"

	"sdm/backend"
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

// MPILibrary matches libraries that may contain MPI_Abort. gdb gets the same
// expression; it does not support "?".
var MPILibrary = regexp.MustCompile(`/libp*mpi[A-Za-z0-9_]*\.so`)

// mpi reports whether the rank has such a library, or was linked with a static one.
func (m *Machine) mpi() bool { return m.Host.MPI != nil && m.Host.MPI(m.Target.PID) }

// watchAbort sets the breakpoint for an MPI rank, unless it is set.
func (m *Machine) watchAbort() {
	if m.GDB.Abort.Off || m.abort.read || m.IsCore() || m.GDB.ten || !m.mpi() {
		return
	}
	m.abort.read = true
	if m.missSymbols() {
		m.readSymbols("sharedlibrary "+MPILibrary.String(), func() {})
	}
	if m.GDB.Abort.asked {
		return
	}
	m.GDB.Abort.asked = true
	m.ask(ours("break"), func(a answer) { m.GDB.abortSet(a) }, "-break-insert", append(m.here(), "MPI_Abort")...)
}

// libraryCame sets the breakpoint if a running rank loads MPI, as Python does. A gdb in
// all-stop mode needs a stopped rank.
func (m *Machine) libraryCame(name string) {
	if MPILibrary.MatchString(name) && m.State == backend.Running && !m.Target.AllStop {
		m.abort.read = false
		m.watchAbort()
	}
}

func (d *Debugger) abortSet(a answer) {
	bkpt := a.Results.Path("bkpt").Fields
	if d.Abort.number = bkpt.Str("number"); a.failed() || d.Abort.number == "" {
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
func (m *Machine) tellAbort(t *thread) {
	m.abort.told = true
	f, _ := frameIn(t.stop)
	m.ask(ours("print"), func(a answer) {
		code := a.Results.Str("value")
		m.withSource(t, func(f *frame, _ string) {
			body, c := m.stopBody(t, stopAtAbort), columnsOf(m.Target.Rank, 0)
			body.Within = "MPI_Abort"
			c.add("code", code)
			if f != nil {
				m.standWithin(t, f, &body, c)
				m.Event(protocol.KindStopped, body, c.sorted()...)
				return
			}
			c.list = append(c.list, m.stopColumns(t)...)
			m.tellCaller(t, body, c)
		})
	}, "-data-evaluate-expression", "--thread", strconv.Itoa(t.gdb), "--frame", "0", "--language", "c", abortCode(f.Func))
}

// tellCaller reports the call if no frame has source, as in Python: it shows the
// calling frame.
func (m *Machine) tellCaller(t *thread, body protocol.Stop, c *columns) {
	m.ask(ours("backtrace"), func(a answer) {
		if frames := framesIn(a.Results); len(frames) == 1 {
			f := frames[0].Frame
			f.Level = 0
			body.Frame = &f
		}
		m.Event(protocol.KindStopped, body, c.sorted()...)
	}, "-stack-list-frames", "--thread", strconv.Itoa(t.gdb), "1", "1")
}
