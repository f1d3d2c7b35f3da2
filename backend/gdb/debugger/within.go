// Ranks that have stopped in a library without source: the calling frame of the
// program.

package debugger

import (
	"strconv"
	"strings"

	"sdm/backend"
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
	st.Symbols.Reach(q, t.ID, maxSearched, func() {
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

// plainName returns the usual name of a function: that of the MPI standard for
// PMPI_Init, mpi_init_ and pmpi_init__.
func plainName(function string) string {
	name, ok := strings.CutPrefix(strings.TrimPrefix(strings.TrimRight(strings.ToLower(function), "_"), "p"), "mpi_")
	if !ok || name == "" || strings.ContainsAny(name, "<(: ") {
		return function
	}
	return "MPI_" + strings.ToUpper(name[:1]) + name[1:]
}

// stopAttached reports the place of a rank that was attached to. If it is in a library,
// the calling frame of the program is shown and selected.
func (st *stops) stopAttached(t *values.Thread) {
	st.abort.watchAbort()
	st.withSource(t, func(f *values.Frame, called string) {
		if f == nil || called == "" {
			st.stopNamed(t, "attached")
			return
		}
		body, c := st.stopBody(t, "attached"), values.ColumnsOf(st.Target.Rank, 0)
		body.Within = called
		st.standWithin(t, f, &body, c)
		st.Event(protocol.KindStopped, body, c.Sorted()...)
	})
}

// standWithin selects the calling frame and shows it as the place of the stop.
func (st *stops) standWithin(t *values.Thread, f *values.Frame, body *protocol.Stop, c *values.Columns) {
	st.chosen = request.Selection{Thread: t.ID, Frame: f.Level}
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

// tellEntered notes that a breakpoint at main comes too late for a rank that was
// attached to: MPIR stops ranks in MPI_Init.
func (st *stops) tellEntered(q *request.Request) {
	first := st.threads.Find(1)
	if q.Args.Location != "main" || q.Replayed || st.Target.Held || first == nil || st.StateNow() != backend.Stopped {
		return
	}
	st.ask(request.Internal("break"), func(a request.Answer) {
		for v := range a.Results.Path("stack").Fields.All("frame") {
			if v.Fields.Str("func") == "main" {
				st.Event(protocol.KindNote, protocol.Note{Text: "main has been entered already, and the breakpoint there will hardly be hit (sdm run --stop-at main has ranks stop there before)"})
				return
			}
		}
	}, "-stack-list-frames", "--thread", st.GDBThread(first.ID), "0", strconv.Itoa(maxSearched))
}

// stepOut executes next and step if the rank is in a function that the selected frame
// has called: it runs until that has returned, and on to another line.
func (st *stops) stepOut(q *request.Request) bool {
	w := st.within
	if w.at.Frame == 0 || st.chosen != w.at || st.Record.Wanted {
		return false
	}
	st.runs.resume(q, st.runs.othersUnlocked(), "-exec-finish", "--thread", st.GDBThread(w.at.Thread), "--frame", strconv.Itoa(w.inner()))
	st.run.thread = w.at.Thread
	st.run.onward, st.run.line = max(q.Args.Count, 1), w.line
	return true
}

// steppedOut continues a step when that function has returned. Other stops on the way
// are reported.
func (st *stops) steppedOut(r *run, t *values.Thread) bool {
	if r.onward == 0 || t.ID != r.thread || t.Stop.Str("reason") != "function-finished" {
		return false
	}
	if f, _ := values.FrameIn(t.Stop); f.Line != r.line { // the call was the last in its line
		r.onward--
	}
	if r.onward == 0 {
		t.Stop = stepped(withoutReason(t.Stop))
		return false
	}
	st.State = backend.Stopped
	st.runs.resumeOne(request.Internal("next"), "-exec-next", strconv.Itoa(r.onward))
	st.run.silent = true
	return true
}
