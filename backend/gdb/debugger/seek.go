// Wrappers: programs that prepare and then start another one in their place, such as
// shell scripts and numactl.

package debugger

import (
	"path"

	"sdm/backend/gdb/request"
	"sdm/backend/gdb/values"
	"sdm/protocol"
)

// seeksProgram reports whether a wrapper is to run to its program first: because the
// program is to stop, or commands were given for it.
func (b *bringUp) seeksProgram() bool {
	switch b.first.stopAt {
	case stopAtEntry:
		return false
	case stopAtNone:
		return b.Target.Wraps && len(b.Target.Before) > 0
	}
	return b.Target.Wraps
}

// seekProgram runs a wrapper until it has started its program. Commands that were given
// for the rank before it started apply to the program.
//
//	wrapper at its entry ─→ catch exec ─→ runs ─→ exec of another wrapper: goes on
//	                                            └→ exec of the program ─→ replay ─→ leave
//
// gdb goes with the child of a wrapper that starts its program as one. The wrapper then
// runs on without gdb.
func (b *bringUp) seekProgram(q *request.Request) {
	b.Done(q)
	if why := cannotFollow(b.Target.Program); why != "" {
		b.stayAtWrapper(why)
		return
	}
	b.runToProgram(q, func() { b.runs.resumeAll(q) }, b.stayAtEntry)
}

// runToProgram makes gdb stop at the exec, and calls resume; if gdb cannot, it calls stay
// with the reason.
func (b *bringUp) runToProgram(q *request.Request, resume func(), stay func(why string)) {
	b.inConsoleOr(q, "catch exec", func(a request.Answer) {
		switch {
		case b.State.IsOver():
		case a.Failed():
			stay("cannot wait for the program that " + b.Target.Program + " starts: " + a.Results.Str("msg"))
		default:
			b.wrapper.seek(a.Made)
			b.wrapper.followChild(b.Target.Program)
			resume()
		}
	})
}

// stayAtWrapper leaves the rank at the first instruction of a wrapper, with the commands that were
// given for it.
func (b *bringUp) stayAtWrapper(why string) {
	b.commands.replay(b.before(), func() { b.stayAtEntry(why) })
}

// foundProgram checks whether a wrapper has started its program, and then goes to its
// first stop. Any other stop is reported, and the search goes on with the next resume.
func (b *bringUp) foundProgram(t *values.Thread) bool {
	if !b.wrapper.seeks || t.Stop.Str("reason") != "exec" {
		return false
	}
	q := request.Internal("launch")
	program := t.Stop.Str("new-exec")
	why := cannotFollow(program)
	if protocol.IsWrapper(program) && why == "" {
		b.wrapper.followChild(program)
		b.runs.resumeAll(q)
		b.run.silent = true
		return true
	}
	b.wrapper.found()
	b.Tell("delete", "-break-delete", b.wrapper.exec)
	b.wrapper.followChild(program)
	if why != "" {
		b.wrapper.passValgrindSignals(program)
		b.stayAtWrapper(why)
		return true
	}
	if b.Child {
		b.Event(protocol.KindNote, protocol.Note{Text: "the rank is " + path.Base(program) + ", run by " + path.Base(b.wrapper.beside)})
	}
	b.commands.replay(b.before(), func() { b.goToFirstStop(q, t) })
	return true
}
