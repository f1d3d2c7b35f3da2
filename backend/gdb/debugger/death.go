// The death of a gdb: how it is announced, what it is called, and which command caused it.

package debugger

import (
	"fmt"
	"time"

	"sdm/backend/gdb/request"
	"sdm/protocol"
	"sdm/protocol/pattern"
)

// End is how a gdb has ended.
type End struct {
	Cause   string
	Crashed bool // gdb, or what a wrapper started, was killed by a signal
	Killed  bool // that was SIGKILL, which gdb has not brought about
}

// fatal matches pieces of gdb's log after which it ends: from version 11 on it reports the signal that
// ends it (event-top.c, handle_fatal_signal), and all report an internal error (utils.c,
// internal_vproblem). Version 18 reports the signal on its standard error instead. A backtrace and advice
// follow, which takes gdb longer than sdm takes to read this.
var fatal = pattern.New(`^Fatal signal: |: internal-error: `)

// Errors processes a piece of gdb's standard error.
func (d *Debugger) Errors(now time.Duration, piece []byte) {
	if fatal.MatchString(string(piece)) {
		d.announced(now)
	}
}

// announced processes gdb's announcement of its end.
func (d *Debugger) announced(now time.Duration) {
	if d.dying {
		return
	}
	d.dying = true
	for _, m := range d.Machines {
		m.now = now
	}
	d.freeze()
}

// Dying reports whether gdb has announced its end.
func (d *Debugger) Dying() bool { return d.dying }

// death describes the end of gdb: with the command of a user that it was busy with, if any.
type death struct {
	cause   string
	command string // see request.What; "": none
	crashed bool   // by itself: the command is likely to do it again
}

func (w death) String() string {
	if w.command == "" {
		return "gdb died (" + w.cause + ")"
	}
	return fmt.Sprintf("gdb died at %q (%s)", w.command, w.cause)
}

// fault is the answer to a request that was open at the death, if another gdb takes over.
func (w death) fault(q *request.Request) *protocol.Fault {
	f := &protocol.Fault{Kind: protocol.FaultEngine, Message: w.String(), Hint: "another gdb takes the rank over: ask again"}
	if w.crashed && w.command == q.What() {
		f.Hint = "another gdb takes the rank over, and is not asked this while the rank stands here"
	}
	return f
}

// Killer returns the command of a user that gdb was busy with when it crashed; "": none. Such a command must not
// cost the neighbours their gdbs, too.
func (d *Debugger) Killer() string { return d.killer }
