// What the packages values and breakpoint need of a rank.

package debugger

import (
	"sdm/backend"
	"sdm/backend/gdb/breakpoint"
	"sdm/backend/gdb/request"
	"sdm/backend/gdb/values"
)

// view is a rank as these packages see it: it satisfies values.Rank and breakpoint.Rank.
type view struct {
	*core
	*symbols
}

// Ask sends gdb a command for a request; then receives the result.
func (v view) Ask(q *request.Request, then func(request.Answer), command string, args ...string) *request.Capture {
	return &v.ask(q, then, command, args...).Capture
}

// Process returns what is debugged.
func (v view) Process() backend.Target { return v.Target }

// ThreadGroup returns gdb's name of the inferior, "i1".
func (v view) ThreadGroup() string { return v.threadGroup }

// Chosen returns the selected thread and frame.
func (v view) Chosen() request.Selection { return v.chosen }

// Choose selects a thread and frame.
func (v view) Choose(s request.Selection) { v.choose(s) }

// Threads returns the threads of the rank.
func (v view) Threads() values.Threads { return v.threads }

// Sources returns what answers questions about source files.
func (v view) Sources() values.Sources { return v.Host.Sources }

// Read asks the host to read memory.
func (v view) Read(o *values.MemoryRead) { v.Out.Reads = append(v.Out.Reads, o) }

// Settings returns the properties of the rank's gdb that affect how values are shown.
func (v view) Settings() values.Settings {
	return values.Settings{
		Shared: v.GDB.Shared(), Eager: v.GDB.Eager, Elements: v.GDB.elements, Objects: v.GDB.objects,
	}
}

// IsChild reports whether the rank is a child of its original process.
func (v view) IsChild() bool { return v.Child }

// StandsInCall reports whether a function that an expression has called has stopped.
func (v view) StandsInCall() bool { return v.inCall }

// Inferior returns gdb's number of the inferior.
func (v view) Inferior() int { return v.inferior }

// Here returns arguments that name the rank.
func (v view) Here() []string { return v.here() }

// Selecting returns arguments that name the rank and its selected frame.
func (v view) Selecting(q *request.Request) []string { return v.selecting(q) }

// Shared reports whether gdb has ever had several ranks.
func (v view) Shared() bool { return v.GDB.Shared() }

// IsOld reports whether gdb does not know mi4.
func (v view) IsOld() bool { return v.GDB.Old }

// StopsAtAbort reports whether gdb has a breakpoint at MPI_Abort.
func (v view) StopsAtAbort() bool { return v.GDB.Abort.number != "" }

// ConditionErrors returns gdb's errors about conditions.
func (v view) ConditionErrors() *breakpoint.ConditionErrors { return &v.GDB.conditionErrors }

// NeedsOwnGDB has a request executed by a gdb with this rank alone.
func (v view) NeedsOwnGDB(q *request.Request, why string) { v.needsOwnGDB(q, why) }

// NeedsAllStop has a request executed by such a gdb in all-stop mode.
func (v view) NeedsAllStop(q *request.Request, why string) { v.needsAllStop(q, why) }

// WatchedBefore returns the frame that a watchpoint had in the gdb from which the rank is handed over.
func (v view) WatchedBefore(number int) request.Selection {
	if v.moving == nil {
		return request.Selection{}
	}
	return v.moving.watched[number]
}
