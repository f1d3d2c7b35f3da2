// Records of stops (GDB manual, GDB/MI Async Records).

package values

import (
	"fmt"
	"slices"

	"sdm/backend/mi"
	"sdm/protocol"
)

// StopAtCore is the reason of the stop of a core file.
const StopAtCore = "core"

// Crashed returns the signal with which a thread stopped, if that indicates an error in
// the program.
func Crashed(stop mi.Tuple) string {
	name := stop.Str("signal-name")
	if reason := stop.Str("reason"); reason != "signal-received" && reason != StopAtCore ||
		slices.Contains([]string{"0", "SIGINT", "SIGSTOP", "SIGTRAP", "SIGCONT"}, name) {
		return ""
	}
	return name
}

// OwnReason reports whether a thread has stopped for a reason of its own, not because
// it was told to: gdb reports threads that -exec-interrupt has stopped with signal 0.
func OwnReason(stop mi.Tuple) bool {
	return stop != nil && stop.Str("reason") != "" && !(stop.Str("reason") == "signal-received" && stop.Str("signal-name") == "0")
}

// WithFrame returns a stop with another frame.
func WithFrame(stop mi.Tuple, f mi.Value) mi.Tuple {
	stop = slices.Clone(stop)
	for i := range stop {
		if stop[i].Name == "frame" {
			stop[i].Value = f
		}
	}
	return stop
}

// WithoutReason returns a stop that counts as commanded: its breakpoint has been
// reported.
func WithoutReason(stop mi.Tuple) mi.Tuple {
	var rest mi.Tuple
	for _, f := range stop {
		if f.Name != "reason" && f.Name != "bkptno" && f.Name != "disp" {
			rest = append(rest, f)
		}
	}
	return rest
}

// WithReason returns a stop with another reason.
func WithReason(stop mi.Tuple, reason string) mi.Tuple {
	return append(mi.Tuple{{Name: "reason", Value: mi.Value{Str: reason}}}, WithoutReason(stop)...)
}

// Stepped returns a stop as the end of a step.
func Stepped(stop mi.Tuple) mi.Tuple { return WithReason(stop, "end-stepping-range") }

// Finished sets the reason of the end of a function if gdb gives none: for functions
// without debug information, and for calls (callOver).
func Finished(stop mi.Tuple) mi.Tuple {
	if _, told := stop.Get("reason"); told {
		return stop
	}
	return WithReason(stop, "function-finished")
}

// StoppedBy returns gdb's number of the breakpoint, watchpoint or catchpoint that
// stopped a thread; "": none.
func StoppedBy(stop mi.Tuple) string {
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

// OneReason reduces a stop with several reasons to one: the last, or the first
// watchpoint if the last is a watchpoint or the end of an advance. The other
// watchpoints go into the field triggered. A signal before the last reason was only to
// be printed.
func OneReason(stop mi.Tuple) mi.Tuple {
	reasons, rest := ReasonsIn(stop)
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
	return WithTriggered(append(slices.Clone(main), rest...), others)
}

// isTrigger reports whether a reason is a watchpoint's; only after such a reason does gdb report
// another one.
func isTrigger(reason mi.Tuple) bool {
	return reason.Str("bkptno") == "" && StoppedBy(reason) != ""
}

// ReasonsIn splits a stop. The number of a watchpoint precedes or follows its reason.
func ReasonsIn(stop mi.Tuple) (reasons []mi.Tuple, rest mi.Tuple) {
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

// WithTriggered returns a stop with other watchpoints that have triggered.
func WithTriggered(stop mi.Tuple, others []mi.Tuple) mi.Tuple {
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

// OtherTriggers returns the watchpoints that have triggered besides the reported
// reason.
func OtherTriggers(stop mi.Tuple) (all []mi.Tuple) {
	for _, f := range stop.Path(triggered).Fields {
		all = append(all, f.Value.Fields)
	}
	return all
}

// PlaceOf returns text like "helper at work.c:21".
func PlaceOf(f protocol.Frame) string {
	switch {
	case f.File != "":
		return fmt.Sprintf("%s at %s:%d", f.Func, f.File, f.Line)
	case f.From != "":
		return f.Func + " from " + f.From
	}
	return f.Func
}
