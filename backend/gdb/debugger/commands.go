// The table of commands that a machine executes.

package debugger

import (
	"strconv"

	"sdm/protocol"
)

// row tells how one command is executed.
type row struct {
	do     func(*Machine, *Request)
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

// ReadsMemory reports whether a command may wait for a file, which the caller of Do must not.
func ReadsMemory(name string) bool { return rowOf(name).reads }

func rowOf(name string) row {
	switch name {
	case "break":
		return row{do: (*Machine).insertBreakpoint}
	case "watch":
		return row{do: (*Machine).setWatch}
	case "catch":
		return row{do: (*Machine).setCatch}
	case "log":
		return row{do: (*Machine).setLog}
	case "barrier":
		return row{do: (*Machine).runToBarrier}
	case "condition":
		return row{do: (*Machine).setCondition}
	case "ignore":
		return row{do: (*Machine).ignore}
	case "commands":
		return row{do: (*Machine).setCommands}
	case "clear":
		return row{do: (*Machine).clear}
	case "rbreak":
		return row{do: (*Machine).breakMatching}
	case "delete", "enable", "disable":
		return row{do: (*Machine).changeBreakpoints}
	case "info breakpoints", "info watchpoints":
		return row{do: (*Machine).infoBreakpoints}
	case "continue":
		return row{do: (*Machine).goOn}
	case "next", "step":
		return row{do: (*Machine).stepLine}
	case "finish":
		return row{do: func(m *Machine, q *Request) { m.resumeOne(q, "-exec-finish") }}
	case "until":
		return row{do: (*Machine).runUntil}
	case "interrupt":
		return row{do: (*Machine).interrupt, always: true}
	case "kill":
		return row{do: (*Machine).kill, always: true, early: true}
	case "detach":
		return row{do: (*Machine).detach}
	case "print":
		return row{do: (*Machine).evaluate}
	case "hash":
		return row{do: (*Machine).hashArray}
	case "backtrace":
		return row{do: (*Machine).backtrace}
	case "stacks":
		return row{do: (*Machine).stacks}
	case "frame", "up", "down":
		return row{do: (*Machine).chooseFrame}
	case "info locals":
		return row{do: (*Machine).infoLocals}
	case "info args":
		return row{do: (*Machine).infoArgs}
	case "info threads":
		return row{do: (*Machine).infoThreads}
	case "list":
		return row{do: (*Machine).listSource, reads: true}
	case "stepi", "nexti":
		return row{do: (*Machine).stepInstruction}
	case "advance":
		return row{do: (*Machine).advance}
	case "jump":
		return row{do: (*Machine).jump}
	case "reverse-continue", "reverse-next", "reverse-step", "reverse-finish", "reverse-nexti", "reverse-stepi":
		return row{do: (*Machine).backwards}
	case "signal":
		return row{do: (*Machine).goOnWithSignal}
	case "handle":
		return row{do: (*Machine).handleSignal}
	case "info signals":
		return row{do: (*Machine).infoSignals}
	case "set variable":
		return row{do: (*Machine).assign, last: true}
	case "call":
		return row{do: (*Machine).callFunction, last: true}
	case "ptype", "whatis":
		return row{do: (*Machine).describe, last: true}
	case "display":
		return row{do: (*Machine).display}
	case "undisplay":
		return row{do: (*Machine).undisplay}
	case "info display":
		return row{do: (*Machine).infoDisplay}
	case "x":
		return row{do: (*Machine).examine, last: true}
	case "info registers":
		return row{do: (*Machine).infoRegisters}
	case "disassemble":
		return row{do: (*Machine).disassemble}
	case "thread":
		return row{do: (*Machine).chooseThread, reads: true}
	case "thread apply":
		return row{do: (*Machine).applyToThreads}
	case "dump memory":
		return row{do: (*Machine).dumpMemory}
	case "memory read":
		return row{do: (*Machine).readMemory}
	case "memory write":
		return row{do: (*Machine).writeMemory}
	case "info sharedlibrary":
		return row{do: (*Machine).infoLibraries}
	case "sharedlibrary":
		return row{do: (*Machine).loadLibraries}
	case "gdb":
		return row{do: (*Machine).passLine}
	case "mi":
		return row{do: (*Machine).passMI}
	}
	return row{}
}

// stepLine executes next and step; intermediate steps are not reported.
func (m *Machine) stepLine(q *Request) {
	if m.stepOut(q) {
		return
	}
	m.resumeOne(q, "-exec-"+q.Name, strconv.Itoa(max(q.args.Count, 1)))
}

// goOn executes continue. With a count N it ignores the next N-1 hits of the breakpoint
// at which the rank has stopped, as gdb does; elsewhere the count has no effect. Both
// are reported in gdb's words.
func (m *Machine) goOn(q *Request) {
	if t := m.threads.find(m.chosen.thread); q.args.Count > 0 && t != nil {
		m.ignoreNext(q, t)
	}
	m.resumeAll(q)
}

func (m *Machine) ignoreNext(q *Request, t *thread) {
	p, hits := m.points.at(t.stop), q.args.Count-1
	// =breakpoint-deleted may be outstanding
	if p == nil || p.gone || p.number <= 0 || t.stop.Str("disp") == "del" {
		m.Event(protocol.KindNote, protocol.Note{Text: "Not stopped at any breakpoint; argument ignored."})
		return
	}
	m.tell(q.what(), "-break-after", p.gdb, strconv.Itoa(hits))
	m.Event(protocol.KindNote, protocol.Note{Text: ignoring(p.number, hits)})
}
