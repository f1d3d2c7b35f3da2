// Why and where a rank has stopped.

package debugger

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"sdm/backend"
	"sdm/backend/gdb/breakpoint"
	"sdm/backend/gdb/request"
	"sdm/backend/gdb/values"
	"sdm/backend/mi"
	"sdm/protocol"
	"sdm/protocol/column"
)

// stopBody is the body of a stop of the rank, reported for thread t. A reason that is
// given replaces gdb's.
func (st *stops) stopBody(t *values.Thread, reason string) protocol.Stop {
	s := st.reasonOf(t.Stop)
	if reason != "" {
		s = protocol.Stop{Reason: reason}
	}
	if f, ok := values.FrameIn(t.Stop); ok {
		s.Frame = &f.Frame
		s.Source = st.values.Frames.LineOf(f)
		if f.Full == "" && reason != "entry" { // without line numbers
			st.values.Frames.AdviseSymbols()
		}
	}
	_, s.Others = st.furtherStops(t)
	return s
}

// furtherStops describes the other threads that have stopped for reasons of their own:
// how many stopped for the same reason in the same place, and the reasons of the
// others, each once. The number depends on timing and differs between ranks that do the
// same, so it is in a column.
func (st *stops) furtherStops(t *values.Thread) (same int, reasons []string) {
	own := st.otherText(t.Stop)
	for _, o := range st.threads {
		if o == t || !values.OwnReason(o.Stop) {
			continue
		}
		if text := st.otherText(o.Stop); text == own {
			same++
		} else {
			reasons = append(reasons, text)
		}
	}
	slices.Sort(reasons)
	return same, slices.Compact(reasons)
}

// reasonOf translates a stop record (GDB manual, GDB/MI Async Records).
func (st *stops) reasonOf(stop mi.Tuple) protocol.Stop {
	s := protocol.Stop{Reason: stop.Str("reason")}
	s.Detail = breakpoint.EventOf(stop)
	if n := values.StoppedBy(stop); n != "" {
		s.Breakpoint = st.points.NumberOf(n)
	}
	s.Software = st.points.IsSoftware(stop)
	switch {
	case !values.OwnReason(stop):
		return protocol.Stop{Reason: "interrupted"}
	case stop.Str("bkptno") != "": // or a catchpoint
		s.Temporary = stop.Str("disp") == "del" || st.first.isFirst(st.points.At(stop))
		if p := st.points.At(stop); p != nil && p.Barrier {
			s.Reason = "barrier"
		} else if p != nil && s.Detail == "" {
			s.Detail = p.Event()
		}
	case s.Reason == "signal-received" || s.Reason == values.StopAtCore:
		s.Signal, s.Meaning = stop.Str("signal-name"), stop.Str("signal-meaning")
	case s.Reason == notRecorded:
		s.Detail = st.record.limit
	case s.Reason == "function-finished":
		_, s.Returned = stop.Get("return-value")
	}
	for _, w := range values.OtherTriggers(stop) {
		number := st.points.NumberOf(values.StoppedBy(w))
		trigger := protocol.Trigger{Reason: w.Str("reason"), Breakpoint: number, Software: st.points.IsSoftware(w)}
		s.Triggered = append(s.Triggered, trigger)
	}
	return s
}

// stopColumns returns what may differ between ranks that stopped for the same reason in the same place.
func (st *stops) stopColumns(t *values.Thread) []column.Column {
	c := values.ColumnsOf(st.Target.Rank, 0)
	same, _ := st.furtherStops(t)
	c.Add("others", strconv.Itoa(same)) // always: groups merge only if they have the same columns
	c.Add("thread", strconv.Itoa(t.ID))
	if f, ok := values.FrameIn(t.Stop); ok {
		c.Frame("", f)
	}
	if n := st.points.PlaceOf(t.Stop); n > 0 {
		c.Add("place", strconv.Itoa(n))
	}
	if v, ok := t.Stop.Get("return-value"); ok {
		c.Add("value", v.Str)
	}
	watched(c, "", t.Stop)
	for i, w := range values.OtherTriggers(t.Stop) {
		watched(c, "triggered."+strconv.Itoa(i)+".", w)
	}
	if pid := t.Stop.Str("newpid"); pid != "" {
		c.Add("newpid", pid)
	}
	return c.Sorted()
}

// watched adds the values of a watchpoint: old and new, or the one that was read.
func watched(c *values.Columns, prefix string, reason mi.Tuple) {
	for _, f := range reason.Path("value").Fields {
		c.Add(prefix+f.Name, f.Value.Str)
	}
}

// otherText describes the stop of a further thread, equally on all ranks with the same
// stop.
func (st *stops) otherText(stop mi.Tuple) string {
	s := st.reasonOf(stop)
	text := s.Reason
	if s.Breakpoint != 0 {
		text += fmt.Sprintf(" %d", s.Breakpoint)
	}
	if s.Signal != "" {
		text += " " + s.Signal
	}
	if f, ok := values.FrameIn(stop); ok {
		text += ", " + values.PlaceOf(f.Frame)
	}
	return text
}

// stoppedInCall checks whether gdb's error means that a function that an expression
// called has stopped. Then it reports where the rank is now.
func (st *stops) stoppedInCall(a request.Answer) {
	t := st.threads.Find(st.chosen.Thread)
	if st.State != backend.Stopped || t == nil || !strings.Contains(a.Results.Str("msg"), "while in a function called from GDB") {
		return
	}
	st.inCall = true
	st.Event(protocol.KindRunning, struct{}{})
	st.choose(request.Selection{Thread: t.ID})
	st.Event(protocol.KindStopped, st.stopBody(t, ""), st.stopColumns(t)...)
}
