package gdb

import "sdm/protocol/rank"

// Sabotage makes the machine of a rank panic as soon as it looks for a line of a
// source file.
func (e *Engine) Sabotage(r rank.ID) {
	e.work.Lock()
	defer e.work.Unlock()
	e.loop.ranks[r].machine.source = func(string, int, int) ([]string, error) { panic("sabotage") }
}

// Asked is how many gdbs owe an answer, as the loop counts them and as they are.
func (e *Engine) Asked() (counted, there int) {
	select {
	case <-e.done: // the loop has kept the work
	default:
		e.work.Lock()
		defer e.work.Unlock()
	}
	for _, k := range e.loop.keepers {
		if k.process != nil && k.debugger.calls.current() != nil {
			there++
		}
	}
	return e.loop.asked, there
}
