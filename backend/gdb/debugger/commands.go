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
		return row{do: func(m *Machine, q *request.Request) { m.breaks.insertBreakpoint(q) }}
	case "watch":
		return row{do: func(m *Machine, q *request.Request) { m.watches.setWatch(q) }}
	case "catch":
		return row{do: func(m *Machine, q *request.Request) { m.watches.setCatch(q) }}
	case "log":
		return row{do: func(m *Machine, q *request.Request) { m.actions.setLog(q) }}
	case "barrier":
		return row{do: func(m *Machine, q *request.Request) { m.actions.runToBarrier(q) }}
	case "condition":
		return row{do: func(m *Machine, q *request.Request) { m.breaks.setCondition(q) }}
	case "ignore":
		return row{do: func(m *Machine, q *request.Request) { m.breaks.ignore(q) }}
	case "commands":
		return row{do: func(m *Machine, q *request.Request) { m.breaks.setCommands(q) }}
	case "clear":
		return row{do: func(m *Machine, q *request.Request) { m.breaks.clear(q) }}
	case "rbreak":
		return row{do: func(m *Machine, q *request.Request) { m.breaks.breakMatching(q) }}
	case "delete", "enable", "disable":
		return row{do: func(m *Machine, q *request.Request) { m.breaks.changeBreakpoints(q) }}
	case "info breakpoints", "info watchpoints":
		return row{do: func(m *Machine, q *request.Request) { m.breaks.infoBreakpoints(q) }}
	case "continue":
		return row{do: func(m *Machine, q *request.Request) { m.runs.continueRun(q) }}
	case "next", "step":
		return row{do: func(m *Machine, q *request.Request) { m.runs.stepLine(q) }}
	case "finish":
		return row{do: func(m *Machine, q *request.Request) { m.runs.resumeOne(q, "-exec-finish") }}
	case "until":
		return row{do: func(m *Machine, q *request.Request) { m.runs.runUntil(q) }}
	case "interrupt":
		return row{do: (*Machine).interrupt, always: true}
	case "kill":
		return row{do: func(m *Machine, q *request.Request) { m.termination.kill(q) }, always: true, early: true}
	case "detach":
		return row{do: func(m *Machine, q *request.Request) { m.termination.detachRank(q) }}
	case "stepi", "nexti":
		return row{do: func(m *Machine, q *request.Request) { m.runs.stepInstruction(q) }}
	case "advance":
		return row{do: func(m *Machine, q *request.Request) { m.runs.advance(q) }}
	case "jump":
		return row{do: func(m *Machine, q *request.Request) { m.runs.jump(q) }}
	case "reverse-continue", "reverse-next", "reverse-step", "reverse-finish", "reverse-nexti", "reverse-stepi":
		return row{do: func(m *Machine, q *request.Request) { m.runs.backwards(q) }}
	case "signal":
		return row{do: func(m *Machine, q *request.Request) { m.runs.continueWithSignal(q) }}
	case "handle":
		return row{do: func(m *Machine, q *request.Request) { m.settings.handleSignal(q) }}
	case "info signals":
		return row{do: func(m *Machine, q *request.Request) { m.settings.infoSignals(q) }}
	case "thread apply":
		return row{do: (*Machine).applyToThreads}
	case "gdb":
		return row{do: func(m *Machine, q *request.Request) { m.settings.passLine(q) }}
	case "mi":
		return row{do: func(m *Machine, q *request.Request) { m.settings.passMI(q) }}
	}
	if r := values.RowOf(name); r.Do != nil {
		return row{do: func(m *Machine, q *request.Request) { r.Do(m.values, q) }, last: r.Last, reads: r.Reads}
	}
	return row{}
}

// stepLine executes next and step; intermediate steps are not reported.
func (rn *runs) stepLine(q *request.Request) {
	if rn.stops.stepOut(q) {
		return
	}
	rn.resumeOne(q, "-exec-"+q.Name, strconv.Itoa(max(q.Args.Count, 1)))
}

// continueRun executes continue. With a count N it ignores the next N-1 hits of the breakpoint
// at which the rank has stopped, as gdb does; elsewhere the count has no effect. Both
// are reported in gdb's words.
func (rn *runs) continueRun(q *request.Request) {
	if t := rn.threads.Find(rn.chosen.Thread); q.Args.Count > 0 && t != nil {
		rn.ignoreNext(q, t)
	}
	rn.resumeAll(q)
}

func (rn *runs) ignoreNext(q *request.Request, t *values.Thread) {
	p, hits := rn.points.at(t.Stop), q.Args.Count-1
	// =breakpoint-deleted may be outstanding
	if p == nil || p.gone || p.number <= 0 || t.Stop.Str("disp") == "del" {
		rn.Event(protocol.KindNote, protocol.Note{Text: "Not stopped at any breakpoint; argument ignored."})
		return
	}
	rn.Tell(q.What(), "-break-after", p.gdb, strconv.Itoa(hits))
	rn.Event(protocol.KindNote, protocol.Note{Text: ignoring(p.number, hits)})
}
