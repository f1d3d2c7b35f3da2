// Stops that wait for the values of displays.

package debugger

import (
	"fmt"
	"time"

	"sdm/backend/gdb/breakpoint"
	"sdm/backend/gdb/request"
	"sdm/backend/gdb/values"
	"sdm/protocol"
)

// deferredStop is a stop that is reported when its displays have values, or after
// displayWait: an expression that takes long must not delay a stop.
type deferredStop struct {
	until  time.Duration
	tell   func(shown []protocol.Display, values []string, s breakpoint.Output)
	shown  []protocol.Display
	texts  []string
	output breakpoint.Output // output of the commands of its breakpoint
}

// displayWait is how long a stop waits for the values of displays.
const displayWait = 2 * time.Second

// withDisplays calls tell for a stop, with the output of the breakpoint's commands and
// the displays that have a value there.
func (st *stops) withDisplays(
	t *values.Thread, tell func(shown []protocol.Display, values []string, s breakpoint.Output),
) {
	var acting []*breakpoint.Point
	for _, p := range st.points.Reached(t.Stop) {
		if values.OwnReason(t.Stop) && p.Acts() {
			acting = append(acting, p)
		}
	}
	if !st.values.Displays.Any() && len(acting) == 0 {
		tell(nil, nil, breakpoint.Output{})
		return
	}
	h := &deferredStop{until: st.now + displayWait, tell: tell}
	st.deferred = h
	display := func() {
		st.values.Displays.ShowAll(request.InternalIn("display", t.ID), func(shown []protocol.Display, values []string) {
			h.shown, h.texts = shown, values
			st.releaseStop(h)
		})
	}
	st.runAllActions(acting, t, func(s breakpoint.Output) {
		h.output = s
		display()
	})
}

// runAllActions calls runActions for several breakpoints, one after another.
func (st *stops) runAllActions(points []*breakpoint.Point, t *values.Thread, then func(breakpoint.Output)) {
	if len(points) == 0 {
		then(breakpoint.Output{})
		return
	}
	st.breaks.RunActions(points[0], t, func(s breakpoint.Output) {
		st.runAllActions(points[1:], t, func(more breakpoint.Output) {
			then(breakpoint.Output{Lines: append(s.Lines, more.Lines...), Texts: append(s.Texts, more.Texts...)})
		})
	})
}

// releaseStop reports a deferred stop, once.
func (st *stops) releaseStop(h *deferredStop) {
	if st.deferred != h {
		return
	}
	st.deferred = nil
	h.tell(h.shown, h.texts, h.output)
}

// displaysOverdue reports a stop whose displays take too long, without them, and
// removes all displays.
func (st *stops) displaysOverdue() {
	h := st.deferred
	if h == nil || st.now < h.until {
		return
	}
	st.values.Displays.DropDisplays()
	st.Event(protocol.KindNote, protocol.Note{Text: fmt.Sprintf("the displayed expressions have no value after %s; they are shown no more", displayWait)})
	st.releaseStop(h)
}
