// Requests of users: which are executed at once, which wait, and which are refused.

package debugger

import (
	"fmt"
	"sdm/backend"
	"sdm/backend/gdb/request"
	"sdm/protocol"
)

// admit executes an open request, refuses it, or has it wait.
func (m *Machine) admit(q *request.Request) {
	row, ok := lookup(q.Name)
	if !ok {
		m.Fail(q, &protocol.Fault{Kind: protocol.FaultUsage, Message: "gdb does not execute " + q.Name})
		return
	}
	if !row.always && (m.moves.queue(q) || m.recovery.queue(q)) {
		return
	}
	if f := m.StateNow().Refuse(row.info.Need); f != nil && !(row.early && m.State == backend.Attaching) {
		if !m.values.Printer.ReplyExitCode(q, m.termination.exitCode) {
			m.Fail(q, f)
		}
		return
	}
	if f := m.busy(); f != nil && !row.always {
		m.Fail(q, f)
		return
	}
	if f := m.attach.refuseForCore(row.info, &q.Args); f != nil {
		m.Fail(q, f)
		return
	}
	if f := m.refuseDeadly(q); f != nil {
		m.Fail(q, f)
		return
	}
	if q.Name != "interrupt" {
		m.Symbols.enough = false
	}
	if row.info.Resumes && m.preparing(q) {
		m.waiting = append(m.waiting, q)
		return
	}
	m.commands.execute(row, q)
}

// preparing reports whether breakpoints are being changed for an earlier request than
// q. That may take several commands of gdb, and the rank must not run between them.
func (m *Machine) preparing(q *request.Request) bool {
	for _, o := range m.Open {
		if o == q {
			return false
		}
		if info, _ := protocol.LookupCommand(o.Name); info.Prepares() {
			return true
		}
	}
	return false
}

// resumeNext executes resumes that have waited for such a change. The rank may have
// ended or been resumed meanwhile.
func (m *Machine) resumeNext() {
	for len(m.waiting) > 0 && !m.preparing(m.waiting[0]) {
		q := m.waiting[0]
		m.waiting = m.waiting[1:]
		if q.Answered { // its deadline has passed
			continue
		}
		row, _ := lookup(q.Name)
		if f := m.StateNow().Refuse(row.info.Need); f != nil {
			m.Fail(q, f)
			continue
		}
		m.commands.execute(row, q)
	}
}

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

// refuseDeadly refuses such a command; nil: it is not one.
func (m *Machine) refuseDeadly(q *request.Request) *protocol.Fault {
	if len(m.deadly) == 0 || !m.deadly[q.What()] {
		return nil
	}
	return &protocol.Fault{
		Kind: protocol.FaultEngine, Message: fmt.Sprintf("gdb has died at %q here", q.What()),
		Hint: "it is not asked again before the rank has run on",
	}
}
