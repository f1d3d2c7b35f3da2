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
// internal_vproblem). A backtrace and advice follow, which takes gdb longer than sdm takes to read this.
var fatal = pattern.New(`^Fatal signal: |: internal-error: `)

// freeze sends SIGSTOP to ranks that another gdb is to take over. Those that gdb keeps stopped get it
// with its end, before their next instruction.
func (d *Debugger) freeze() {
	for _, m := range d.Machines {
		if m.recovery.isPossible() {
			m.send(ToTarget, sigStop)
		}
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

// deathOf returns the description; it must be called before the calls are dropped.
func (d *Debugger) deathOf(how End) (w death) {
	w.cause = how.Cause
	if k := d.Calls.current(); k != nil && k.of != nil && !k.of.IsInternal && d.Replaced == "" {
		if info, ok := protocol.LookupCommand(k.of.Name); ok && info.Place == protocol.AtTarget {
			w.command, w.crashed = k.of.What(), how.Crashed && !how.Killed
		}
	}
	return w
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

// Avoid records a command that has made a gdb crash. The rank refuses it until it has run.
func (m *Machine) Avoid(command string) {
	if m.deadly == nil {
		m.deadly = map[string]bool{}
	}
	m.deadly[command] = true
}

// refuseDeadly refuses such a command; nil: it is not one.
func (m *Machine) refuseDeadly(q *request.Request) *protocol.Fault {
	if len(m.deadly) == 0 || !m.deadly[q.What()] {
		return nil
	}
	return &protocol.Fault{
		Kind: protocol.FaultEngine, Message: fmt.Sprintf("gdb has died at %q here", q.What()),
		Hint: "it is not asked again before the rank has run on",
	}
}

// forgetDeadly lets the rank execute these commands again: its variables have changed.
func (m *Machine) forgetDeadly() { clear(m.deadly) }
