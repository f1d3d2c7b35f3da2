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
//
// gdb goes with the child of a wrapper that starts its program as one. The wrapper then
// runs on without gdb.
func (att *attachment) seekProgram(q *request.Request) {
	att.Done(q)
	if why := cannotFollow(att.Target.Program); why != "" {
		att.stayAtWrapper(why)
		return
	}
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
			att.followChild(att.Target.Program)
			resume()
		}
	})
}

// stayAtWrapper leaves the rank at the first instruction of a wrapper, with the commands that were
// given for it.
func (att *attachment) stayAtWrapper(why string) {
	att.replay(att.before(), func() { att.stayAtEntry(why) })
}

// followChild makes gdb go with the child if a wrapper starts its program as one.
func (att *attachment) followChild(wrapper string) {
	switch {
	case protocol.WrappingOf(wrapper) == protocol.WrapsBeside:
		att.beside = wrapper
		att.Tell("set follow-fork-mode", "-gdb-set", "follow-fork-mode", "child")
	case att.beside != "":
		att.Tell("set follow-fork-mode", "-gdb-set", "follow-fork-mode", "parent")
	}
}

// insideValgrind says what a debugger sees of a rank that runs in valgrind.
const insideValgrind = "valgrind runs the program inside of itself, and gdb sees only valgrind; gdb shows the program after target remote | vgdb --pid=PID"

// passValgrindSignals makes gdb pass on SIGSEGV, by which valgrind extends stacks.
func (att *attachment) passValgrindSignals(program string) {
	if protocol.WrappingOf(program) == protocol.WrapsInside {
		att.Tell("handle", console, "handle SIGSEGV nostop noprint pass")
	}
}

// cannotFollow returns why gdb cannot go from a wrapper to its program; "": it can.
func cannotFollow(wrapper string) string {
	name := path.Base(wrapper)
	switch protocol.WrappingOf(wrapper) {
	case protocol.WrapsTraced:
		return name + " traces its program, and a process has one tracer: leave " + name + " out. The rank is " + name + ", at its first instruction."
	case protocol.WrapsInside:
		return insideValgrind
	case protocol.WrapsSomehow:
		return name + " starts its program among processes of its own, where gdb cannot follow: sdm attach finds the program when it runs. The rank is " + name + ", at its first instruction."
	}
	return ""
}

// foundProgram checks whether a wrapper has started its program, and then goes to its
// first stop. Any other stop is reported, and the search goes on with the next resume.
func (att *attachment) foundProgram(t *values.Thread) bool {
	if !att.seeks || t.Stop.Str("reason") != "exec" {
		return false
	}
	q := request.Internal("launch")
	program := t.Stop.Str("new-exec")
	why := cannotFollow(program)
	if protocol.IsWrapper(program) && why == "" {
		att.followChild(program)
		att.runs.resumeAll(q)
		att.run.silent = true
		return true
	}
	att.seeks = false
	att.Tell("delete", "-break-delete", att.exec)
	att.followChild(program)
	if why != "" {
		att.passValgrindSignals(program)
		att.stayAtWrapper(why)
		return true
	}
	if att.Child {
		att.Event(protocol.KindNote, protocol.Note{Text: "the rank is " + path.Base(program) + ", run by " + path.Base(att.beside)})
	}
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
