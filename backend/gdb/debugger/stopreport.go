// The way of a stop: what gdb is asked before a stop is reported, in order.

package debugger

import (
	"slices"

	"sdm/backend/gdb/values"
	"sdm/protocol"
)

// stopReport is a stop of the rank that is about to be reported.
type stopReport struct {
	thread *values.Thread
	reason string // replaces that of gdb; "": it does not
	// brief reports where the rank is, without breakpoints and displays.
	brief   bool
	address bool            // with the address of the place, even if it has a line
	caller  *protocol.Frame // the frame of the program that has called the library; nil: none
	called  string          // … and the function of the library
	shown   []protocol.Display
	values  []string // of shown
	spoken  spoken   // by commands of breakpoints
}

// stopStage asks gdb for a part of a report. It calls next once, at once or when gdb has answered.
type stopStage func(m *Machine, s *stopReport, next func())

// stopStages are the stages of a stop that a resume ends with.
func stopStages() []stopStage {
	return []stopStage{
		(*Machine).readFrames,   // symbols of libraries that were deferred
		(*Machine).nameFrame,    // the innermost frame with a name
		(*Machine).locatePoint,  // the location of the breakpoint
		(*Machine).findCaller,   // of a function of a library
		(*Machine).showDisplays, // and the output of commands of breakpoints
	}
}

// placeStages are the stages of a stop that tells where a rank is.
func placeStages() []stopStage {
	return []stopStage{(*Machine).nameFrame, (*Machine).findCaller}
}

// reportStop reports the stop that a resume has ended with.
func (m *Machine) reportStop(r *run, t *values.Thread) {
	m.beginRecord()
	if first := m.attach.away != ""; first {
		m.watchAbort()
	}
	if m.atAbort(t.Stop) {
		m.tellAbort(t)
		return
	}
	m.passStages(&stopReport{thread: t, address: r.address}, stopStages())
}

// stopNamed reports the place of a rank that has not stopped for a reason of its own.
func (m *Machine) stopNamed(t *values.Thread, reason string) {
	m.passStages(&stopReport{thread: t, reason: reason, brief: true}, placeStages())
}

// passStages has a report pass its stages, one after the other, and then emits it.
func (m *Machine) passStages(s *stopReport, stages []stopStage) {
	if len(stages) == 0 {
		m.emitStop(s)
		return
	}
	stages[0](m, s, func() { m.passStages(s, stages[1:]) })
}

func (m *Machine) readFrames(s *stopReport, next func()) { m.named(s.thread, next) }

func (m *Machine) nameFrame(s *stopReport, next func()) { m.values.Frames.StandsNamed(s.thread, next) }

func (m *Machine) locatePoint(s *stopReport, next func()) { m.placed(s.thread, next) }

func (m *Machine) findCaller(s *stopReport, next func()) {
	if s.brief && values.Crashed(s.thread.Stop) == "" {
		next()
		return
	}
	m.libraryCaller(s.thread, func(f *protocol.Frame, called string) {
		s.caller, s.called = f, called
		next()
	})
}

func (m *Machine) showDisplays(s *stopReport, next func()) {
	m.withDisplays(s.thread, func(shown []protocol.Display, values []string, spoken spoken) {
		s.shown, s.values, s.spoken = shown, values, spoken
		next()
	})
}

// emitStop emits the event of a stop.
func (m *Machine) emitStop(s *stopReport) {
	t := s.thread
	body := m.stopBody(t, s.reason)
	body.Caller, body.Within = s.caller, s.called
	if s.brief {
		m.Event(protocol.KindStopped, body, m.stopColumns(t)...)
		return
	}
	if values.OwnReason(t.Stop) {
		m.addPoints(&body, t)
	}
	m.arrived()
	if body.Temporary || body.Reason == protocol.WatchpointScope {
		m.forget(body.Breakpoint)
	}
	for _, w := range body.Triggered {
		if w.Reason == protocol.WatchpointScope {
			m.forget(w.Breakpoint)
		}
	}
	body.Displays, body.Commands = s.shown, s.spoken.lines
	c := values.ColumnsWith(m.Target.Rank, m.stopColumns(t))
	if f, ok := values.FrameIn(t.Stop); ok && s.address && f.Line != 0 {
		c.Add("addr", f.Addr)
	}
	c.Displays(s.shown, s.values)
	outputs(c, s.spoken)
	m.Event(protocol.KindStopped, body, c.Sorted()...)
}

// addPoints adds what the breakpoints of a stop ask for. The breakpoint of the first stop is at the same
// place as others and is not silent.
func (m *Machine) addPoints(body *protocol.Stop, t *values.Thread) {
	reached := m.points.reached(t.Stop)
	for _, p := range reached {
		body.Then = append(body.Then, p.then()...)
	}
	silent := len(reached) > 0 && !slices.ContainsFunc(reached, func(p *point) bool { return !p.silent() })
	body.Silent = m.attach.away == "" && silent
}
