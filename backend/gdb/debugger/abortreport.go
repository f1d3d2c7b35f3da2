// What is told of a rank that has called MPI_Abort.

package debugger

import (
	"runtime"
	"sdm/backend/gdb/request"
	"sdm/backend/gdb/values"
	"sdm/protocol"
	"strconv"
	"strings"
)

// stopAtAbort is the reason of such a stop.
const stopAtAbort = "mpi-abort"

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
func (st *stops) tellAbort(t *values.Thread) {
	f, _ := values.FrameIn(t.Stop)
	st.ask(request.Internal("print"), func(a request.Answer) {
		code := a.Results.Str("value")
		st.withSource(t, func(f *values.Frame, _ string) {
			body, c := st.stopBody(t, stopAtAbort), values.ColumnsOf(st.Target.Rank, 0)
			body.Within = "MPI_Abort"
			c.Add("code", code)
			if f != nil {
				st.standWithin(t, f, &body, c)
				st.Event(protocol.KindStopped, body, c.Sorted()...)
				return
			}
			c.Append(st.stopColumns(t)...)
			st.tellCaller(t, body, c)
		})
	}, "-data-evaluate-expression", "--thread", strconv.Itoa(t.GDB), "--frame", "0", "--language", "c", abortCode(f.Func))
}

// tellCaller reports the call if no frame has source, as in Python: it shows the
// calling frame.
func (st *stops) tellCaller(t *values.Thread, body protocol.Stop, c *values.Columns) {
	st.ask(request.Internal("backtrace"), func(a request.Answer) {
		if frames := values.FramesIn(a.Results); len(frames) == 1 {
			f := frames[0].Frame
			f.Level = 0
			body.Frame = &f
		}
		st.Event(protocol.KindStopped, body, c.Sorted()...)
	}, "-stack-list-frames", "--thread", strconv.Itoa(t.GDB), "1", "1")
}
