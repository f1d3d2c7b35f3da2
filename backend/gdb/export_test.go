package gdb

import "sdm/protocol/rank"

// Sabotage makes the machine of a rank panic as soon as it looks for a line of a
// source file.
func (e *Engine) Sabotage(r rank.ID) {
	e.work.Lock()
	defer e.work.Unlock()
	e.loop.ranks[r].machine.source = func(string, int, int) ([]string, error) { panic("sabotage") }
}

// PendStops makes the engine believe that gdb has sent the threads of a rank a SIGSTOP that they have not got.
func (e *Engine) PendStops(r rank.ID) {
	e.work.Lock()
	defer e.work.Unlock()
	e.loop.ranks[r].machine.pendsStop = func(string) bool { return true }
}
