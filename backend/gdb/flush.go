// A SIGSTOP of gdb's own that has not been delivered when a rank is to be handed over.

package gdb

import (
	"slices"
	"syscall"

	"sdm/backend/mi"
	"sdm/protocol"
)

// flush deals with threads to which gdb has sent a SIGSTOP that they have not got: they had come to a stop of their own.
// Such a one it takes back by SIGCONT when it detaches, and ours with it. So the thread gets it now, and behind it a signal
// that stops it again before its next instruction: the kernel takes the lower number first.
func (m *machine) flush() {
	h := m.moving
	for i := range h.threads {
		k := &h.threads[i]
		if t := m.threads.find(k.id); t != nil && k.lwp != "" && !k.flushed && m.pendsStop(k.lwp) {
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

// flushed goes on when that thread stands again.
func (m *machine) flushed() {
	m.handleWinch()
	m.flush()
}

// handleWinch has gdb handle SIGWINCH as before flush, unless that of a neighbour is still to come: gdb would pass it
// over, and the neighbour would take its step.
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

// notFlushed takes the error of a step of flush, which comes after ^running: gdb resumes no thread while it cannot insert a
// breakpoint, be it that of a neighbour. The rank stays in the old gdb.
func (m *machine) notFlushed(a mi.Record) {
	h := m.moving
	h.awaking.stop = h.keptOf(h.awaking).stop
	m.handleWinch()
	m.stays(a.Results.Str("msg"))
}
