// A workaround that lets gdb 10 attach.

package debugger

// gdb 10 loses attaches in non-stop mode: it does not assign the stop of the target to
// a thread, never finishes (the architecture stays i386, no symbols are read) and
// reports a *stopped without a thread. The cause is in its handle_signal_stop, which
// switches to the stopped thread only in order to print something about it. So it works
// while gdb prints debug messages. A gdb that does not know mi4 is told to do so if it
// is version 10, and to stop when all its ranks are attached. (Seen: every attach of
// gdb 10.1; none of 13.1 and 16.3.)
const (
	DebugOnGDB10 = `eval "set debug infrun %d", $_gdb_major == 10`
	debugOff     = "set debug infrun 0"
)

// beginAttach precedes an attach.
func (d *GDB) beginAttach(c *core) {
	if d.Old && !d.DebugOutput {
		d.DebugOutput = true
		c.Tell("attach", console, DebugOnGDB10)
	}
}

// gdb10Warning is about what has no workaround: gdb 10 does not stop a running rank to
// insert or remove breakpoints.
const gdb10Warning = "this gdb is version 10: it cannot change breakpoints in a rank that runs, and may hurt one that it lets go while it runs: " +
	"interrupt ranks before break, delete, detach and quit (or give a newer gdb with --gdb PATH)"

// endAttach follows an attach; others may be under way.
func (d *GDB) endAttach(c *core) {
	if !d.DebugOutput || d.Gone {
		return
	}
	for _, o := range d.ranks {
		if o.attaching != nil {
			return
		}
	}
	d.DebugOutput = false
	c.Tell("attach", console, debugOff)
}
