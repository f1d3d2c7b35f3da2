// Watchpoints and catchpoints.

package debugger

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"sdm/backend"
	"sdm/backend/mi"
	"sdm/protocol"
)

// watchWords are gdb's commands for Args.Access.
var watchWords = map[string]string{"": "watch", "write": "watch", "read": "rwatch", "access": "awatch"}

// setWatch executes watch, by gdb's command line: GDB/MI has no -location.
func (m *Machine) setWatch(q *Request) {
	word, ok := watchWords[q.args.Access]
	switch {
	case !ok:
		m.fail(q, &protocol.Fault{Kind: protocol.FaultUsage, Message: strconv.Quote(q.args.Access) + " is no way to watch", Hint: "write, read or access"})
	case q.args.Expr == "":
		m.fail(q, noExpression())
	case m.numbered(q):
		m.readable(q, word, func() {
			m.watchedIn(q, func(watched selection, where []string) {
				claimed := func(p *point) { p.watched = watched }
				if q.args.Condition == "" {
					m.setByLine(q, word+" "+q.args.Expr, watchedExpr(q.args.Expr), where, claimed)
					return
				}
				m.watchIf(q, word, m.only(q.args.Condition), where, claimed)
			})
		})
	}
}

// watchIf sets a watchpoint with its condition, so that both use the variables of the
// same frame. For Fortran see withoutChoice.
func (m *Machine) watchIf(q *Request, word, only string, where []string, claimed func(*point)) {
	line := word + " " + q.args.Expr + " if " + only
	m.ask(q, func(a answer) {
		if !m.withoutChoice(q, a, q.args.Condition, only, func(only string) { m.watchIf(q, word, only, where, claimed) }) {
			m.made(q, a, func() { m.claimMade(q, a.made, watchedExpr(q.args.Expr), claimed) })
		}
	}, "-interpreter-exec", append(where[:len(where):len(where)], "console", line)...).print = true
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
func (m *Machine) readable(q *Request, word string, then func()) {
	if word == "watch" || !m.GDB.Shared() || q.again || m.stateNow() != backend.Stopped || strings.HasPrefix(q.args.Expr, "-") {
		then()
		return
	}
	alone := func() { m.aloneFor(q, "reads that may not be watched") }
	m.ask(q, func(a answer) {
		switch {
		case a.failed() && notInMemory.MatchString(a.Results.Str("msg")):
			alone()
			return
		case a.failed():
			then() // gdb will refuse it with that error
			return
		}
		m.ask(q, func(a answer) {
			if n, ok := a.Results.Int("value"); ok && n > mostWatched {
				alone()
				return
			}
			then()
		}, "-data-evaluate-expression", append(m.where(q), "sizeof("+q.args.Expr+")")...)
	}, "-data-evaluate-expression", append(m.where(q), "&("+q.args.Expr+")")...)
}

// watchedIn finds the frame whose variables a watchpoint uses. In a shared gdb its
// level is counted from the outermost frame, so that it is found again after a
// handover.
func (m *Machine) watchedIn(q *Request, then func(watched selection, where []string)) {
	again := selection{}
	if m.moving != nil && q.again {
		again = m.moving.watched[q.args.Breakpoint]
	}
	if !m.GDB.Shared() && again.frame == 0 {
		then(selection{}, m.where(q))
		return
	}
	at := m.selected(q)
	if again.frame != 0 {
		at.thread = again.thread
	}
	m.ask(q, func(a answer) {
		depth, _ := a.Results.Int("depth")
		switch {
		case a.failed():
			then(selection{}, m.where(q))
		case again.frame != 0:
			level := strconv.Itoa(max(depth-again.frame, 0))
			then(again, []string{"--thread", m.gdbThread(at.thread), "--frame", level})
		default:
			then(selection{at.thread, depth - at.frame}, m.where(q))
		}
	}, "-stack-info-depth", "--thread", m.gdbThread(at.thread))
}

// catchable are the events that catch accepts.
var catchable = []string{"throw", "rethrow", "catch", "exec", "fork", "vfork", "load", "unload", "syscall", "signal"}

// setCatch executes catch. The words after the event are gdb's: names of system calls,
// signals, libraries.
func (m *Machine) setCatch(q *Request) {
	word := eventWord(q.args.Event)
	if !slices.Contains(catchable, word) {
		m.fail(q, &protocol.Fault{Kind: protocol.FaultUsage, Message: strconv.Quote(word) + " cannot be caught", Hint: strings.Join(catchable, ", ")})
		return
	}
	switch {
	case word == "vfork":
		m.vforkable(q, func() { m.catch(q) })
	case word == "syscall" && m.GDB.Shared() && !q.again:
		// gdb 13.1 decides by the selected program whether another one stops at system
		// calls.
		m.aloneFor(q, "catch syscall")
	default:
		m.catch(q)
	}
}

func (m *Machine) catch(q *Request) {
	command := "catch "
	if q.args.Temporary {
		command = "tcatch "
	}
	if m.numbered(q) {
		m.setByLine(q, command+strings.TrimSpace(q.args.Event), strings.TrimSpace(q.args.Event), m.where(q), func(*point) {})
	}
}

// setByLine sets a breakpoint by gdb's command line, and adds the condition.
func (m *Machine) setByLine(q *Request, line, location string, where []string, claimed func(*point)) {
	m.ask(q, func(a answer) {
		m.made(q, a, func() {
			m.narrowTo(q, a.made, m.only(q.args.Condition), func() { m.claimMade(q, a.made, location, claimed) })
		})
	}, "-interpreter-exec", append(where, "console", line)...).print = true
}

// made calls then if gdb's command line has made a breakpoint, which gdb reports by
// =breakpoint-created.
func (m *Machine) made(q *Request, a answer, then func()) {
	switch {
	case a.failed():
		m.refused(q, a)
	case a.made == "":
		m.fail(q, &protocol.Fault{Kind: protocol.FaultGDB, Message: strings.TrimSpace(a.text)})
	default:
		then()
	}
}

// claimMade claims a breakpoint that gdb has made, and answers with the result of
// -break-info.
func (m *Machine) claimMade(q *Request, number, location string, claimed func(*point)) {
	p := m.points.claim(q.args.Breakpoint, location, mi.Tuple{{Name: "number", Value: mi.Value{Str: number}}})
	p.event = q.args.Event
	claimed(p)
	m.ask(q, func(a answer) {
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
func (m *Machine) narrowTo(q *Request, number, only string, then func()) {
	if only == "" {
		then()
		return
	}
	command, args := m.condition(q, number, only)
	m.ask(q, func(a answer) {
		if !a.failed() {
			then()
			return
		}
		again := false
		dealt := m.withoutChoice(q, a, q.args.Condition, only, func(only string) {
			again = true
			m.narrowTo(q, number, only, then)
		})
		if !again {
			m.tell("delete", "-break-delete", number)
		}
		if !dealt {
			m.refused(q, a)
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
