// Attaching to one rank after the other, where they share a gdb.

package gdb

// turn keeps what comes behind a -target-attach from gdb until that attach is over.
//
// gdb 13.1 gets confused by two attaches at a time, when the targets have several
// threads: the SIGSTOP by which it has stopped the later ones counts as a
// signal of the program, and they get it when they go on or are let go. Of 8 ranks
// of 3 threads 5 stood for ever after gdb had left. Held ranks have one thread yet, and
// are sent SIGCONT.
type turn struct {
	of  *machine
	end int // of its command, in debugger.bytes
}

// waitTurn makes gdb finish with a rank before it is told anything else.
func (d *debugger) waitTurn(m *machine) {
	if d.shared() && !m.target.Held {
		d.turns = append(d.turns, turn{m, len(d.bytes)})
	}
}

// isComing tells whether its attach is under way and somebody waits for it.
func (m *machine) isComing() bool {
	q := m.attach.request
	return q != nil && !q.answered && !m.state.IsOver()
}

// take gives what gdb is to be told now. It is good until the next command.
func (d *debugger) take() []byte {
	for len(d.turns) > 0 && !d.turns[0].of.isComing() {
		d.turns = d.turns[1:]
	}
	if len(d.turns) == 0 {
		now := d.bytes
		d.bytes = d.bytes[:0]
		return now
	}
	n := d.turns[0].end
	now := d.bytes[:n]
	d.bytes = d.bytes[n:]
	for i := range d.turns {
		d.turns[i].end = max(d.turns[i].end-n, 0)
	}
	return now
}
