// What follows an input.

package debugger

import (
	"sdm/backend/gdb/request"
	"sdm/backend/gdb/values"
)

// settle continues what has waited for the input that has been processed, and checks whether the rank as a whole has
// changed its state.
func (m *Machine) settle() {
	for {
		m.grant()
		if !m.State.IsOver() {
			m.resumeNext()
			m.attach.settle()
			m.moves.settleMove()
			if r := m.runs.settle(); r != nil {
				m.allStopped(r)
			}
		}
		if len(m.wishes) == 0 && len(m.ready) == 0 {
			return
		}
	}
}

// grant gives the rank a gdb of its own if a request needs one, and executes what has waited for another gdb.
func (m *Machine) grant() {
	for len(m.wishes) > 0 {
		w := m.wishes[0]
		m.wishes = m.wishes[1:]
		m.moves.begin(w)
	}
	ready := m.ready
	m.ready = nil
	for _, q := range ready {
		if !q.Answered {
			m.admit(q)
		}
	}
}

// allStopped handles the complete stop of a run.
func (m *Machine) allStopped(r *run) {
	t := m.reportedThread(r)
	m.choose(request.Selection{Thread: t.ID})
	if t.Stop != nil { // otherwise it has not run, and sdm's SIGCONT is still pending
		m.groupStop.restoreSIGCONT()
	}
	report := func() { m.reportStop(r, t) }
	if m.termination.detach != nil {
		m.termination.detachHalted(report)
		return
	}
	if m.bringUp.foundProgram(t) || m.steps.steppedOut(r, t) ||
		m.bringUp.entersLibrary(t, report) || m.bringUp.entersProgramUnit(t, report) {
		return
	}
	report()
}

// reportStop reports the stop that a run has ended with.
func (m *Machine) reportStop(r *run, t *values.Thread) {
	m.Record.beginRecord()
	if m.first.place != "" {
		m.abort.watchAbort()
	}
	if m.abort.atAbort(t.Stop) {
		m.abort.told = true
		m.stops.tellAbort(t)
		return
	}
	m.stops.reportStop(r, t)
}

// underControl continues when gdb has the rank under control.
func (m *Machine) underControl(q *request.Request, first *values.Thread) {
	m.bringUp.askRegisters()
	m.filters.tellFiltersOfArguments()
	switch {
	case m.moving != nil && m.isTakenOver():
		m.bringUp.tellLanguage()
		m.moves.recovered()
	case m.isTakenOver():
		m.recovery.recovered(first)
	default:
		m.bringUp.begin(q, first)
	}
}
