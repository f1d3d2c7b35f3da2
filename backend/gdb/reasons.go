// Stops for several reasons at once: watchpoints that have triggered, and a breakpoint that was reached.

package gdb

import (
	"slices"

	"sdm/backend/mi"
)

// triggered is the field, of ours, of a stop that holds the watchpoints which have triggered beside what the stop is told for.
const triggered = "triggered"

// reasonFields are the fields of a reason; those behind the last of them are about the stop as a whole.
var reasonFields = []string{"reason", "disp", "bkptno", "locno", "wpt", "hw-awpt", "hw-rwpt", "wpnum", "value", "signal-name", "signal-meaning"}

// oneReason gives a stop one reason where gdb tells several: the last, or of watchpoints alone, and at the end of an advance, the first. The other watchpoints
// go into one field. Signals before the last reason were to be printed and not to stop.
func oneReason(stop mi.Tuple) mi.Tuple {
	reasons, rest := reasonsIn(stop)
	if len(reasons) < 2 {
		return stop
	}
	last := len(reasons) - 1
	main := reasons[last]
	others := slices.DeleteFunc(reasons[:last:last], func(r mi.Tuple) bool { return !isTrigger(r) })
	reached := main.Str("reason") == "location-reached" // of until and advance: it has no words of its own
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

// isTrigger tells whether a reason is a watchpoint's; gdb goes on with the next one behind these only.
func isTrigger(reason mi.Tuple) bool {
	return reason.Str("bkptno") == "" && stoppedBy(reason) != ""
}

// reasonsIn takes a stop apart. The number of a watchpoint stands before its reason or behind it.
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

// withTriggered is a stop with other watchpoints that have triggered beside.
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

// triggeredBeside gives the watchpoints that have triggered beside what a stop is told for.
func triggeredBeside(stop mi.Tuple) (all []mi.Tuple) {
	for _, f := range stop.Path(triggered).Fields {
		all = append(all, f.Value.Fields)
	}
	return all
}

// reached gives the breakpoints and watchpoints of ours that a stop is about.
func (b *breakpoints) reached(stop mi.Tuple) (all []*point) {
	for _, one := range append([]mi.Tuple{stop}, triggeredBeside(stop)...) {
		if p := b.at(one); p != nil && !slices.Contains(all, p) {
			all = append(all, p)
		}
	}
	return all
}

// staysFor gives the stop of the first watchpoint beside that does not let the thread go on; nil if there is none.
func (b *breakpoints) staysFor(stop mi.Tuple) mi.Tuple {
	others := triggeredBeside(stop)
	for i, o := range others {
		if !b.at(o).goesOn() {
			_, rest := reasonsIn(stop)
			return withTriggered(append(slices.Clone(o), rest...), others[i+1:])
		}
	}
	return nil
}
