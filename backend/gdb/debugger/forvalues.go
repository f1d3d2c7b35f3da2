// What package values needs of a rank.

package debugger

import (
	"sdm/backend"
	"sdm/backend/gdb/request"
	"sdm/backend/gdb/values"
)

// view is a rank as package values sees it: it satisfies values.Rank.
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

// Group returns gdb's name of the inferior, "i1".
func (v view) Group() string { return v.group }

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
