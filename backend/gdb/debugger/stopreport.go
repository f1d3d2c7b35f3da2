// The stages of a stop: what gdb is asked for before the stop is reported, in order.

package debugger

import (
	"slices"

	"sdm/backend/gdb/breakpoint"
	"sdm/backend/gdb/values"
	"sdm/protocol"
)

// stops reports stops.
type stops struct {
	*core
	symbols  *symbols
	first    *firstStop
	record   *recording
	deferred *deferredStop // a stop that waits for the values of displays, or nil
	within   within
}

// stopReport is a stop of the rank that is about to be reported.
type stopReport struct {
	thread *values.Thread
	reason string // replaces gdb's; "": it does not
	// brief reports where the rank is, without breakpoints and displays.
	brief   bool
	address bool            // with the address of the place, even if it has a line
	caller  *protocol.Frame // the frame of the program that has called the library; nil: none
	called  string          // … and the function of the library
	shown   []protocol.Display
	values  []string          // of shown
	output  breakpoint.Output // by commands of breakpoints
}

// stopStage asks gdb for a part of a report. It calls next once, at once or when gdb has answered.
type stopStage func(st *stops, s *stopReport, next func())

// stopStages are the stages of a stop that a resume ends with.
func stopStages() []stopStage {
	return []stopStage{
		(*stops).readFrames,   // symbols of libraries that were deferred
		(*stops).nameFrame,    // the innermost frame with a name
		(*stops).locatePoint,  // the location of the breakpoint
		(*stops).findCaller,   // of a function of a library
		(*stops).showDisplays, // and the output of commands of breakpoints
	}
}

// placeStages are the stages of a report of where a rank is.
func placeStages() []stopStage {
	return []stopStage{(*stops).nameFrame, (*stops).findCaller}
}

// reportStop reports the stop that a resume has ended with.
func (st *stops) reportStop(r *run, t *values.Thread) {
	st.passStages(&stopReport{thread: t, address: r.address}, stopStages())
}

// stopNamed reports the place of a rank that has not stopped for a reason of its own.
func (st *stops) stopNamed(t *values.Thread, reason string) {
	st.passStages(&stopReport{thread: t, reason: reason, brief: true}, placeStages())
}

// passStages has a report pass its stages, one after the other, and then emits it.
func (st *stops) passStages(s *stopReport, stages []stopStage) {
	if len(stages) == 0 {
		st.emitStop(s)
		return
	}
	stages[0](st, s, func() { st.passStages(s, stages[1:]) })
}

func (st *stops) readFrames(s *stopReport, next func()) { st.symbols.named(s.thread, next) }

func (st *stops) nameFrame(s *stopReport, next func()) { st.values.Frames.NameFrame(s.thread, next) }

func (st *stops) locatePoint(s *stopReport, next func()) { st.breaks.WithLocation(s.thread, next) }

func (st *stops) findCaller(s *stopReport, next func()) {
	if s.brief && values.Crashed(s.thread.Stop) == "" {
		next()
		return
	}
	st.libraryCaller(s.thread, func(f *protocol.Frame, called string) {
		s.caller, s.called = f, called
		next()
	})
}

func (st *stops) showDisplays(s *stopReport, next func()) {
	st.withDisplays(s.thread, func(shown []protocol.Display, values []string, output breakpoint.Output) {
		s.shown, s.values, s.output = shown, values, output
		next()
	})
}

// emitStop emits the event of a stop.
func (st *stops) emitStop(s *stopReport) {
	t := s.thread
	body := st.stopBody(t, s.reason)
	body.Caller, body.Within = s.caller, s.called
	if s.brief {
		st.Event(protocol.KindStopped, body, st.stopColumns(t)...)
		return
	}
	if values.OwnReason(t.Stop) {
		st.addPoints(&body, t)
	}
	st.first.arrived()
	if body.Temporary || body.Reason == protocol.WatchpointScope {
		st.journal.forget(body.Breakpoint)
	}
	for _, w := range body.Triggered {
		if w.Reason == protocol.WatchpointScope {
			st.journal.forget(w.Breakpoint)
		}
	}
	body.Displays, body.Commands = s.shown, s.output.Lines
	c := values.ColumnsWith(st.Target.Rank, st.stopColumns(t))
	if f, ok := values.FrameIn(t.Stop); ok && s.address && f.Line != 0 {
		c.Add("addr", f.Addr)
	}
	c.Displays(s.shown, s.values)
	s.output.AddTo(c)
	st.Event(protocol.KindStopped, body, c.Sorted()...)
}

// addPoints adds what the breakpoints of a stop ask for. The breakpoint of the first stop is at the same
// place as others and is not silent.
func (st *stops) addPoints(body *protocol.Stop, t *values.Thread) {
	reached := st.points.Reached(t.Stop)
	for _, p := range reached {
		body.Then = append(body.Then, p.Then()...)
	}
	silent := len(reached) > 0 && !slices.ContainsFunc(reached, func(p *breakpoint.Point) bool { return !p.IsSilent() })
	body.Silent = st.first.place == "" && silent
}

// stopAttached reports the place of a rank that was attached to. If it is in a library,
// the calling frame of the program is shown and selected.
func (st *stops) stopAttached(t *values.Thread) {
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
