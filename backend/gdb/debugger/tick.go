// The deadlines of a rank.

package debugger

import (
	"fmt"
	"sdm/protocol"
	"slices"
	"time"
)

// tick processes all deadlines that have passed. It may be called early.
func (m *Machine) tick(now time.Duration) {
	m.now = now
	m.overdue()
	m.attach.attachOverdue()
	m.stops.displaysOverdue()
	m.wrapper.overdue()
	if t := m.Symbols.readingDue(); t != 0 && now >= t {
		m.Symbols.tellReading(true)
	}
	m.runs.recheck()
	m.runs.checkAgain()
	if m.interruption.signalAt != 0 && now >= m.interruption.signalAt {
		m.interruption.signalGDB()
	}
	m.termination.escalate()
	m.termination.detachOverdue()
	m.settle()
}

// overdue answers the requests whose share of the wait has passed.
func (m *Machine) overdue() {
	for _, q := range slices.Clone(m.Open) {
		if q.Deadline == 0 || m.now < q.Deadline {
			continue
		}
		f := &protocol.Fault{
			Kind: protocol.FaultEngine, Hint: "interrupt it, or kill the rank",
			Message: fmt.Sprintf("gdb has not answered in %s", rounded(m.now-q.Began)),
		}
		if m.attaching == q {
			f.Message = fmt.Sprintf("gdb has not brought the rank under control in %s", rounded(m.now-q.Began))
			f.Hint = "give it more time with --wait"
		} else if k := m.GDB.Calls.current(); k != nil {
			f.Message += ": it is busy with " + k.what()
			f.Busy = k.of != nil && k.of.ID == q.ID
			m.GDB.late = true
			if q.Name == "interrupt" {
				f.Hint = fmt.Sprintf("if it does not hear the interrupt in %s, another gdb takes the rank over", interruptLimit)
			}
		}
		m.Fail(q, f)
	}
}

// deadline returns the time at which tick must be called; 0: never.
func (m *Machine) deadline() time.Duration {
	var first time.Duration
	at := func(t time.Duration) {
		if t != 0 && (first == 0 || t < first) {
			first = t
		}
	}
	for _, q := range m.Open {
		at(q.Deadline)
	}
	if m.run != nil && m.run.interrupted {
		at(m.run.next)
	}
	if m.stops.deferred != nil {
		at(m.stops.deferred.until)
	}
	if m.run != nil {
		at(m.run.checkAt)
	}
	at(m.attach.attachDue())
	at(m.wrapper.tellAt)
	at(m.interruption.signalAt)
	at(m.killAt)
	if m.termination.detach != nil {
		at(m.termination.giveUp)
	}
	at(m.Symbols.readingDue())
	return first
}
