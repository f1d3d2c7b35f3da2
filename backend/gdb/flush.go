// A pending SIGSTOP of gdb's at a handover.

package gdb

import (
	"slices"
	"syscall"

	"sdm/backend/mi"
	"sdm/protocol"
)

// flush handles threads with a pending SIGSTOP that gdb has sent: they had stopped for
// another reason before it was delivered. When gdb detaches it removes such a SIGSTOP
// by SIGCONT, and the SIGSTOP of sdm with it. So the thread gets it now, followed by a
// signal that stops it again before its next instruction: the kernel delivers the lower
// number first.
func (m *machine) flush() {
	h := m.moving
	for i := range h.threads {
		k := &h.threads[i]
		if t := m.threads.find(k.id); t != nil && k.lwp != "" && !k.flushed && m.host.pendsStop != nil && m.host.pendsStop(m.target.PID, k.lwp) {
			k.flushed = true
			h.awaking, t.stop = t, nil
			m.out.signals = append(m.out.signals, signal{toTarget, syscall.SIGWINCH})
			m.tell("handle", console, "handle SIGWINCH stop nopass")
			h.step = m.ask(ours("signal"), nil, "-exec-step-instruction", "--thread", m.gdbThread(k.id)).token
			return
		}
	}
	m.detachNow()
}

// flushed continues when that thread has stopped again.
func (m *machine) flushed() {
	m.handleWinch()
	m.flush()
}

// handleWinch restores the handling of SIGWINCH, unless another rank of this gdb still
// waits for one: gdb would not stop at it, and that rank would execute its step.
func (m *machine) handleWinch() {
	if slices.ContainsFunc(m.gdb.machines, func(o *machine) bool { return o != m && o.flushing() }) {
		return
	}
	usual := protocol.SignalInfo{Signal: "SIGWINCH", Pass: true}
	if told, ok := m.gdb.handling.told[usual.Signal]; ok {
		usual = told
	}
	m.tell("handle", console, handleLine(usual))
}

// flushing reports whether the rank is to stop at a SIGWINCH in its old gdb.
func (m *machine) flushing() bool {
	return m.moving != nil && m.moving.awaking != nil && !m.rescue.under && !m.state.IsOver()
}

// notFlushed processes the error of flush's step, which comes after ^running: gdb
// resumes no thread while it cannot insert a breakpoint, even one of another rank. The
// rank stays in the old gdb.
func (m *machine) notFlushed(a mi.Record) {
	h := m.moving
	h.awaking.stop = h.keptOf(h.awaking).stop
	m.handleWinch()
	m.stays(a.Results.Str("msg"))
}
