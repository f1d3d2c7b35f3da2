// Detaching from a rank.

package debugger

import (
	"strconv"
	"time"

	"sdm/backend/gdb/request"
)

// standstill is how long a rank may take to stop before it is detached from.
const standstill = 3 * time.Second

// detach detaches gdb from the rank. A rank that runs with breakpoints is stopped first: a child that
// it forks meanwhile has copies of the breakpoints, and only while it runs under gdb are they
// removed. A rank that does not stop is detached from as it is.
func (m *Machine) detach(q *request.Request) {
	r := m.run
	if r == nil || !r.started || len(m.points.list) == 0 || m.Target.AllStop || m.ending.detach != nil {
		m.detachAtOnce(q, nil)
		return
	}
	m.ending.detach, m.ending.giveUp = q, m.now+standstill
	if !r.interrupted || r.stale {
		m.stopRest(r)
	}
}

// detachHalted continues a detach that waits for the rank to stop. report is called if gdb refuses.
func (m *Machine) detachHalted(report func()) {
	q := m.ending.detach
	m.ending.detach = nil
	m.detachAtOnce(q, report)
}

// detachOverdue continues a detach whose rank does not stop.
func (m *Machine) detachOverdue() {
	if m.ending.detach != nil && m.now >= m.ending.giveUp {
		m.detachHalted(nil)
	}
}

// emptyGroup is gdb's error for the group of an inferior without a process.
const emptyGroup = "Thread group is empty"

// detachAtOnce detaches from the rank, and undoes a stop by sdm. If gdb refuses, refused is called,
// unless it is nil.
func (m *Machine) detachAtOnce(q *request.Request, refused func()) {
	m.ending.leaving = true
	m.letGoOf(q, func(a request.Answer) {
		if a.Failed() && a.Results.Str("msg") != emptyGroup { // an empty group has been detached from already
			m.ending.leaving = false
			m.Refused(q, a)
			if refused != nil {
				refused()
			}
			return
		}
		m.thaw()
		m.left()
	})
}

// letGoOf has gdb detach from the rank. A child whose fork gdb has not handled yet has copies of the
// breakpoints: gdb detaches from it without removing them (linux-nat.c, detach_one_lwp), and the
// child would end by SIGTRAP. The loop removes them before.
func (m *Machine) letGoOf(q *request.Request, then func(request.Answer)) {
	m.Out.Mend = true
	m.selectNeighbour()
	m.ask(q, then, "-target-detach", m.group)
}

// selectNeighbour has a shared gdb select a thread of another rank. A command with --thread-group can
// leave gdb with the inferior of that group and a thread of another one (mi-main.c, mi_cmd_execute:
// any_live_thread_of_inferior prefers the selected thread if it has stopped). A -target-detach of the
// group of that thread finds the thread selected already, does not switch, and detaches from the wrong
// inferior (seen with 13.1). The command has no other effect.
func (m *Machine) selectNeighbour() {
	for _, o := range m.GDB.Machines {
		if o != m && len(o.threads) > 0 {
			m.Tell("select", "-list-features", "--thread", strconv.Itoa(o.threads[0].GDB))
			return
		}
	}
}

// leaveAsFound detaches at the end of a session. A process that was stopped by a signal before the
// session, and has not been resumed, stays stopped.
func (m *Machine) leaveAsFound() {
	m.attach.frozen = false
	m.detach(request.Internal("detach"))
}
