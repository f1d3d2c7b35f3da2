// Inlined functions that begin where a rank stands.

package gdb

import (
	"slices"
	"strconv"
	"syscall"

	"sdm/backend/mi"
)

// inlined are the frames at the place of a rank that is handed over. At the first instruction of an
// inlined function gdb shows the function around it until a step enters the inlined one. Where it
// has attached, and after a step by an instruction, it shows the inlined function at once
// (skip_inline_frames in inline-frame.c and its callers in infrun.c). The rank is shown as its old
// gdb has shown it: the new gdb hides such frames when a signal stops the thread before its next
// instruction, and a step shows one of them without executing an instruction.
type inlined struct {
	frames []shownPlace // innermost first, as a gdb shows them that hides none
	want   int          // which of them the old gdb has shown as the innermost
}

// mostInlined bounds how many frames are looked at.
const mostInlined = 16

// shownPlace is what tells frames at one instruction apart.
type shownPlace struct{ function, line string }

func shownPlaceOf(frame mi.Tuple) shownPlace {
	return shownPlace{frame.Str("func"), frame.Str("line")}
}

// coversInlined has the new gdb show the thread that it has just woken as the old one did; false if it does.
func (m *machine) coversInlined() bool {
	h := m.moving
	t := h.awaking
	k := h.keptOf(t)
	if k == nil || t.stop.Str("signal-name") != "SIGCONT" { // the thread blocks SIGCONT, and would run away
		return false
	}
	now, then := t.stop.Path("frame").Fields, k.stop.Path("frame").Fields
	if now.Str("addr") != then.Str("addr") || shownPlaceOf(now) == shownPlaceOf(then) {
		return false
	}
	t.stop = nil
	m.ask(ours("hand over"), func(a answer) {
		var frames []shownPlace
		for v := range a.Results.Path("stack").Fields.All("frame") {
			frames = append(frames, shownPlaceOf(v.Fields))
		}
		want := slices.Index(frames, shownPlaceOf(then))
		if m.moving != h {
			return
		}
		if want <= 0 {
			m.awake()
			return
		}
		h.inlined = &inlined{frames, want}
		m.out.signals = append(m.out.signals, signal{toTarget, syscall.SIGCONT})
		m.tell("signal", "-exec-continue", "--thread", m.gdbThread(t.id))
	}, "-stack-list-frames", "--thread", m.gdbThread(t.id), "0", strconv.Itoa(mostInlined-1))
	return true
}

// uncoversInlined has the new gdb show one frame more of those that it hides, if the old one has shown it; false if it does.
func (m *machine) uncoversInlined() bool {
	h := m.moving
	t := h.awaking
	shown := slices.Index(h.inlined.frames, shownPlaceOf(t.stop.Path("frame").Fields))
	if shown <= h.inlined.want {
		return false
	}
	t.stop = nil
	m.tell("signal", "-exec-step", "--thread", m.gdbThread(t.id))
	return true
}
