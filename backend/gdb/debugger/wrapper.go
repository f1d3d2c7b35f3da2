// Wrappers: what is known of one, and what gdb is told about it.

package debugger

import (
	"path"
	"time"

	"sdm/protocol"
)

// wrapper is how far the program of a wrapper has been found.
type wrapper struct {
	*core
	first  *firstStop
	seeks  bool          // the target is a wrapper that will start the program
	tellAt time.Duration // when it is told that it has started none so far; 0: never
	exec   string        // gdb's number of the catchpoint for the exec of that program
	beside string        // the last wrapper that starts its program as a child
}

// seekPatience is how long a wrapper may prepare, such as load modules, before it is told that it
// has started no program.
const seekPatience = 5 * time.Second

// seek begins the search for the program; exec is gdb's number of the catchpoint.
func (w *wrapper) seek(exec string) {
	w.seeks, w.exec = true, exec
	if protocol.IsShell(w.Target.Program) {
		w.tellAt = w.now + seekPatience
	}
}

// found ends that search.
func (w *wrapper) found() { w.seeks, w.tellAt = false, 0 }

// overdue reports a shell that has not replaced itself by a program for long: it may have started
// the program as a child, where gdb does not follow.
func (w *wrapper) overdue() {
	if w.tellAt == 0 || w.now < w.tellAt {
		return
	}
	w.tellAt = 0
	if w.State.IsOver() {
		return
	}
	w.Event(protocol.KindNote, protocol.Note{Text: w.Target.Program + " has started no program in its place for " + seekPatience.String() +
		": if the program runs as its child, sdm attach finds it; to debug it from its start, put exec in front of it in the script"})
}

// followChild makes gdb go with the child if a wrapper starts its program as one.
func (w *wrapper) followChild(wrapper string) {
	switch {
	case protocol.WrappingOf(wrapper) == protocol.WrapsBeside:
		w.beside = wrapper
		w.Tell("set follow-fork-mode", "-gdb-set", "follow-fork-mode", "child")
	case w.beside != "":
		w.Tell("set follow-fork-mode", "-gdb-set", "follow-fork-mode", "parent")
	}
}

// insideValgrind says what a debugger sees of a rank that runs in valgrind.
const insideValgrind = "valgrind runs the program inside of itself, and gdb sees only valgrind; gdb shows the program after target remote | vgdb --pid=PID"

// passValgrindSignals makes gdb pass on SIGSEGV, by which valgrind extends stacks.
func (w *wrapper) passValgrindSignals(program string) {
	if protocol.WrappingOf(program) == protocol.WrapsInside {
		w.Tell("handle", console, "handle SIGSEGV nostop noprint pass")
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

// noProgramStarted reports why a rank has ended without a stop.
func (w *wrapper) noProgramStarted(exit protocol.Exit) {
	if w.seeks && exit.Signal == "" && w.first.stopAt != stopAtNone {
		w.found()
		w.Event(protocol.KindNote, protocol.Note{Text: w.Target.Program + " has started no program in its place, only beside it if at all: put exec in front of the program in the script"})
	}
}
