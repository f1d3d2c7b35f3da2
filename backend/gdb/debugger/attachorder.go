// Sequential attaches to ranks that share a gdb.

package debugger

// attachWait keeps commands that follow a -target-attach from gdb until that attach has
// ended.
//
// gdb 13.1 mishandles two concurrent attaches to targets with several threads. It takes
// its own SIGSTOP for the later targets as a signal of the program, which they get when
// they resume or are detached from: 5 of 8 ranks with 3 threads stayed stopped after
// gdb had exited. Held ranks have one thread and are sent SIGCONT.
type attachWait struct {
	of  *core
	end int // index of the end of its command in Debugger.Bytes
}

// waitForAttach makes gdb complete the attach of a rank before it gets further commands.
func (d *GDB) waitForAttach(m *core) {
	if d.Shared() && !m.Target.Held {
		d.attachOrder = append(d.attachOrder, attachWait{m, len(d.Bytes)})
	}
}

// sendNext sends the next attach at once, so that gdb executes it while this process finds out what
// to ask about the rank whose attach has ended.
func (d *GDB) sendNext() {
	if d.Send != nil && len(d.attachOrder) > 0 {
		d.Send()
	}
}

// isAttaching reports whether the attach of the rank is under way and its request is open.
func (c *core) isAttaching() bool {
	q := c.attaching
	return q != nil && !q.Answered && !c.State.IsOver()
}

// Take returns the commands that may be sent now. The slice is valid until the next
// command.
func (d *GDB) Take() []byte {
	for len(d.attachOrder) > 0 && !d.attachOrder[0].of.isAttaching() {
		d.attachOrder = d.attachOrder[1:]
	}
	if len(d.attachOrder) == 0 {
		now := d.Bytes
		d.Bytes = d.Bytes[:0]
		return now
	}
	n := d.attachOrder[0].end
	now := d.Bytes[:n]
	d.Bytes = d.Bytes[n:]
	for i := range d.attachOrder {
		d.attachOrder[i].end = max(d.attachOrder[i].end-n, 0)
	}
	return now
}
