package gdb

import "sdm/protocol/rank"

// Sabotage makes the machine of a rank panic when it reads a source line.
func (e *Engine) Sabotage(r rank.ID) {
	e.work.Lock()
	defer e.work.Unlock()
	e.loop.ranks[r].machine.Host.Read = func(string, int, int) ([]string, error) { panic("sabotage") }
}

// PendStops makes the engine assume that a SIGSTOP of gdb is pending for the threads of
// a rank.
func (e *Engine) PendStops(r rank.ID) {
	e.work.Lock()
	defer e.work.Unlock()
	e.loop.ranks[r].machine.Host.PendsStop = func(int, string) bool { return true }
}
