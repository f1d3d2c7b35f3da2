// Wrappers: what is known of one, and what gdb is told about it.

package debugger

import (
	"path"
	"sdm/protocol"
)

// wrapper is how far the program of a wrapper has been found.
type wrapper struct {
	*core
	first  *firstStop
	seeks  bool   // the target is a wrapper that will start the program
	exec   string // gdb's number of the catchpoint for the exec of that program
	beside string // the last wrapper that starts its program as a child
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
		w.seeks = false
		w.Event(protocol.KindNote, protocol.Note{Text: w.Target.Program + " has started no program in its place, only beside it if at all: put exec in front of the program in the script"})
	}
}
