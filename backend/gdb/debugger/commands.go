// The table of commands that a machine executes.

package debugger

import (
	"encoding/json"
	"strconv"
	"strings"

	"sdm/backend/gdb/request"
	"sdm/backend/gdb/values"
	"sdm/protocol"
)

// commands executes the commands of users.
type commands struct {
	*core
	symbols      *symbols
	groupStop    *groupStop
	signals      *signals
	runs         *runs
	steps        *steps
	interruption *interruption
	termination  *termination
	lines        *lines
}

// row tells how one command is executed.
type row struct {
	do     func(*commands, *request.Request)
	always bool // also if gdb does not answer
	early  bool // also during the attach
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

func rowOf(name string) row {
	switch name {
	case "break":
		return row{do: func(cm *commands, q *request.Request) { cm.breaks.Insert(q) }}
	case "watch":
		return row{do: func(cm *commands, q *request.Request) { cm.breaks.Watch(q) }}
	case "catch":
		return row{do: func(cm *commands, q *request.Request) { cm.breaks.Catch(q) }}
	case "log":
		return row{do: func(cm *commands, q *request.Request) { cm.setLog(q) }}
	case "assert at":
		return row{do: func(cm *commands, q *request.Request) { cm.setAssertion(q) }}
	case "barrier":
		return row{do: func(cm *commands, q *request.Request) { cm.runToBarrier(q) }}
	case "condition":
		return row{do: func(cm *commands, q *request.Request) { cm.breaks.SetCondition(q) }}
	case "ignore":
		return row{do: func(cm *commands, q *request.Request) { cm.breaks.Ignore(q) }}
	case "commands":
		return row{do: func(cm *commands, q *request.Request) { cm.breaks.SetCommands(q) }}
	case "clear":
		return row{do: func(cm *commands, q *request.Request) { cm.breaks.Clear(q) }}
	case "rbreak":
		return row{do: func(cm *commands, q *request.Request) { cm.breaks.BreakMatching(q) }}
	case "delete", "enable", "disable":
		return row{do: func(cm *commands, q *request.Request) { cm.breaks.Change(q) }}
	case "info breakpoints", "info watchpoints":
		return row{do: func(cm *commands, q *request.Request) { cm.breaks.Info(q) }}
	case "continue":
		return row{do: func(cm *commands, q *request.Request) { cm.runs.continueRun(q) }}
	case "next", "step":
		return row{do: func(cm *commands, q *request.Request) { cm.steps.stepLine(q) }}
	case "finish":
		return row{do: func(cm *commands, q *request.Request) { cm.runs.resumeOne(q, "-exec-finish") }}
	case "until":
		return row{do: func(cm *commands, q *request.Request) { cm.runs.runUntil(q) }}
	case "interrupt":
		return row{do: func(cm *commands, q *request.Request) { cm.interruption.interrupt(q) }, always: true}
	case "kill":
		return row{do: func(cm *commands, q *request.Request) { cm.termination.kill(q) }, always: true, early: true}
	case "detach":
		return row{do: func(cm *commands, q *request.Request) { cm.termination.detachRank(q) }}
	case "stepi", "nexti":
		return row{do: func(cm *commands, q *request.Request) { cm.runs.stepInstruction(q) }}
	case "advance":
		return row{do: func(cm *commands, q *request.Request) { cm.runs.advance(q) }}
	case "jump":
		return row{do: func(cm *commands, q *request.Request) { cm.runs.jump(q) }}
	case "reverse-continue", "reverse-next", "reverse-step", "reverse-finish", "reverse-nexti", "reverse-stepi":
		return row{do: func(cm *commands, q *request.Request) { cm.runs.backwards(q) }}
	case "signal":
		return row{do: func(cm *commands, q *request.Request) { cm.runs.continueWithSignal(q) }}
	case "handle":
		return row{do: func(cm *commands, q *request.Request) { cm.signals.handleSignal(q) }}
	case "info signals":
		return row{do: func(cm *commands, q *request.Request) { cm.signals.infoSignals(q) }}
	case "thread apply":
		return row{do: (*commands).applyToThreads}
	case "gdb":
		return row{do: func(cm *commands, q *request.Request) { cm.lines.passLine(q) }}
	case "mi":
		return row{do: func(cm *commands, q *request.Request) { cm.lines.passMI(q) }}
	}
	if r := values.RowOf(name); r.Do != nil {
		return row{do: func(cm *commands, q *request.Request) { r.Do(cm.values, q) }, last: r.Last}
	}
	return row{}
}

// execute executes one request.
func (cm *commands) execute(row row, q *request.Request) {
	if thread := q.Args.Thread; thread != 0 {
		if cm.threads.Find(thread) == nil {
			cm.Fail(q, values.UnknownThread(thread)) // a shared gdb would take it for a number of its own
			return
		}
		if row.info.Resumes || row.info.Selects == protocol.SelectsFrame {
			cm.selectThread(thread)
		}
	}
	if row.last && !cm.values.Printer.WithLast(q) {
		return
	}
	if cm.symbols.Deferred && needsLibraries(row.info, q) {
		cm.symbols.ReadLibraries()
	}
	if strings.Contains(q.Args.Expr+q.Args.Text, "(") {
		cm.groupStop.continueFrozen() // otherwise a function that is called there would stop with SIGSTOP
	}
	cm.values.Printer.Guard(q, func() { row.do(cm, q) })
}

// applied is the body of thread apply. Columns of thread N have the names that the command gives
// them, prefixed with "N:".
type applied struct {
	Apply   string          `json:"apply"`
	Threads []threadApplied `json:"threads"`
}

type threadApplied struct {
	Thread int             `json:"thread"`
	Result json.RawMessage `json:"result,omitempty"`
	Error  json.RawMessage `json:"error,omitempty"`
}

// applyToThreads executes the command for each thread and answers once.
func (cm *commands) applyToThreads(q *request.Request) {
	numbers, f := cm.values.Frames.ThreadsNamed(q.Args.Threads)
	row, ok := lookup(q.Args.Apply)
	if !ok || !row.info.PerThread() {
		f = &protocol.Fault{Kind: protocol.FaultUsage, Message: strconv.Quote(q.Args.Apply) + " cannot be applied to threads", Hint: "print, backtrace, info locals, x, ..."}
	}
	if f != nil {
		cm.Fail(q, f)
		return
	}
	body := applied{Apply: q.Args.Apply, Threads: make([]threadApplied, len(numbers))}
	c := values.ColumnsOf(cm.Target.Rank, q.Args.Limit)
	left := len(numbers)
	for i, n := range numbers {
		sub := &request.Request{Command: &request.Command{Name: q.Args.Apply, Args: q.Args}, ID: q.ID, Began: q.Began}
		sub.Args.Thread = n
		sub.Into = func(g protocol.Group) {
			t := threadApplied{Thread: n, Result: g.Body}
			if g.Kind == protocol.KindFault {
				t = threadApplied{Thread: n, Error: g.Body}
			}
			body.Threads[i] = t
			for _, column := range g.Columns {
				column.Name = strconv.Itoa(n) + ":" + column.Name
				c.Append(column)
			}
			if left--; left == 0 {
				cm.Reply(q, body, c.Sorted()...)
			}
		}
		row.do(cm, sub)
	}
}

// setLog executes log: a breakpoint that reports values and resumes the thread.
func (cm *commands) setLog(q *request.Request) {
	if len(q.Args.Exprs) == 0 {
		cm.Fail(q, values.NoExpression())
		return
	}
	cm.breaks.Insert(q)
}

// setAssertion executes assert at: a breakpoint where an expression is false.
func (cm *commands) setAssertion(q *request.Request) {
	if q.Args.Location == "" || q.Args.Expr == "" {
		cm.Fail(q, values.NoExpression())
		return
	}
	q.Unshare()
	q.Args.Condition = protocol.Denied(q.Args.Expr)
	cm.breaks.Insert(q)
}

// runToBarrier executes barrier: a breakpoint that each rank reaches once, and a
// resume.
func (cm *commands) runToBarrier(q *request.Request) {
	if q.Args.Location == "" {
		cm.Fail(q, &protocol.Fault{Kind: protocol.FaultUsage, Message: "no location is given", Hint: "FILE:LINE, FUNCTION or *ADDRESS"})
		return
	}
	q.Unshare()
	q.Args.Temporary = true
	cm.breaks.Insert(q)
}
