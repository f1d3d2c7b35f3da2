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
func (mv *moves) flush() {
	h := mv.moving
	for i := range h.threads {
		k := &h.threads[i]
		if t := mv.threads.Find(k.id); t != nil && k.lwp != "" && !k.flushed && mv.Host.pendsStop(mv.Target.PID, k.lwp) {
			k.flushed = true
			h.awaking, t.Stop = t, nil
			mv.send(ToTarget, sigWinch)
			mv.Tell("handle", console, "handle SIGWINCH stop nopass")
			h.step = mv.ask(request.Internal("signal"), nil, "-exec-step-instruction", "--thread", mv.GDBThread(k.id)).token
			return
		}
	}
	mv.detachNow()
}

// flushed continues when that thread has stopped again.
func (mv *moves) flushed() {
	mv.handleWinch()
	mv.flush()
}

// handleWinch restores the handling of SIGWINCH, unless another rank of this gdb still
// waits for one: gdb would not stop at it, and that rank would execute its step.
func (mv *moves) handleWinch() {
	if slices.ContainsFunc(mv.GDB.Machines, func(o *Machine) bool { return o != mv.Machine && o.moves.flushing() }) {
		return
	}
	usual := protocol.SignalInfo{Signal: "SIGWINCH", Pass: true}
	if told, ok := mv.GDB.handling.told[usual.Signal]; ok {
		usual = told
	}
	mv.Tell("handle", console, handleLine(usual))
}

// flushing reports whether the rank is to stop at a SIGWINCH in its old gdb.
func (mv *moves) flushing() bool {
	return mv.moving != nil && mv.moving.awaking != nil && !mv.recovery.under && !mv.State.IsOver()
}

// notFlushed processes the error of flush's step, which comes after ^running: gdb
// resumes no thread while it cannot insert a breakpoint, even one of another rank. The
// rank stays in the old gdb.
func (mv *moves) notFlushed(a mi.Record) {
	h := mv.moving
	h.awaking.Stop = h.keptOf(h.awaking).stop
	mv.handleWinch()
	mv.stays(a.Results.Str("msg"))
}
