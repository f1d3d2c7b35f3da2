// What package values needs of a rank.

package debugger

import (
	"time"

	"sdm/backend"
	"sdm/backend/gdb/request"
	"sdm/backend/gdb/values"
)

// view is a rank as package values sees it: it satisfies values.Rank.
type view struct {
	*Machine
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
func (v view) Choose(s request.Selection) { v.chosen = s }

// Threads returns the threads of the rank.
func (v view) Threads() values.Threads { return v.threads }

// Sources returns what answers questions about source files.
func (v view) Sources() values.Sources { return v.Host.Sources }

// Read asks the host to read memory.
func (v view) Read(o *values.MemoryRead) { v.Out.Reads = append(v.Out.Reads, o) }

// ReadsAll records that gdb is about to read the symbols of all libraries, and makes it read those of
// libraries that are loaded later.
func (sy *symbols) ReadsAll(task string) {
	sy.Deferred = false
	sy.Tell(task, "-gdb-set", "auto-solib-add", "on")
}

// Settings returns the properties of the rank's gdb that affect how values are shown.
func (v view) Settings() values.Settings {
	return values.Settings{
		Shared: v.GDB.Shared(), Eager: v.GDB.Eager, Elements: v.GDB.elements, Objects: v.GDB.objects,
	}
}

// HaveRead processes the result of a memory read: the hashes of its blocks.
func (m *Machine) HaveRead(now time.Duration, o *values.MemoryRead, sums []uint64, err error) {
	m.now = now
	o.Then(sums, err)
	m.runs.settle()
}
