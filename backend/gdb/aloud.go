// What makes gdb 10 attach.

package gdb

// gdb 10 loses attaches in non-stop: it takes the stop of the target for that of nobody, never finishes (the
// architecture stays i386, no symbols are read) and tells a *stopped of no thread. The cause is in its
// handle_signal_stop, which turns to the thread that has stopped only in order to print something about it, so
// that it works while gdb prints what it does. A gdb that does not know mi4 is told to, if it is that
// one, and to be silent again once all its ranks are there. (Seen: every attach of gdb 10.1; none of 13.1 and 16.3.)
const (
	speakUp = `eval "set debug infrun %d", $_gdb_major == 10`
	hush    = "set debug infrun 0"
)

// beginAttach comes in front of an attach.
func (d *debugger) beginAttach(m *machine) {
	if d.old && !d.loud {
		d.loud = true
		m.tell("attach", console, speakUp)
	}
}

// tenWarning is what nobody can mend from outside: gdb 10 stops a running rank neither in order to write its
// breakpoints into it nor to take them out.
const tenWarning = "this gdb is version 10: it cannot change breakpoints in a rank that runs, and may hurt one that it lets go while it runs: " +
	"interrupt ranks before break, delete, detach and quit (or give a newer gdb with --gdb PATH)"

// endAttach comes when an attach is over; others may be under way.
func (d *debugger) endAttach(m *machine) {
	if !d.loud || d.gone {
		return
	}
	for _, o := range d.machines {
		if o.attach.request != nil {
			return
		}
	}
	d.loud = false
	m.tell("attach", console, hush)
}
