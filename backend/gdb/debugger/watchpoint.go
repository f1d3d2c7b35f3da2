// Watchpoints and catchpoints.

package debugger

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"sdm/backend"
	"sdm/backend/gdb/request"
	"sdm/backend/gdb/values"
	"sdm/backend/mi"
	"sdm/protocol"
)

// watchWords are gdb's commands for Args.Access.
var watchWords = map[string]string{"": "watch", "write": "watch", "read": "rwatch", "access": "awatch"}

// setWatch executes watch, by gdb's command line: GDB/MI has no -location.
func (m *Machine) setWatch(q *request.Request) {
	word, ok := watchWords[q.Args.Access]
	switch {
	case !ok:
		m.Fail(q, &protocol.Fault{Kind: protocol.FaultUsage, Message: strconv.Quote(q.Args.Access) + " is no way to watch", Hint: "write, read or access"})
	case q.Args.Expr == "":
		m.Fail(q, values.NoExpression())
	case m.numbered(q):
		m.readable(q, word, func() {
			m.watchedIn(q, func(watched request.Selection, where []string) {
				claimed := func(p *point) { p.watched = watched }
				if q.Args.Condition == "" {
					m.setByLine(q, word+" "+q.Args.Expr, watchedExpr(q.Args.Expr), where, claimed)
					return
				}
				m.watchIf(q, word, m.only(q.Args.Condition), where, claimed)
			})
		})
	}
}

// watchIf sets a watchpoint with its condition, so that both use the variables of the
// same frame. For Fortran see withoutChoice.
func (m *Machine) watchIf(q *request.Request, word, only string, where []string, claimed func(*point)) {
	line := word + " " + q.Args.Expr + " if " + only
	m.ask(q, func(a request.Answer) {
		if !m.withoutChoice(q, a, q.Args.Condition, only, func(only string) { m.watchIf(q, word, only, where, claimed) }) {
			m.made(q, a, func() { m.claimMade(q, a.Made, watchedExpr(q.Args.Expr), claimed) })
		}
	}, "-interpreter-exec", append(where[:len(where):len(where)], "console", line)...).Print = true
}

// watchedExpr returns gdb's name for what is watched.
func watchedExpr(expr string) string {
	if place, ok := strings.CutPrefix(expr, "-l "); ok {
		return "-location " + place
	}
	return expr
}

// notInMemory matches gdb's errors for the address of a value that has none.
var notInMemory = regexp.MustCompile(`which is in register|not located in memory|not an lvalue|isn't an lvalue`)

// mostWatched is how many bytes a processor can watch at most (4 registers of 8 bytes).
const mostWatched = 32

// readable calls then if a watchpoint is safe here. Reads of a value in a register, or
// of a large one, cannot be watched. gdb 13.1 refuses them but leaves an internal
// breakpoint at the caller; with it the ranks of a shared gdb end by SIGTRAP, or gdb
// loops for ever. In a gdb with one rank it does no harm, so the rank gets one.
func (m *Machine) readable(q *request.Request, word string, then func()) {
	if word == "watch" || !m.GDB.Shared() || q.Again || m.StateNow() != backend.Stopped || strings.HasPrefix(q.Args.Expr, "-") {
		then()
		return
	}
	alone := func() { m.aloneFor(q, "reads that may not be watched") }
	m.ask(q, func(a request.Answer) {
		switch {
		case a.Failed() && notInMemory.MatchString(a.Results.Str("msg")):
			alone()
			return
		case a.Failed():
			then() // gdb will refuse it with that error
			return
		}
		m.ask(q, func(a request.Answer) {
			if n, ok := a.Results.Int("value"); ok && n > mostWatched {
				alone()
				return
			}
			then()
		}, "-data-evaluate-expression", append(m.Where(q), "sizeof("+q.Args.Expr+")")...)
	}, "-data-evaluate-expression", append(m.Where(q), "&("+q.Args.Expr+")")...)
}

// watchedIn finds the frame whose variables a watchpoint uses. In a shared gdb its
// level is counted from the outermost frame, so that it is found again after a
// handover.
func (m *Machine) watchedIn(q *request.Request, then func(watched request.Selection, where []string)) {
	again := request.Selection{}
	if m.moving != nil && q.Again {
		again = m.moving.watched[q.Args.Breakpoint]
	}
	if !m.GDB.Shared() && again.Frame == 0 {
		then(request.Selection{}, m.Where(q))
		return
	}
	at := m.Selected(q)
	if again.Frame != 0 {
		at.Thread = again.Thread
	}
	m.ask(q, func(a request.Answer) {
		depth, _ := a.Results.Int("depth")
		switch {
		case a.Failed():
			then(request.Selection{}, m.Where(q))
		case again.Frame != 0:
			level := strconv.Itoa(max(depth-again.Frame, 0))
			then(again, []string{"--thread", m.GDBThread(at.Thread), "--frame", level})
		default:
			then(request.Selection{Thread: at.Thread, Frame: depth - at.Frame}, m.Where(q))
		}
	}, "-stack-info-depth", "--thread", m.GDBThread(at.Thread))
}

// catchable are the events that catch accepts.
var catchable = []string{"throw", "rethrow", "catch", "exec", "fork", "vfork", "load", "unload", "syscall", "signal"}

// setCatch executes catch. The words after the event are gdb's: names of system calls,
// signals, libraries.
func (m *Machine) setCatch(q *request.Request) {
	word := eventWord(q.Args.Event)
	if !slices.Contains(catchable, word) {
		m.Fail(q, &protocol.Fault{Kind: protocol.FaultUsage, Message: strconv.Quote(word) + " cannot be caught", Hint: strings.Join(catchable, ", ")})
		return
	}
	switch {
	case word == "vfork":
		m.vforkable(q, func() { m.catch(q) })
	case word == "syscall" && m.GDB.Shared() && !q.Again:
		// gdb 13.1 decides by the selected program whether another one stops at system
		// calls.
		m.aloneFor(q, "catch syscall")
	default:
		m.catch(q)
	}
}

func (m *Machine) catch(q *request.Request) {
	command := "catch "
	if q.Args.Temporary {
		command = "tcatch "
	}
	if m.numbered(q) {
		m.setByLine(q, command+strings.TrimSpace(q.Args.Event), strings.TrimSpace(q.Args.Event), m.Where(q), func(*point) {})
	}
}

// setByLine sets a breakpoint by gdb's command line, and adds the condition.
func (m *Machine) setByLine(q *request.Request, line, location string, where []string, claimed func(*point)) {
	m.ask(q, func(a request.Answer) {
		m.made(q, a, func() {
			m.narrowTo(q, a.Made, m.only(q.Args.Condition), func() { m.claimMade(q, a.Made, location, claimed) })
		})
	}, "-interpreter-exec", append(where, "console", line)...).Print = true
}

// made calls then if gdb's command line has made a breakpoint, which gdb reports by
// =breakpoint-created.
func (m *Machine) made(q *request.Request, a request.Answer, then func()) {
	switch {
	case a.Failed():
		m.Refused(q, a)
	case a.Made == "":
		m.Fail(q, &protocol.Fault{Kind: protocol.FaultGDB, Message: strings.TrimSpace(a.Text)})
	default:
		then()
	}
}

// claimMade claims a breakpoint that gdb has made, and answers with the result of
// -break-info.
func (m *Machine) claimMade(q *request.Request, number, location string, claimed func(*point)) {
	p := m.points.claim(q.Args.Breakpoint, location, mi.Tuple{{Name: "number", Value: mi.Value{Str: number}}})
	p.event = q.Args.Event
	claimed(p)
	m.ask(q, func(a request.Answer) {
		var made []mi.Tuple
		for _, f := range a.Results.Path("BreakpointTable", "body").Fields {
			own, _ := m.mine(f.Value.Fields)
			made = append(made, own)
		}
		m.replyBreakpoints(q, made)
	}, "-break-info", number)
}

// narrowTo adds the condition to a new breakpoint. If that fails, it deletes the
// breakpoint.
func (m *Machine) narrowTo(q *request.Request, number, only string, then func()) {
	if only == "" {
		then()
		return
	}
	command, args := m.condition(q, number, only)
	m.ask(q, func(a request.Answer) {
		if !a.Failed() {
			then()
			return
		}
		again := false
		dealt := m.withoutChoice(q, a, q.Args.Condition, only, func(only string) {
			again = true
			m.narrowTo(q, number, only, then)
		})
		if !again {
			m.Tell("delete", "-break-delete", number)
		}
		if !dealt {
			m.Refused(q, a)
		}
	}, command, args...)
}

// eventOf describes the event at a catchpoint, as gdb does; "" elsewhere. What differs
// between ranks (the process ID of a child) is in columns.
func eventOf(stop mi.Tuple) string {
	switch stop.Str("reason") {
	case "fork", "vfork":
		return stop.Str("reason") + "ed process"
	case "exec":
		return "exec'd " + stop.Str("new-exec")
	case "syscall-entry":
		return "call to syscall " + stop.Str("syscall-name")
	case "syscall-return":
		return "returned from syscall " + stop.Str("syscall-name")
	case "solib-event":
		return librariesIn(stop)
	}
	return ""
}

// caught are gdb's descriptions of exceptions, which it reports as breakpoints.
var caught = map[string]string{"throw": "exception thrown", "rethrow": "exception rethrown", "catch": "exception caught"}

// eventAt describes the event of a catchpoint if gdb does not.
func (p *point) eventAt() string {
	word, rest, _ := strings.Cut(p.event, " ")
	if text, ok := caught[word]; ok {
		return text
	}
	return strings.TrimSpace(word + " " + rest)
}

func librariesIn(stop mi.Tuple) string {
	var parts []string
	for _, list := range []struct{ name, word string }{{"added", "loaded "}, {"removed", "unloaded "}} {
		for _, f := range stop.Path(list.name).Fields {
			parts = append(parts, list.word+f.Value.Str) // library="/lib/libc.so.6"
		}
	}
	return strings.Join(parts, ", ")
}
