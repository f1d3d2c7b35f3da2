// MPI_Abort: ranks stop where they call it.

package gdb

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

// abortPoint is the breakpoint at MPI_Abort: one for all ranks of a gdb, as that of the start. It is set at the first stop of a rank that
// has a library of MPI or MPI in itself, or when a rank that runs loads such a library. Fortran's mpi_abort and PMPI_Abort come by there, or are other names of it.
type abortPoint struct {
	off    bool   // nobody wants it
	asked  bool   // gdb has been told
	number string // gdb's; "" before it is there
}

// abortWatch is what that means for one rank.
type abortWatch struct {
	read bool // the symbols of its library are read
	told bool // it has called MPI_Abort: the call is not told again
}

// mpiLibrary are the libraries that may have MPI_Abort.
// gdb takes the same expression: it knows no "?".
var mpiLibrary = regexp.MustCompile(`/libp*mpi[A-Za-z0-9_]*\.so`)

// mpi tells whether the rank has such a library, or was linked with a static one.
func (m *machine) mpi() bool { return m.looks.mpi != nil && m.looks.mpi(m.target.PID) }

// watchAbort sets the breakpoint where that has not been done and the rank is one of MPI.
func (m *machine) watchAbort() {
	if m.gdb.abort.off || m.abort.read || m.isCore() || m.gdb.ten || !m.mpi() {
		return
	}
	m.abort.read = true
	if m.missSymbols() {
		m.readSymbols("sharedlibrary "+mpiLibrary.String(), func() {})
	}
	if m.gdb.abort.asked {
		return
	}
	m.gdb.abort.asked = true
	m.ask(ours("break"), func(a answer) { m.gdb.abortSet(a) }, "-break-insert", append(m.here(), "MPI_Abort")...)
}

// libraryCame sets the breakpoint where a rank loads MPI while it runs, as Python does. A gdb in all-stop needs a rank that stands.
func (m *machine) libraryCame(name string) {
	if mpiLibrary.MatchString(name) && m.state == backend.Running && !m.target.AllStop {
		m.abort.read = false
		m.watchAbort()
	}
}

func (d *debugger) abortSet(a answer) {
	bkpt := a.Results.Path("bkpt").Fields
	if d.abort.number = bkpt.Str("number"); a.failed() || d.abort.number == "" {
		d.abort.asked = false // a library that comes later may have it
		return
	}
	for _, m := range d.machines {
		m.points.claim(0, "MPI_Abort", bkpt) // people do not see it
	}
}

// atAbort tells whether a stop is the call.
func (m *machine) atAbort(stop mi.Tuple) bool {
	number, _, _ := strings.Cut(stop.Str("bkptno"), ".")
	return number != "" && number == m.gdb.abort.number
}

// abortCode is what gdb is asked for the code: the second argument, by the calling convention, since libraries of MPI rarely have debug
// information. Fortran passes its address.
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

// tellAbort reports the call, where the program has made it. That frame is selected.
func (m *machine) tellAbort(t *thread) {
	m.abort.told = true
	f, _ := frameIn(t.stop)
	m.ask(ours("print"), func(a answer) {
		code := a.Results.Str("value")
		m.withSource(t, func(f *frame, _ string) {
			body, c := m.stopBody(t, stopAtAbort), columnsOf(m.target.Rank, 0)
			body.Within = "MPI_Abort"
			c.add("code", code)
			if f != nil {
				m.standWithin(t, f, &body, c)
				m.event(protocol.KindStopped, body, c.sorted()...)
				return
			}
			c.list = append(c.list, m.stopColumns(t)...)
			m.tellCaller(t, body, c)
		})
	}, "-data-evaluate-expression", "--thread", strconv.Itoa(t.gdb), "--frame", "0", "--language", "c", abortCode(f.Func))
}

// tellCaller reports the call where nothing on the stack has source, as in Python: the frame is the one that has made it.
func (m *machine) tellCaller(t *thread, body protocol.Stop, c *columns) {
	m.ask(ours("backtrace"), func(a answer) {
		if frames := framesIn(a.Results); len(frames) == 1 {
			f := frames[0].Frame
			f.Level = 0
			body.Frame = &f
		}
		m.event(protocol.KindStopped, body, c.sorted()...)
	}, "-stack-list-frames", "--thread", strconv.Itoa(t.gdb), "1", "1")
}
