// Ranks that stand in a library which has no source: where the program has called it.

package gdb

import (
	"strconv"
	"strings"

	"sdm/backend"
	"sdm/backend/mi"
	"sdm/protocol"
)

// mostSought bounds how far from the innermost frame one with source is looked for.
const mostSought = 100

// within is where a rank stands that was attached to in a library: in a function that a frame with source has called. The frame
// is the selected one, and next runs until the function has returned.
type within struct {
	at   selection // of that frame; 0 frames up: the rank stands in source itself
	line int       // of it
}

// inner is the function's own frame.
func (w within) inner() int { return w.at.frame - 1 }

// withSource looks for the innermost frame of a thread whose source can be read, unless that is where it stands, and hands on that
// frame and the name of the function that it has called; nil: there is none, or it stands there.
func (m *machine) withSource(t *thread, then func(f *frame, called string)) {
	if f, ok := frameIn(t.stop); !ok || f.Line != 0 || m.isCore() && crashed(t.stop) == "" {
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

func (m *machine) firstWithSource(stack mi.Tuple) (f *frame, called string) {
	for v := range stack.Path("stack").Fields.All("frame") {
		f := frameOf(v.Fields)
		if line, _ := m.textOf(f); line != "" {
			return &f, called
		}
		called = plainName(f.Func)
	}
	return nil, ""
}

// plainName is the name that people know of a function: that of the MPI standard for PMPI_Init, mpi_init_ and pmpi_init__.
func plainName(function string) string {
	name, ok := strings.CutPrefix(strings.TrimPrefix(strings.TrimRight(strings.ToLower(function), "_"), "p"), "mpi_")
	if !ok || name == "" || strings.ContainsAny(name, "<(: ") {
		return function
	}
	return "MPI_" + strings.ToUpper(name[:1]) + name[1:]
}

// stopAttached reports where a rank stands that was attached to. One that stands in a library is shown where the program has called it,
// and that frame is selected.
func (m *machine) stopAttached(t *thread) {
	m.watchAbort()
	m.withSource(t, func(f *frame, called string) {
		if f == nil || called == "" {
			m.stopNamed(t, "attached")
			return
		}
		body, c := m.stopBody(t, "attached"), columnsOf(m.target.Rank, 0)
		body.Within = called
		m.standWithin(t, f, &body, c)
		m.event(protocol.KindStopped, body, c.sorted()...)
	})
}

// standWithin selects the frame that has called what a thread stands in, and shows it as the place of the stop.
func (m *machine) standWithin(t *thread, f *frame, body *protocol.Stop, c *columns) {
	m.chosen = selection{thread: t.id, frame: f.Level}
	m.within = within{m.chosen, f.Line}
	c.add("others", "0")
	c.add("thread", strconv.Itoa(t.id))
	c.add("level", strconv.Itoa(f.Level))
	c.frame("", *f)
	shown := f.Frame
	shown.Level = 0 // differs between ranks
	body.Frame, body.Source = &shown, m.lineOf(*f)
}

// libraryCaller hands on the frame of the program that has called into the library in which a thread has got a signal or was
// interrupted, and what it has called; nil: there is none.
func (m *machine) libraryCaller(t *thread, then func(f *protocol.Frame, called string)) {
	if crashed(t.stop) == "" && ownReason(t.stop) {
		then(nil, "")
		return
	}
	m.withSource(t, func(f *frame, called string) {
		if f == nil {
			then(nil, "")
			return
		}
		then(&protocol.Frame{Func: f.Func, File: f.File, Full: f.Full, Line: f.Line}, called) // its level differs between ranks
	})
}

// tellEntered tells that a breakpoint at main comes too late for a rank that was attached to: where MPIR holds ranks, they stand in MPI_Init.
func (m *machine) tellEntered(q *request) {
	first := m.threads.find(1)
	if q.args.Location != "main" || q.again || m.target.Held || first == nil || m.stateNow() != backend.Stopped {
		return
	}
	m.ask(ours("break"), func(a answer) {
		for v := range a.Results.Path("stack").Fields.All("frame") {
			if v.Fields.Str("func") == "main" {
				m.event(protocol.KindNote, protocol.Note{Text: "main has been entered already, and the breakpoint there will hardly be hit (sdm run --stop-at main has ranks stop there before)"})
				return
			}
		}
	}, "-stack-list-frames", "--thread", m.gdbThread(first.id), "0", strconv.Itoa(mostSought))
}

// stepOut is next and step where the rank stands within a function that the selected frame has called: until it has returned, and then on
// to another line.
func (m *machine) stepOut(q *request) bool {
	w := m.within
	if w.at.frame == 0 || m.chosen != w.at || m.record.wanted {
		return false
	}
	m.resume(q, m.othersUnlocked(), "-exec-finish", "--thread", m.gdbThread(w.at.thread), "--frame", strconv.Itoa(w.inner()))
	m.run.thread = w.at.thread
	m.run.onward, m.run.line = max(q.args.Count, 1), w.line
	return true
}

// steppedOut goes on with a step once that function has returned. What else has stopped the rank on the way is told.
func (m *machine) steppedOut(r *run, t *thread) bool {
	if r.onward == 0 || t.id != r.thread || t.stop.Str("reason") != "function-finished" {
		return false
	}
	if f, _ := frameIn(t.stop); f.Line != r.line { // the call was the last of its line
		r.onward--
	}
	if r.onward == 0 {
		t.stop = stepped(withoutReason(t.stop))
		return false
	}
	m.state = backend.Stopped
	m.resumeOne(ours("next"), "-exec-next", strconv.Itoa(r.onward))
	m.run.silent = true
	return true
}
