// Faults that several commands have.

package values

import (
	"fmt"

	"sdm/protocol"
)

// NoFrame is gdb's error for a level that the stack does not have.
func NoFrame(level int) string { return fmt.Sprintf("No frame at level %d.", level) }

// UnknownThread is the fault for a thread that the rank does not have.
func UnknownThread(n int) *protocol.Fault {
	return &protocol.Fault{Kind: protocol.FaultGDB, Message: fmt.Sprintf("Unknown thread %d.", n)}
}

// NoExpression is the fault for a command that needs an expression and has none.
func NoExpression() *protocol.Fault {
	return &protocol.Fault{Kind: protocol.FaultUsage, Message: "no expression is given"}
}
