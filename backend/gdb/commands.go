// The table of commands that a machine executes.

package gdb

import (
	"strconv"

	"sdm/protocol"
)

// row tells how one command is executed.
type row struct {
	do     func(*machine, *request)
	always bool // also if gdb does not answer
	early  bool // also during the attach
	reads  bool // may wait for a file, which the caller of Do must not
	last   bool // its expression may refer to the value that the rank has printed last
	info   protocol.CommandInfo
}

// lookup finds a command with Place AtTarget, with its row of protocol.Commands.
func lookup(name string) (row, bool) {
	r := rowOf(name)
	info, ok := protocol.LookupCommand(name)
	if r.do == nil || !ok || info.Place != protocol.AtTarget {
		return row{}, false
	}
	r.info = info
	return r, true
}

// readsMemory reports whether a command may wait for a file, which the caller of Do must not.
func readsMemory(name string) bool { return rowOf(name).reads }

func rowOf(name string) row {
	switch name {
	case "break":
		return row{do: (*machine).insertBreakpoint}
	case "watch":
		return row{do: (*machine).setWatch}
	case "catch":
		return row{do: (*machine).setCatch}
	case "log":
		return row{do: (*machine).setLog}
	case "barrier":
		return row{do: (*machine).runToBarrier}
	case "condition":
		return row{do: (*machine).setCondition}
	case "ignore":
		return row{do: (*machine).ignore}
	case "commands":
		return row{do: (*machine).setCommands}
	case "clear":
		return row{do: (*machine).clear}
	case "rbreak":
		return row{do: (*machine).breakMatching}
	case "delete", "enable", "disable":
		return row{do: (*machine).changeBreakpoints}
	case "info breakpoints", "info watchpoints":
		return row{do: (*machine).infoBreakpoints}
	case "continue":
		return row{do: (*machine).goOn}
	case "next", "step":
		return row{do: (*machine).stepLine}
	case "finish":
		return row{do: func(m *machine, q *request) { m.resumeOne(q, "-exec-finish") }}
	case "until":
		return row{do: (*machine).runUntil}
	case "interrupt":
		return row{do: (*machine).interrupt, always: true}
	case "kill":
		return row{do: (*machine).kill, always: true, early: true}
	case "detach":
		return row{do: (*machine).detach}
	case "print":
		return row{do: (*machine).evaluate}
	case "hash":
		return row{do: (*machine).hashArray}
	case "backtrace":
		return row{do: (*machine).backtrace}
	case "stacks":
		return row{do: (*machine).stacks}
	case "frame", "up", "down":
		return row{do: (*machine).chooseFrame}
	case "info locals":
		return row{do: (*machine).infoLocals}
	case "info args":
		return row{do: (*machine).infoArgs}
	case "info threads":
		return row{do: (*machine).infoThreads}
	case "list":
		return row{do: (*machine).listSource, reads: true}
	case "stepi", "nexti":
		return row{do: (*machine).stepInstruction}
	case "advance":
		return row{do: (*machine).advance}
	case "jump":
		return row{do: (*machine).jump}
	case "reverse-continue", "reverse-next", "reverse-step", "reverse-finish", "reverse-nexti", "reverse-stepi":
		return row{do: (*machine).backwards}
	case "signal":
		return row{do: (*machine).goOnWithSignal}
	case "handle":
		return row{do: (*machine).handleSignal}
	case "info signals":
		return row{do: (*machine).infoSignals}
	case "set variable":
		return row{do: (*machine).assign, last: true}
	case "call":
		return row{do: (*machine).callFunction, last: true}
	case "ptype", "whatis":
		return row{do: (*machine).describe, last: true}
	case "display":
		return row{do: (*machine).display}
	case "undisplay":
		return row{do: (*machine).undisplay}
	case "info display":
		return row{do: (*machine).infoDisplay}
	case "x":
		return row{do: (*machine).examine, last: true}
	case "info registers":
		return row{do: (*machine).infoRegisters}
	case "disassemble":
		return row{do: (*machine).disassemble}
	case "thread":
		return row{do: (*machine).chooseThread, reads: true}
	case "thread apply":
		return row{do: (*machine).applyToThreads}
	case "dump memory":
		return row{do: (*machine).dumpMemory}
	case "memory read":
		return row{do: (*machine).readMemory}
	case "memory write":
		return row{do: (*machine).writeMemory}
	case "info sharedlibrary":
		return row{do: (*machine).infoLibraries}
	case "sharedlibrary":
		return row{do: (*machine).loadLibraries}
	case "gdb":
		return row{do: (*machine).passLine}
	case "mi":
		return row{do: (*machine).passMI}
	}
	return row{}
}

// stepLine executes next and step; intermediate steps are not reported.
func (m *machine) stepLine(q *request) {
	if m.stepOut(q) {
		return
	}
	m.resumeOne(q, "-exec-"+q.name, strconv.Itoa(max(q.args.Count, 1)))
}

// goOn executes continue. With a count N it ignores the next N-1 hits of the breakpoint
// at which the rank has stopped, as gdb does; elsewhere the count has no effect. Both
// are reported in gdb's words.
func (m *machine) goOn(q *request) {
	if t := m.threads.find(m.chosen.thread); q.args.Count > 0 && t != nil {
		m.ignoreNext(q, t)
	}
	m.resumeAll(q)
}

func (m *machine) ignoreNext(q *request, t *thread) {
	p, hits := m.points.at(t.stop), q.args.Count-1
	// =breakpoint-deleted may be outstanding
	if p == nil || p.gone || p.number <= 0 || t.stop.Str("disp") == "del" {
		m.event(protocol.KindNote, protocol.Note{Text: "Not stopped at any breakpoint; argument ignored."})
		return
	}
	m.tell(q.what(), "-break-after", p.gdb, strconv.Itoa(hits))
	m.event(protocol.KindNote, protocol.Note{Text: ignoring(p.number, hits)})
}
