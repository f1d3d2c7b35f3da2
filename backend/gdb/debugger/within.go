// Ranks that have stopped in a library without source: the calling frame of the
// program.

package debugger

import (
	"strconv"
	"strings"

	"sdm/backend/gdb/request"
	"sdm/backend/gdb/values"
	"sdm/backend/mi"
	"sdm/protocol"
)

// maxSearched bounds the search for a frame with source, from the innermost frame.
const maxSearched = 100

// within is the frame with source that has called the library function in which a rank
// was attached to. It is the selected frame, and next runs until the function has
// returned.
type within struct {
	at   request.Selection // that frame; level 0: the rank is in source itself
	line int               // line of that frame
}

// inner returns the level of the called function.
func (w within) inner() int { return w.at.Frame - 1 }

// withSource finds the innermost frame of a thread whose source can be read, unless it
// is the innermost of all, and the function that it has called; nil: none.
func (st *stops) withSource(t *values.Thread, then func(f *values.Frame, called string)) {
	if f, ok := values.FrameIn(t.Stop); !ok || f.Line != 0 || st.IsCore() && values.Crashed(t.Stop) == "" {
		then(nil, "")
		return
	}
	q := request.Internal("backtrace")
	st.symbols.Reach(q, t.ID, maxSearched, func() {
		st.ask(q, func(a request.Answer) {
			f, called := st.firstWithSource(a.Results)
			if f == nil {
				then(nil, "")
				return
			}
			st.values.Frames.ListFrames(q, t.ID, f.Level, f.Level, func(frames []values.Frame, _ string) {
				if len(frames) == 1 {
					f = &frames[0]
				}
				then(f, called)
			})
		}, "-stack-list-frames", "--thread", st.GDBThread(t.ID), "0", strconv.Itoa(maxSearched))
	})
}

func (st *stops) firstWithSource(stack mi.Tuple) (f *values.Frame, called string) {
	for v := range stack.Path("stack").Fields.All("frame") {
		f := values.FrameOf(v.Fields)
		if line, _ := st.values.Frames.TextOf(f); line != "" {
			return &f, called
		}
		called = plainName(f.Func)
	}
	return nil, ""
}

// plainName returns the usual name of a function: for PMPI_Init, mpi_init_ and pmpi_init__ the name
// in the MPI standard.
func plainName(function string) string {
	name, ok := strings.CutPrefix(strings.TrimPrefix(strings.TrimRight(strings.ToLower(function), "_"), "p"), "mpi_")
	if !ok || name == "" || strings.ContainsAny(name, "<(: ") {
		return function
	}
	return "MPI_" + strings.ToUpper(name[:1]) + name[1:]
}

// standWithin selects the calling frame and shows it as the place of the stop.
func (st *stops) standWithin(t *values.Thread, f *values.Frame, body *protocol.Stop, c *values.Columns) {
	st.choose(request.Selection{Thread: t.ID, Frame: f.Level})
	st.within = within{st.chosen, f.Line}
	c.Add("others", "0")
	c.Add("thread", strconv.Itoa(t.ID))
	c.Add("level", strconv.Itoa(f.Level))
	c.Frame("", *f)
	shown := f.Frame
	shown.Level = 0 // it differs between ranks
	body.Frame, body.Source = &shown, st.values.Frames.LineOf(*f)
}

// libraryCaller finds the frame of the program that has called the library in which a
// thread got a signal or was interrupted, and the called function; nil: none.
func (st *stops) libraryCaller(t *values.Thread, then func(f *protocol.Frame, called string)) {
	if values.Crashed(t.Stop) == "" && values.OwnReason(t.Stop) {
		then(nil, "")
		return
	}
	st.withSource(t, func(f *values.Frame, called string) {
		if f == nil {
			then(nil, "")
			return
		}
		// the level differs between ranks
		then(&protocol.Frame{Func: f.Func, File: f.File, Full: f.Full, Line: f.Line}, called)
	})
}
