// A pending SIGSTOP of gdb's at a handover.

package debugger

import (
	"slices"

	"sdm/backend/gdb/request"
	"sdm/backend/mi"
	"sdm/protocol"
)

// flush handles threads with a pending SIGSTOP that gdb has sent: they had stopped for
// another reason before it was delivered. When gdb detaches it removes such a SIGSTOP
// by SIGCONT, and the SIGSTOP of sdm with it. So the thread gets it now, followed by a
// signal that stops it again before its next instruction: the kernel delivers the lower
// number first.
func (m *Machine) flush() {
	h := m.moving
	for i := range h.threads {
		k := &h.threads[i]
		if t := m.threads.Find(k.id); t != nil && k.lwp != "" && !k.flushed && m.Host.pendsStop(m.Target.PID, k.lwp) {
			k.flushed = true
			h.awaking, t.Stop = t, nil
			m.send(ToTarget, sigWinch)
			m.Tell("handle", console, "handle SIGWINCH stop nopass")
			h.step = m.ask(request.Internal("signal"), nil, "-exec-step-instruction", "--thread", m.GDBThread(k.id)).token
			return
		}
	}
	m.detachNow()
}

// flushed continues when that thread has stopped again.
func (m *Machine) flushed() {
	m.handleWinch()
	m.flush()
}

// handleWinch restores the handling of SIGWINCH, unless another rank of this gdb still
// waits for one: gdb would not stop at it, and that rank would execute its step.
func (m *Machine) handleWinch() {
	if slices.ContainsFunc(m.GDB.Machines, func(o *Machine) bool { return o != m && o.flushing() }) {
		return
	}
	usual := protocol.SignalInfo{Signal: "SIGWINCH", Pass: true}
	if told, ok := m.GDB.handling.told[usual.Signal]; ok {
		usual = told
	}
	m.Tell("handle", console, handleLine(usual))
}

// flushing reports whether the rank is to stop at a SIGWINCH in its old gdb.
func (m *Machine) flushing() bool {
	return m.moving != nil && m.moving.awaking != nil && !m.rescue.under && !m.State.IsOver()
}

// notFlushed processes the error of flush's step, which comes after ^running: gdb
// resumes no thread while it cannot insert a breakpoint, even one of another rank. The
// rank stays in the old gdb.
func (m *Machine) notFlushed(a mi.Record) {
	h := m.moving
	h.awaking.Stop = h.keptOf(h.awaking).stop
	m.handleWinch()
	m.stays(a.Results.Str("msg"))
}
