// Inlined functions at the place of a rank that is handed over.

package debugger

import (
	"slices"
	"strconv"

	"sdm/backend/gdb/request"
	"sdm/backend/mi"
)

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
