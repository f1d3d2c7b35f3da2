// The table of commands that a machine executes.

package debugger

import (
	"strconv"

	"sdm/backend/gdb/request"
	"sdm/backend/gdb/values"
	"sdm/protocol"
)

// row tells how one command is executed.
type row struct {
	do     func(*Machine, *request.Request)
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
		return row{do: func(m *Machine, q *request.Request) { m.resumeOne(q, "-exec-finish") }}
	case "until":
		return row{do: (*Machine).runUntil}
	case "interrupt":
		return row{do: (*Machine).interrupt, always: true}
	case "kill":
		return row{do: (*Machine).kill, always: true, early: true}
	case "detach":
		return row{do: (*Machine).detach}
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
	case "thread apply":
		return row{do: (*Machine).applyToThreads}
	case "gdb":
		return row{do: (*Machine).passLine}
	case "mi":
		return row{do: (*Machine).passMI}
	}
	if r := values.RowOf(name); r.Do != nil {
		return row{do: func(m *Machine, q *request.Request) { r.Do(m.values, q) }, last: r.Last, reads: r.Reads}
	}
	return row{}
}

// stepLine executes next and step; intermediate steps are not reported.
func (m *Machine) stepLine(q *request.Request) {
	if m.stepOut(q) {
		return
	}
	m.resumeOne(q, "-exec-"+q.Name, strconv.Itoa(max(q.Args.Count, 1)))
}

// goOn executes continue. With a count N it ignores the next N-1 hits of the breakpoint
// at which the rank has stopped, as gdb does; elsewhere the count has no effect. Both
// are reported in gdb's words.
func (m *Machine) goOn(q *request.Request) {
	if t := m.threads.Find(m.chosen.Thread); q.Args.Count > 0 && t != nil {
		m.ignoreNext(q, t)
	}
	m.resumeAll(q)
}

func (m *Machine) ignoreNext(q *request.Request, t *values.Thread) {
	p, hits := m.points.at(t.Stop), q.Args.Count-1
	// =breakpoint-deleted may be outstanding
	if p == nil || p.gone || p.number <= 0 || t.Stop.Str("disp") == "del" {
		m.Event(protocol.KindNote, protocol.Note{Text: "Not stopped at any breakpoint; argument ignored."})
		return
	}
	m.Tell(q.What(), "-break-after", p.gdb, strconv.Itoa(hits))
	m.Event(protocol.KindNote, protocol.Note{Text: ignoring(p.number, hits)})
}
