package gdb

import "sdm/protocol/rank"

// inLoop calls a function in the loop, and waits for its end.
func (e *Engine) inLoop(f func(l *loop)) {
	done := make(chan struct{})
	e.post(func(l *loop) { f(l); close(done) })
	<-done
}

// Sabotage makes the machine of a rank panic when it reads a source line.
func (e *Engine) Sabotage(r rank.ID) {
	e.inLoop(func(l *loop) {
		l.ranks[r].machine.Host.Read = func(string, int, int) ([]string, error) { panic("sabotage") }
	})
}

// PendStops makes the engine assume that a SIGSTOP of gdb is pending for the threads of
// a rank.
func (e *Engine) PendStops(r rank.ID) {
	e.inLoop(func(l *loop) { l.ranks[r].machine.Host.PendsStop = func(int, string) bool { return true } })
}
