// Wrappers: programs that prepare and then start another one in their place, such as
// shell scripts and numactl.

package debugger

import (
	"sdm/backend/gdb/request"
	"sdm/backend/gdb/values"
	"sdm/protocol"
)

// seeksProgram reports whether a wrapper is to run to its program first: because the
// program is to stop, or commands were given for it.
func (att *attachment) seeksProgram() bool {
	switch att.stopAt {
	case stopAtEntry:
		return false
	case stopAtNone:
		return att.Target.Wraps && len(att.Target.Before) > 0
	}
	return att.Target.Wraps
}

// seekProgram runs a wrapper until it has started its program. Commands that were given
// for the rank before it started apply to the program.
//
//	wrapper at its entry ─→ catch exec ─→ runs ─→ exec of another wrapper: goes on
//	                                            └→ exec of the program ─→ replay ─→ leave
func (att *attachment) seekProgram(q *request.Request) {
	att.Done(q)
	att.runToProgram(q, func() { att.runs.resumeAll(q) }, att.stayAtEntry)
}

// runToProgram makes gdb stop at the exec, and calls resume; if gdb cannot, it calls stay
// with the reason.
func (att *attachment) runToProgram(q *request.Request, resume func(), stay func(why string)) {
	att.settings.inConsoleOr(q, "catch exec", func(a request.Answer) {
		switch {
		case att.State.IsOver():
		case a.Failed():
			stay("cannot wait for the program that " + att.Target.Program + " starts: " + a.Results.Str("msg"))
		default:
			att.seeks, att.exec = true, a.Made
			resume()
		}
	})
}

// foundProgram checks whether a wrapper has started its program, and then goes to its
// first stop. Any other stop is reported, and the search goes on with the next resume.
func (att *attachment) foundProgram(t *values.Thread) bool {
	if !att.seeks || t.Stop.Str("reason") != "exec" {
		return false
	}
	q := request.Internal("launch")
	if protocol.IsWrapper(t.Stop.Str("new-exec")) {
		att.runs.resumeAll(q)
		att.run.silent = true
		return true
	}
	att.seeks = false
	att.Tell("delete", "-break-delete", att.exec)
	att.replay(att.before(), func() { att.goToFirstStop(q, t) })
	return true
}

// noProgramStarted reports why a rank has ended without a stop.
func (att *attachment) noProgramStarted(exit protocol.Exit) {
	if att.seeks && exit.Signal == "" && att.stopAt != stopAtNone {
		att.seeks = false
		att.Event(protocol.KindNote, protocol.Note{Text: att.Target.Program + " has started no program in its place, only beside it if at all: put exec in front of the program in the script"})
	}
}
