// Ranks that have stopped in a library without source: the calling frame of the
// program.

package debugger

import (
	"strconv"
	"strings"

	"sdm/backend"
	"sdm/backend/mi"
	"sdm/protocol"
)

// mostSought bounds the search for a frame with source, from the innermost frame.
const mostSought = 100

// within is the frame with source that has called the library function in which a rank
// was attached to. It is the selected frame, and next runs until the function has
// returned.
type within struct {
	at   selection // that frame; level 0: the rank is in source itself
	line int       // line of that frame
}

// inner returns the level of the called function.
func (w within) inner() int { return w.at.frame - 1 }

// withSource finds the innermost frame of a thread whose source can be read, unless it
// is the innermost of all, and the function that it has called; nil: none.
func (m *Machine) withSource(t *thread, then func(f *frame, called string)) {
	if f, ok := frameIn(t.stop); !ok || f.Line != 0 || m.IsCore() && crashed(t.stop) == "" {
		then(nil, "")
		return
	}
	q := ours("backtrace")
	m.reach(q, t.id, mostSought, func() {
		m.ask(q, func(a answer) {
			f, called := m.firstWithSource(a.Results)
			if f == nil {
				then(nil, "")
				return
			}
			m.listFrames(q, t.id, f.Level, f.Level, func(frames []frame, _ string) {
				if len(frames) == 1 {
					f = &frames[0]
				}
				then(f, called)
			})
		}, "-stack-list-frames", "--thread", m.gdbThread(t.id), "0", strconv.Itoa(mostSought))
	})
}

func (m *Machine) firstWithSource(stack mi.Tuple) (f *frame, called string) {
	for v := range stack.Path("stack").Fields.All("frame") {
		f := frameOf(v.Fields)
		if line, _ := m.textOf(f); line != "" {
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
func (m *Machine) stopAttached(t *thread) {
	m.watchAbort()
	m.withSource(t, func(f *frame, called string) {
		if f == nil || called == "" {
			m.stopNamed(t, "attached")
			return
		}
		body, c := m.stopBody(t, "attached"), columnsOf(m.Target.Rank, 0)
		body.Within = called
		m.standWithin(t, f, &body, c)
		m.Event(protocol.KindStopped, body, c.sorted()...)
	})
}

// standWithin selects the calling frame and shows it as the place of the stop.
func (m *Machine) standWithin(t *thread, f *frame, body *protocol.Stop, c *columns) {
	m.chosen = selection{thread: t.id, frame: f.Level}
	m.within = within{m.chosen, f.Line}
	c.add("others", "0")
	c.add("thread", strconv.Itoa(t.id))
	c.add("level", strconv.Itoa(f.Level))
	c.frame("", *f)
	shown := f.Frame
	shown.Level = 0 // it differs between ranks
	body.Frame, body.Source = &shown, m.lineOf(*f)
}

// libraryCaller finds the frame of the program that has called the library in which a
// thread got a signal or was interrupted, and the called function; nil: none.
func (m *Machine) libraryCaller(t *thread, then func(f *protocol.Frame, called string)) {
	if crashed(t.stop) == "" && ownReason(t.stop) {
		then(nil, "")
		return
	}
	m.withSource(t, func(f *frame, called string) {
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
func (m *Machine) tellEntered(q *Request) {
	first := m.threads.find(1)
	if q.args.Location != "main" || q.again || m.Target.Held || first == nil || m.stateNow() != backend.Stopped {
		return
	}
	m.ask(ours("break"), func(a answer) {
		for v := range a.Results.Path("stack").Fields.All("frame") {
			if v.Fields.Str("func") == "main" {
				m.Event(protocol.KindNote, protocol.Note{Text: "main has been entered already, and the breakpoint there will hardly be hit (sdm run --stop-at main has ranks stop there before)"})
				return
			}
		}
	}, "-stack-list-frames", "--thread", m.gdbThread(first.id), "0", strconv.Itoa(mostSought))
}

// stepOut executes next and step if the rank is in a function that the selected frame
// has called: it runs until that has returned, and on to another line.
func (m *Machine) stepOut(q *Request) bool {
	w := m.within
	if w.at.frame == 0 || m.chosen != w.at || m.Record.Wanted {
		return false
	}
	m.resume(q, m.othersUnlocked(), "-exec-finish", "--thread", m.gdbThread(w.at.thread), "--frame", strconv.Itoa(w.inner()))
	m.run.thread = w.at.thread
	m.run.onward, m.run.line = max(q.args.Count, 1), w.line
	return true
}

// steppedOut continues a step when that function has returned. Other stops on the way
// are reported.
func (m *Machine) steppedOut(r *run, t *thread) bool {
	if r.onward == 0 || t.id != r.thread || t.stop.Str("reason") != "function-finished" {
		return false
	}
	if f, _ := frameIn(t.stop); f.Line != r.line { // the call was the last in its line
		r.onward--
	}
	if r.onward == 0 {
		t.stop = stepped(withoutReason(t.stop))
		return false
	}
	m.State = backend.Stopped
	m.resumeOne(ours("next"), "-exec-next", strconv.Itoa(r.onward))
	m.run.silent = true
	return true
}
