// Stops for several reasons at once: triggered watchpoints, and a breakpoint.

package debugger

import (
	"slices"

	"sdm/backend/mi"
)

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

// reached returns the breakpoints and watchpoints of this rank that a stop is about.
func (b *breakpoints) reached(stop mi.Tuple) (all []*point) {
	for _, one := range append([]mi.Tuple{stop}, otherTriggers(stop)...) {
		if p := b.at(one); p != nil && !slices.Contains(all, p) {
			all = append(all, p)
		}
	}
	return all
}

// staysFor returns the stop of the first watchpoint in triggered that keeps the thread
// stopped; nil if there is none.
func (b *breakpoints) staysFor(stop mi.Tuple) mi.Tuple {
	others := otherTriggers(stop)
	for i, o := range others {
		if !b.at(o).resumes() {
			_, rest := reasonsIn(stop)
			return withTriggered(append(slices.Clone(o), rest...), others[i+1:])
		}
	}
	return nil
}
