// The new gdb of a rank that is handed over.

package debugger

import (
	"sdm/backend/gdb/request"
	"sdm/backend/gdb/values"
	"sdm/backend/mi"
	"sdm/protocol"
	"slices"
	"strconv"
)

// recovered continues when the new gdb has the rank under control.
func (mv *moves) recovered() {
	mv.ask(request.Internal("hand over"), func(a request.Answer) {
		mv.recognize(a.Results)
		mv.wake()
	}, "-list-thread-groups", mv.threadGroup)
}

// recognize gives the threads their previous numbers.
func (mv *moves) recognize(groups mi.Tuple) {
	h := mv.moving
	for n, lwp := range lwpsIn(groups) {
		t := mv.threads.ByGDB(n)
		i := slices.IndexFunc(h.threads, func(k keptThread) bool { return k.lwp == lwp })
		if t != nil && i >= 0 {
			t.ID, t.Stop = h.threads[i].id, h.threads[i].stop
		}
	}
	slices.SortFunc(mv.threads, func(a, b *values.Thread) int { return a.ID - b.ID })
	mv.counted, mv.recounts = max(h.counted, mv.counted), true
	mv.choose(h.chosen)
	if mv.threads.Find(mv.chosen.Thread) == nil && len(mv.threads) > 0 {
		mv.choose(request.Selection{Thread: mv.threads[0].ID})
	}
}

// wake ends the group stop of the rank before gdb inserts breakpoints, and prepares the
// signals that threads get when they resume. The kernel accepts a signal from gdb only
// for a thread in signal-delivery-stop (ptrace(2)). So a thread is sent SIGCONT, which
// is delivered before its next instruction.
func (mv *moves) wake() {
	h := mv.moving
	switch i := slices.IndexFunc(h.threads, func(k keptThread) bool { return k.signal != "" }); {
	case i >= 0:
		h.awaking = mv.threads.Find(h.threads[i].id)
		h.queued, h.threads[i].signal = h.threads[i].signal, ""
	case mv.groupStop.frozen:
		h.awaking, h.queued = mv.selectedThread(), ""
	default:
		mv.commands.replay(mv.journal.repeats, mv.moved)
		return
	}
	if h.awaking == nil { // it has ended
		mv.wake()
		return
	}
	h.awaking.Stop, h.inlined, mv.groupStop.frozen = nil, nil, false
	mv.send(ToTarget, sigCont)
	mv.Tell("handle", console, "handle SIGCONT stop nopass")
	if mv.Target.AllStop {
		mv.Tell("signal", "-gdb-set", "scheduler-locking", "on") // the others must not move
	}
	mv.Tell("signal", "-exec-step-instruction", "--thread", mv.GDBThread(h.awaking.ID))
}

// selectedThread returns the selected thread.
func (mv *moves) selectedThread() *values.Thread {
	if t := mv.threads.Find(mv.chosen.Thread); t != nil {
		return t
	}
	return mv.threads[0]
}

// awake continues after wake has stopped a thread at its signal.
func (mv *moves) awake() {
	h := mv.moving
	mv.Tell("handle", console, handleIgnoring)
	if mv.Target.AllStop {
		mv.Tell("signal", "-gdb-set", "scheduler-locking", "replay") // gdb's default
	}
	if h.queued != "" {
		mv.Tell("signal", "-interpreter-exec", "--thread", mv.GDBThread(h.awaking.ID), "console", "queue-signal "+h.queued)
	}
	h.awaking = nil
	mv.wake()
}

// moved executes the waiting requests after the new gdb has executed the journal.
func (mv *moves) moved() {
	h := mv.moving
	if h == nil || mv.State.IsOver() {
		return
	}
	mv.tellKept(h)
	mv.moving = nil
	mv.takenOver()
	mv.standsStill()
	mv.Event(protocol.KindNote, protocol.Note{Text: "the rank has a gdb of its own now, for " + h.why + h.missing()})
	for _, q := range h.waiting {
		if row, ok := lookup(q.Name); ok && !q.Answered {
			mv.commands.execute(row, q)
		}
	}
}

// tellKept gives the new gdb what the old one knew, and restores the stops of the
// threads.
func (mv *moves) tellKept(h *handover) {
	for _, k := range h.threads {
		if t := mv.threads.Find(k.id); t != nil {
			t.Stop = mv.points.Renumbered(k.stop, k.stopped)
		}
	}
	for _, k := range h.points {
		if p := mv.points.Find([]int{k.number}); p != nil {
			p.Before = k.hits
			mv.Tell("ignore", "-break-after", p.GDB, strconv.Itoa(k.ignore))
		}
	}
	for _, v := range h.vars {
		mv.Tell("set", console, "set $"+v.name+" = "+v.value)
	}
}

// inlined are the frames at the place of a rank that is handed over. At the first
// instruction of an inlined function gdb shows the enclosing function until a step
// enters the inlined one. After an attach, and after a step by an instruction, it shows
// the inlined function at once (skip_inline_frames in inline-frame.c and its callers in
// infrun.c). The rank is shown as its old gdb showed it: the new gdb hides such frames
// when a signal stops the thread before its next instruction, and each step then shows
// one of them without executing an instruction.
type inlined struct {
	frames []shownPlace // innermost first, none hidden
	want   int          // index of the frame that the old gdb showed as the innermost
}

// maxInlined bounds how many frames are compared.
const maxInlined = 16

// shownPlace distinguishes frames at one instruction.
type shownPlace struct{ function, line string }

func shownPlaceOf(frame mi.Tuple) shownPlace {
	return shownPlace{frame.Str("func"), frame.Str("line")}
}

// coversInlined makes the new gdb show the woken thread as the old one did; false if it
// already does.
func (mv *moves) coversInlined() bool {
	h := mv.moving
	t := h.awaking
	k := h.keptOf(t)
	// the thread blocks SIGCONT, and would run
	if k == nil || t.Stop.Str("signal-name") != "SIGCONT" {
		return false
	}
	now, then := t.Stop.Path("frame").Fields, k.stop.Path("frame").Fields
	if now.Str("addr") != then.Str("addr") || shownPlaceOf(now) == shownPlaceOf(then) {
		return false
	}
	t.Stop = nil
	mv.ask(request.Internal("hand over"), func(a request.Answer) {
		var frames []shownPlace
		for v := range a.Results.Path("stack").Fields.All("frame") {
			frames = append(frames, shownPlaceOf(v.Fields))
		}
		want := slices.Index(frames, shownPlaceOf(then))
		if mv.moving != h {
			return
		}
		if want <= 0 {
			mv.awake()
			return
		}
		h.inlined = &inlined{frames, want}
		mv.send(ToTarget, sigCont)
		mv.Tell("signal", "-exec-continue", "--thread", mv.GDBThread(t.ID))
	}, "-stack-list-frames", "--thread", mv.GDBThread(t.ID), "0", strconv.Itoa(maxInlined-1))
	return true
}

// uncoversInlined makes the new gdb show one more hidden frame, if the old one showed
// it; false if it already does.
func (mv *moves) uncoversInlined() bool {
	h := mv.moving
	t := h.awaking
	shown := slices.Index(h.inlined.frames, shownPlaceOf(t.Stop.Path("frame").Fields))
	if shown <= h.inlined.want {
		return false
	}
	t.Stop = nil
	mv.Tell("signal", "-exec-step", "--thread", mv.GDBThread(t.ID))
	return true
}
