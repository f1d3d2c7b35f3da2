// Handling of a gdb that does not answer.

package debugger

import (
	"fmt"
	"slices"
	"time"

	"sdm/backend"
	"sdm/backend/gdb/request"
	"sdm/protocol"
)

// interruption is the state of an interrupt that gdb has not processed yet.
type interruption struct {
	signalAt    time.Duration // when gdb is sent the next signal; 0: never
	unprocessed *call         // that interrupt; nil: none
	since       time.Duration // when the first of these was requested
	continued   bool          // SIGCONT has been sent
}

// signalWait is how long gdb may take to process an interrupt before it is sent a signal:
// SIGCONT first, in case it was stopped itself, then SIGINT. SIGINT ends a long reading
// of symbols and a call in an expression, for which -exec-interrupt waits. It comes
// last because it may also abort gdb's handling of an event of the target.
const signalWait = 250 * time.Millisecond

// interruptLimit is how long gdb may take in total; then it is killed, and another gdb takes
// over its ranks.
const interruptLimit = 5 * time.Second

// busy returns the fault for a command that would wait for an overdue one; nil: none is overdue.
func (m *Machine) busy() *protocol.Fault {
	if !m.GDB.late {
		return nil
	}
	k := m.GDB.Calls.current()
	if k == nil {
		m.GDB.late = false
		return nil
	}
	return &protocol.Fault{
		Kind: protocol.FaultEngine, Hint: "interrupt it, or kill the rank",
		Message: fmt.Sprintf("gdb is busy with %s and has not answered for %s", k.what(), rounded(m.now-k.sent)),
	}
}

func rounded(d time.Duration) time.Duration {
	if d < time.Second {
		return d.Round(time.Millisecond)
	}
	return d.Round(100 * time.Millisecond)
}

// tick processes all deadlines that have passed. It may be called early.
func (m *Machine) tick(now time.Duration) {
	m.now = now
	m.overdue()
	m.attach.attachOverdue()
	m.stops.displaysOverdue()
	if t := m.Symbols.readingDue(); t != 0 && now >= t {
		m.Symbols.tellReading(true)
	}
	m.runs.recheck()
	m.termination.checkAgain()
	if m.interruption.signalAt != 0 && now >= m.interruption.signalAt {
		m.signalGDB()
	}
	m.termination.escalate()
	m.termination.detachOverdue()
	m.runs.settle()
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
		if m.attach.request == q {
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
	at(m.interruption.signalAt)
	at(m.termination.killAt)
	if m.termination.detach != nil {
		at(m.termination.giveUp)
	}
	at(m.Symbols.readingDue())
	return first
}

// interrupt stops a running rank. For a stopped one it aborts what gdb is busy with for
// the rank, if anything.
func (m *Machine) interrupt(q *request.Request) {
	for _, o := range m.waiting { // they have not begun
		m.Fail(o, &protocol.Fault{Kind: protocol.FaultState, Message: "interrupted before it ran"})
	}
	m.waiting = nil
	if len(m.Open) == 1 && !m.GDB.late && m.StateNow() == backend.Stopped {
		m.Done(q)
		return
	}
	if r := m.run; r != nil {
		if r.interrupted && m.now < r.next && !m.GDB.late {
			m.Done(q) // it is stopping
			return
		}
		r.interrupted, r.next = true, m.now+recheckWait
	}
	m.interruptGDB(q)
}

// interruptGDB tells gdb to stop the rank, and checks that gdb processes it.
func (m *Machine) interruptGDB(q *request.Request) {
	w := &m.interruption
	if w.unprocessed == nil {
		w.since, w.continued = m.now, false
	}
	w.signalAt = m.now + signalWait
	w.unprocessed = m.ask(q, func(a request.Answer) {
		w.signalAt, w.unprocessed = 0, nil
		m.ThenDone(q)(a)
	}, "-exec-interrupt", "--thread-group", m.group)
	m.restoreSelection()
	if m.GDB.late {
		m.signalGDB()
	}
}

// signalGDB sends signals to a gdb that is stopped or busy, until it processes the
// interrupt.
func (m *Machine) signalGDB() {
	m.interruption.signalAt = 0
	k := m.GDB.Calls.current()
	if m.interruption.unprocessed == nil || k == nil {
		return
	}
	if took := m.now - m.interruption.since; took >= interruptLimit {
		m.GDB.replace(fmt.Sprintf("ended: it was busy with %s and did not hear an interrupt for %s", k.what(), rounded(took)))
		return
	}
	sig := sigInt
	if !m.interruption.continued {
		m.interruption.continued, sig = true, sigCont
	}
	m.interruption.signalAt = m.now + signalWait
	m.send(ToGDB, sig)
}

// replace kills a gdb that does not work any more; another gdb takes over its ranks. The
// ranks get SIGSTOP first, so that stopped ranks do not run on between the two.
func (d *Debugger) replace(why string) {
	d.Kill, d.Replaced = true, why
	d.freeze()
}
