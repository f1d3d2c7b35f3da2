// Records of stops (GDB manual, GDB/MI Async Records).

package values

import (
	"slices"

	"sdm/backend/mi"
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
