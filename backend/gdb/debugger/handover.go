// Handover of a stopped rank from a shared gdb to a gdb of its own.

package debugger

import (
	"slices"

	"sdm/backend/gdb/gdbtext"
	"sdm/backend/gdb/request"
	"sdm/backend/mi"
	"sdm/protocol"
)

// moves gives the rank a gdb of its own.
type moves struct {
	*core
	groupStop   *groupStop
	termination *termination
	commands    *commands
	recovery    *recovery
}

// begin executes a request in a gdb of the rank's own.
func (mv *moves) begin(w wish) {
	q, why := w.request, w.why
	if mv.queue(q) {
		return
	}
	if f := mv.StateNow().Refuse(protocol.NeedStopped); f != nil {
		f := *f
		f.Hint = "stopped, it gets a gdb of its own for " + why
		mv.Fail(q, &f)
		return
	}
	if mv.inCall {
		mv.Fail(q, &protocol.Fault{Kind: protocol.FaultState, Message: "the rank stands in a function that an expression has called, and cannot get a gdb of its own for " + why, Hint: "finish ends the call"})
		return
	}
	mv.enter(handingOver)
	mv.moving = &handover{
		why: why, allStop: w.allStop, waiting: []*request.Request{q}, chosen: mv.chosen, counted: mv.counted,
		watched: map[int]request.Selection{},
	}
	for _, p := range mv.points.List {
		mv.moving.watched[p.Number] = p.Watched
	}
	mv.moving.keepThreads(mv.core)
	mv.askKept()
}

// queue queues a request until the handover is complete.
func (mv *moves) queue(q *request.Request) bool {
	if mv.moving == nil || mv.State.IsOver() {
		return false
	}
	mv.moving.waiting = append(mv.moving.waiting, q)
	return true
}

// askKept asks gdb for what only gdb knows, and then detaches.
func (mv *moves) askKept() {
	h := mv.moving
	q := request.Internal("hand over")
	mv.ask(q, func(a request.Answer) { h.nameThreads(mv.threads, a.Results) }, "-list-thread-groups", mv.threadGroup)
	for i := range h.threads {
		if k := &h.threads[i]; k.signal != "" {
			mv.inConsoleOr(q, "info signals "+k.signal, func(a request.Answer) { k.signal = mv.passing(k.signal, a.Text) })
		}
	}
	mv.inConsoleOr(q, "show convenience", func(a request.Answer) { h.vars, h.lost = variablesIn(a.Text, mv.VariableSuffix()) })
	mv.ask(q, func(a request.Answer) {
		if mv.moving == h { // otherwise gdb has died
			mv.detachStopped(h.keepPoints(mv.core, a.Results))
		}
	}, "-break-list")
}

// passing returns the signal if the program is to get it according to gdb's table and this rank's,
// otherwise "".
func (mv *moves) passing(signal, table string) string {
	h, own := mv.handlesOwn(signal)
	if list := gdbtext.SignalsIn(table); !own && len(list) == 1 {
		h = list[0]
	}
	if h.Pass {
		return signal
	}
	return ""
}

// detachStopped deletes the breakpoints and detaches, leaving the rank stopped.
func (mv *moves) detachStopped(numbers []string) {
	mv.groupStop.restoreSIGCONT()
	if len(numbers) > 0 {
		mv.Tell("delete", "-break-delete", numbers...)
	}
	if mv.IsCore() {
		mv.detached()
		return
	}
	mv.flush()
}

func (mv *moves) detachNow() {
	for _, k := range mv.moving.threads {
		if k.flushed || k.stop.Str("reason") == "signal-received" {
			mv.Tell("signal", "-interpreter-exec", "--thread", mv.GDBThread(k.id), "console", "queue-signal 0")
		}
	}
	mv.send(ToTarget, sigStop)
	mv.termination.detachFrom(request.Internal("detach"), func(a request.Answer) {
		if mv.moving == nil {
			return
		}
		if a.Failed() {
			mv.notDetached(a.Results.Str("msg"))
			return
		}
		mv.detached()
	})
}

// notDetached continues with the old gdb. The SIGSTOP has still to be undone.
func (mv *moves) notDetached(why string) {
	mv.groupStop.frozen = true
	mv.stays(why)
}

// stays ends the handover; the rank stays in the old gdb.
func (mv *moves) stays(why string) {
	h := mv.moving
	mv.moving = nil
	mv.enter(held)
	mv.groupStop.ignoreSIGCONT()
	for _, q := range h.waiting {
		mv.Fail(q, &protocol.Fault{Kind: protocol.FaultGDB, Message: "the rank cannot get a gdb of its own: " + why})
	}
	mv.Event(protocol.KindNote, protocol.Note{Text: "the breakpoints of the rank are gone: gdb did not let it go when it was to get a gdb of its own (" + why + ")"})
}

// detached makes the host start a gdb; the machine continues in TakeOver, as after the
// death of a gdb.
func (mv *moves) detached() {
	if mv.State.IsOver() {
		return
	}
	mv.beginTakeover()
	mv.recovery.running, mv.recovery.firstStop, mv.recovery.seeks = false, "", false
	mv.journal.restart()
	mv.Target.AllStop = mv.Target.AllStop || mv.moving.allStop
	mv.awaitsGDB()
	mv.Out.Move = true
}

// settleMove checks whether the thread that flush or wake resumed has stopped.
func (mv *moves) settleMove() {
	if mv.moving == nil || mv.moving.awaking == nil || mv.moving.awaking.Stop == nil {
		return
	}
	h := mv.moving
	if !mv.isTakenOver() { // in the old gdb
		h.awaking = nil
		mv.flushed()
		return
	}
	if h.inlined == nil && mv.coversInlined() || h.inlined != nil && mv.uncoversInlined() {
		return
	}
	mv.awake()
}

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
	if slices.ContainsFunc(mv.GDB.ranks, func(o *core) bool { return o != mv.core && o.flushing() }) {
		return
	}
	usual := protocol.SignalInfo{Signal: "SIGWINCH", Pass: true}
	if told, ok := mv.GDB.handling.told[usual.Signal]; ok {
		usual = told
	}
	mv.Tell("handle", console, gdbtext.HandleLine(usual))
}

// flushing reports whether the rank is to stop at a SIGWINCH in its old gdb.
func (c *core) flushing() bool {
	return c.moving != nil && c.moving.awaking != nil && !c.isTakenOver() && !c.State.IsOver()
}

// notFlushed processes the error of flush's step, which comes after ^running: gdb
// resumes no thread while it cannot insert a breakpoint, even one of another rank. The
// rank stays in the old gdb. It returns false for any other error.
func (mv *moves) notFlushed(a mi.Record) bool {
	h := mv.moving
	if h == nil || h.awaking == nil || a.Token != h.step {
		return false
	}
	h.awaking.Stop = h.keptOf(h.awaking).stop
	mv.handleWinch()
	mv.stays(a.Results.Str("msg"))
	return true
}
