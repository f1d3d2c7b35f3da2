// What values needs of a rank.

package debugger

import (
	"time"

	"sdm/backend"
	"sdm/backend/gdb/request"
	"sdm/backend/gdb/values"
)

// Ask sends gdb a command for a request; then receives the result.
func (m *Machine) Ask(q *request.Request, then func(request.Answer), command string, args ...string) *request.Capture {
	return &m.ask(q, then, command, args...).Capture
}

// Process returns what is debugged.
func (m *Machine) Process() backend.Target { return m.Target }

// Group returns gdb's name of the inferior, "i1".
func (m *Machine) Group() string { return m.group }

// Chosen returns the selected thread and frame.
func (m *Machine) Chosen() request.Selection { return m.chosen }

// Choose selects a thread and frame.
func (m *Machine) Choose(s request.Selection) { m.chosen = s }

// Threads returns the threads of the rank.
func (m *Machine) Threads() values.Threads { return m.threads }

// Sources answers about source files.
func (m *Machine) Sources() values.Sources { return m.Host.Sources }

// Read has memory read.
func (m *Machine) Read(o *values.MemoryRead) { m.Out.Reads = append(m.Out.Reads, o) }

// ReadsAll has gdb read the symbols of all libraries that come.
func (m *Machine) ReadsAll(task string) {
	m.Unread.Deferred = false
	m.Tell(task, "-gdb-set", "auto-solib-add", "on")
}

// Settings returns what the gdb of the rank is like.
func (m *Machine) Settings() values.Settings {
	return values.Settings{
		Shared: m.GDB.Shared(), Eager: m.GDB.Eager, Elements: m.GDB.elements, Objects: m.GDB.objects,
	}
}

// HaveRead processes the result of a memory read: the hashes of its blocks.
func (m *Machine) HaveRead(now time.Duration, o *values.MemoryRead, sums []uint64, err error) {
	m.now = now
	o.Then(sums, err)
	m.settle()
}
