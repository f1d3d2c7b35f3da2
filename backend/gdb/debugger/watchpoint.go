// Watchpoints and catchpoints.

package debugger

import (
	"slices"
	"strconv"
	"strings"

	"sdm/backend"
	"sdm/backend/gdb/request"
	"sdm/backend/gdb/values"
	"sdm/backend/mi"
	"sdm/protocol"
	"sdm/protocol/pattern"
)

// watchCommands sets watchpoints and catchpoints.
type watchCommands struct{ *core }

// watchWords are gdb's commands for Args.Access.
var watchWords = map[string]string{"": "watch", "write": "watch", "read": "rwatch", "access": "awatch"}

// setWatch executes watch, by gdb's command line: GDB/MI has no -location.
func (wc *watchCommands) setWatch(q *request.Request) {
	word, ok := watchWords[q.Args.Access]
	switch {
	case !ok:
		wc.Fail(q, &protocol.Fault{Kind: protocol.FaultUsage, Message: strconv.Quote(q.Args.Access) + " is no way to watch", Hint: "write, read or access"})
	case q.Args.Expr == "":
		wc.Fail(q, values.NoExpression())
	case wc.breaks.numbered(q):
		wc.readable(q, word, func() {
			wc.watchedIn(q, func(watched request.Selection, where []string) {
				claimed := func(p *point) { p.watched = watched }
				if q.Args.Condition == "" {
					wc.setByLine(q, word+" "+q.Args.Expr, watchedExpr(q.Args.Expr), where, claimed)
					return
				}
				wc.watchIf(q, word, wc.breaks.only(q.Args.Condition), where, claimed)
			})
		})
	}
}

// watchIf sets a watchpoint with its condition, so that both use the variables of the
// same frame. For Fortran see withoutChoice.
func (wc *watchCommands) watchIf(q *request.Request, word, only string, where []string, claimed func(*point)) {
	line := word + " " + q.Args.Expr + " if " + only
	wc.ask(q, func(a request.Answer) {
		if !wc.breaks.withoutChoice(q, a, q.Args.Condition, only, func(only string) { wc.watchIf(q, word, only, where, claimed) }) {
			wc.made(q, a, func() { wc.claimMade(q, a.Made, watchedExpr(q.Args.Expr), claimed) })
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
var notInMemory = pattern.New(`which is in register|not located in memory|not an lvalue|isn't an lvalue`)

// maxWatched is how many bytes a processor can watch at most (4 registers of 8 bytes).
const maxWatched = 32

// readable calls then if a watchpoint is safe here. Reads of a value in a register, or
// of a large one, cannot be watched. gdb 13.1 refuses them but leaves an internal
// breakpoint at the caller; with it the ranks of a shared gdb end by SIGTRAP, or gdb
// loops for ever. In a gdb with one rank it does no harm, so the rank gets one.
func (wc *watchCommands) readable(q *request.Request, word string, then func()) {
	if word == "watch" || !wc.GDB.Shared() || q.Replayed || wc.StateNow() != backend.Stopped || strings.HasPrefix(q.Args.Expr, "-") {
		then()
		return
	}
	alone := func() { wc.needsOwnGDB(q, "reads that may not be watched") }
	wc.ask(q, func(a request.Answer) {
		switch {
		case a.Failed() && notInMemory.MatchString(a.Results.Str("msg")):
			alone()
			return
		case a.Failed():
			then() // gdb will refuse it with that error
			return
		}
		wc.ask(q, func(a request.Answer) {
			if n, ok := a.Results.Int("value"); ok && n > maxWatched {
				alone()
				return
			}
			then()
		}, "-data-evaluate-expression", append(wc.Where(q), "sizeof("+q.Args.Expr+")")...)
	}, "-data-evaluate-expression", append(wc.Where(q), "&("+q.Args.Expr+")")...)
}

// watchedIn finds the frame whose variables a watchpoint uses. In a shared gdb its
// level is counted from the outermost frame, so that it is found again after a
// handover.
func (wc *watchCommands) watchedIn(q *request.Request, then func(watched request.Selection, where []string)) {
	again := request.Selection{}
	if wc.moving != nil && q.Replayed {
		again = wc.moving.watched[q.Args.Breakpoint]
	}
	if !wc.GDB.Shared() && again.Frame == 0 {
		then(request.Selection{}, wc.Where(q))
		return
	}
	at := wc.Selected(q)
	if again.Frame != 0 {
		at.Thread = again.Thread
	}
	wc.ask(q, func(a request.Answer) {
		depth, _ := a.Results.Int("depth")
		switch {
		case a.Failed():
			then(request.Selection{}, wc.Where(q))
		case again.Frame != 0:
			level := strconv.Itoa(max(depth-again.Frame, 0))
			then(again, []string{"--thread", wc.GDBThread(at.Thread), "--frame", level})
		default:
			then(request.Selection{Thread: at.Thread, Frame: depth - at.Frame}, wc.Where(q))
		}
	}, "-stack-info-depth", "--thread", wc.GDBThread(at.Thread))
}

// catchable are the events that catch accepts.
var catchable = []string{"throw", "rethrow", "catch", "exec", "fork", "vfork", "load", "unload", "syscall", "signal"}

// setCatch executes catch. The words after the event are gdb's: names of system calls,
// signals, libraries.
func (wc *watchCommands) setCatch(q *request.Request) {
	word := eventWord(q.Args.Event)
	if !slices.Contains(catchable, word) {
		wc.Fail(q, &protocol.Fault{Kind: protocol.FaultUsage, Message: strconv.Quote(word) + " cannot be caught", Hint: strings.Join(catchable, ", ")})
		return
	}
	switch {
	case word == "vfork":
		wc.vforkable(q, func() { wc.catch(q) })
	case word == "syscall" && wc.GDB.Shared() && !q.Replayed:
		// gdb 13.1 decides by the selected program whether another one stops at system
		// calls.
		wc.needsOwnGDB(q, "catch syscall")
	default:
		wc.catch(q)
	}
}

func (wc *watchCommands) catch(q *request.Request) {
	command := "catch "
	if q.Args.Temporary {
		command = "tcatch "
	}
	if wc.breaks.numbered(q) {
		wc.setByLine(q, command+strings.TrimSpace(q.Args.Event), strings.TrimSpace(q.Args.Event), wc.Where(q), func(*point) {})
	}
}

// setByLine sets a breakpoint by gdb's command line, and adds the condition.
func (wc *watchCommands) setByLine(q *request.Request, line, location string, where []string, claimed func(*point)) {
	wc.ask(q, func(a request.Answer) {
		wc.made(q, a, func() {
			wc.narrowTo(q, a.Made, wc.breaks.only(q.Args.Condition), func() { wc.claimMade(q, a.Made, location, claimed) })
		})
	}, "-interpreter-exec", append(where, "console", line)...).Print = true
}

// made calls then if gdb's command line has made a breakpoint, which gdb reports by
// =breakpoint-created.
func (wc *watchCommands) made(q *request.Request, a request.Answer, then func()) {
	switch {
	case a.Failed():
		wc.Refused(q, a)
	case a.Made == "":
		wc.Fail(q, &protocol.Fault{Kind: protocol.FaultGDB, Message: strings.TrimSpace(a.Text)})
	default:
		then()
	}
}

// claimMade claims a breakpoint that gdb has made, and answers with the result of
// -break-info.
func (wc *watchCommands) claimMade(q *request.Request, number, location string, claimed func(*point)) {
	p := wc.points.claim(q.Args.Breakpoint, location, mi.Tuple{{Name: "number", Value: mi.Value{Str: number}}})
	p.event = q.Args.Event
	claimed(p)
	wc.ask(q, func(a request.Answer) {
		var made []mi.Tuple
		for _, f := range a.Results.Path("BreakpointTable", "body").Fields {
			own, _ := wc.breaks.mine(f.Value.Fields)
			p.software = own.Str("type") == "watchpoint"
			made = append(made, own)
		}
		wc.breaks.replyBreakpoints(q, made)
	}, "-break-info", number)
}

// narrowTo adds the condition to a new breakpoint. If that fails, it deletes the
// breakpoint.
func (wc *watchCommands) narrowTo(q *request.Request, number, only string, then func()) {
	if only == "" {
		then()
		return
	}
	command, args := wc.breaks.condition(q, number, only)
	wc.ask(q, func(a request.Answer) {
		if !a.Failed() {
			then()
			return
		}
		again := false
		dealt := wc.breaks.withoutChoice(q, a, q.Args.Condition, only, func(only string) {
			again = true
			wc.narrowTo(q, number, only, then)
		})
		if !again {
			wc.Tell("delete", "-break-delete", number)
		}
		if !dealt {
			wc.Refused(q, a)
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
