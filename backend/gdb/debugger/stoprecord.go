// Records of stops, and how they are changed.

package debugger

import (
	"sdm/backend/mi"
	"slices"
)

// withoutReason returns a stop that counts as commanded: its breakpoint has been
// reported.
func withoutReason(stop mi.Tuple) mi.Tuple {
	var rest mi.Tuple
	for _, f := range stop {
		if f.Name != "reason" && f.Name != "bkptno" && f.Name != "disp" {
			rest = append(rest, f)
		}
	}
	return rest
}

// withReason returns a stop with another reason.
func withReason(stop mi.Tuple, reason string) mi.Tuple {
	return append(mi.Tuple{{Name: "reason", Value: mi.Value{Str: reason}}}, withoutReason(stop)...)
}

// stepped returns a stop as the end of a step.
func stepped(stop mi.Tuple) mi.Tuple { return withReason(stop, "end-stepping-range") }

// finished sets the reason of the end of a function if gdb gives none: for functions
// without debug information, and for calls (callOver).
func finished(stop mi.Tuple) mi.Tuple {
	if _, told := stop.Get("reason"); told {
		return stop
	}
	return withReason(stop, "function-finished")
}

// stoppedBy returns gdb's number of the breakpoint, watchpoint or catchpoint that
// stopped a thread; "": none.
func stoppedBy(stop mi.Tuple) string {
	if n := stop.Str("bkptno"); n != "" {
		return n
	}
	if n := stop.Str("wpnum"); n != "" { // out of scope
		return n
	}
	for _, name := range []string{"wpt", "hw-awpt", "hw-rwpt"} {
		if wpt, ok := stop.Get(name); ok {
			return wpt.Fields.Str("number")
		}
	}
	return ""
}

// triggered is a field that is added to a stop: the watchpoints that have triggered
// besides the reported reason.
const triggered = "triggered"

// reasonFields are the fields of a reason; the fields after them are about the stop as
// a whole.
var reasonFields = []string{"reason", "disp", "bkptno", "locno", "wpt", "hw-awpt", "hw-rwpt", "wpnum", "value", "signal-name", "signal-meaning"}

// oneReason reduces a stop with several reasons to one: the last, or the first
// watchpoint if the last is a watchpoint or the end of an advance. The other
// watchpoints go into the field triggered. A signal before the last reason was only to
// be printed.
func oneReason(stop mi.Tuple) mi.Tuple {
	reasons, rest := reasonsIn(stop)
	if len(reasons) < 2 {
		return stop
	}
	last := len(reasons) - 1
	main := reasons[last]
	others := slices.DeleteFunc(reasons[:last:last], func(r mi.Tuple) bool { return !isTrigger(r) })
	// of until and advance: it has nothing of its own to show
	reached := main.Str("reason") == "location-reached"
	switch {
	case len(others) == 0:
	case reached:
		main, others = others[0], others[1:]
	case isTrigger(main):
		others = append(others, main)
		main, others = others[0], others[1:]
	}
	return withTriggered(append(slices.Clone(main), rest...), others)
}

// isTrigger reports whether a reason is that of a watchpoint; only after these gdb
// reports another one.
func isTrigger(reason mi.Tuple) bool {
	return reason.Str("bkptno") == "" && stoppedBy(reason) != ""
}

// reasonsIn splits a stop. The number of a watchpoint precedes or follows its reason.
func reasonsIn(stop mi.Tuple) (reasons []mi.Tuple, rest mi.Tuple) {
	var now mi.Tuple
	end := func() {
		if now != nil {
			reasons, now = append(reasons, now), nil
		}
	}
	for i, f := range stop {
		if !slices.Contains(reasonFields, f.Name) {
			rest = stop[i:]
			break
		}
		if _, again := now.Get(f.Name); again {
			end()
		}
		if now = append(now, f); f.Name == "value" || f.Name == "signal-meaning" {
			end()
		}
	}
	end()
	return reasons, rest
}

// withTriggered returns a stop with other watchpoints that have triggered.
func withTriggered(stop mi.Tuple, others []mi.Tuple) mi.Tuple {
	stop = slices.DeleteFunc(slices.Clone(stop), func(f mi.Field) bool { return f.Name == triggered })
	if len(others) == 0 {
		return stop
	}
	list := mi.Value{Kind: mi.ListValue}
	for _, o := range others {
		list.Fields = append(list.Fields, mi.Field{Value: mi.Value{Kind: mi.TupleValue, Fields: o}})
	}
	return append(stop, mi.Field{Name: triggered, Value: list})
}

// otherTriggers returns the watchpoints that have triggered besides the reported
// reason.
func otherTriggers(stop mi.Tuple) (all []mi.Tuple) {
	for _, f := range stop.Path(triggered).Fields {
		all = append(all, f.Value.Fields)
	}
	return all
}
