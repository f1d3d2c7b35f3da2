// Watchpoints and catchpoints.

package breakpoint

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

// watchWords are gdb's commands for Args.Access.
var watchWords = map[string]string{"": "watch", "write": "watch", "read": "rwatch", "access": "awatch"}

// Watch executes watch, by gdb's command line: GDB/MI has no -location.
func (bc *Commands) Watch(q *request.Request) {
	word, ok := watchWords[q.Args.Access]
	switch {
	case !ok:
		bc.Fail(q, &protocol.Fault{Kind: protocol.FaultUsage, Message: strconv.Quote(q.Args.Access) + " is no way to watch", Hint: "write, read or access"})
	case q.Args.Expr == "":
		bc.Fail(q, values.NoExpression())
	case bc.numbered(q):
		bc.readable(q, word, func() {
			bc.watchedIn(q, func(watched request.Selection, where []string) {
				claimed := func(p *Point) { p.Watched = watched }
				if q.Args.Condition == "" {
					bc.setByLine(q, word+" "+q.Args.Expr, watchedExpr(q.Args.Expr), where, claimed)
					return
				}
				bc.watchIf(q, word, bc.only(q.Args.Condition), where, claimed)
			})
		})
	}
}

// watchIf sets a watchpoint with its condition, so that both use the variables of the
// same frame. For Fortran see withoutChoice.
func (bc *Commands) watchIf(q *request.Request, word, only string, where []string, claimed func(*Point)) {
	line := word + " " + q.Args.Expr + " if " + only
	bc.Ask(q, func(a request.Answer) {
		if !bc.withoutChoice(q, a, q.Args.Condition, only, func(only string) { bc.watchIf(q, word, only, where, claimed) }) {
			bc.made(q, a, func() { bc.claimMade(q, a.Made, watchedExpr(q.Args.Expr), claimed) })
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
func (bc *Commands) readable(q *request.Request, word string, then func()) {
	if word == "watch" || !bc.Shared() || q.Replayed || bc.StateNow() != backend.Stopped || strings.HasPrefix(q.Args.Expr, "-") {
		then()
		return
	}
	alone := func() { bc.NeedsOwnGDB(q, "reads that may not be watched") }
	bc.Ask(q, func(a request.Answer) {
		switch {
		case a.Failed() && notInMemory.MatchString(a.Results.Str("msg")):
			alone()
			return
		case a.Failed():
			then() // gdb will refuse it with that error
			return
		}
		bc.Ask(q, func(a request.Answer) {
			if n, ok := a.Results.Int("value"); ok && n > maxWatched {
				alone()
				return
			}
			then()
		}, "-data-evaluate-expression", append(bc.Where(q), "sizeof("+q.Args.Expr+")")...)
	}, "-data-evaluate-expression", append(bc.Where(q), "&("+q.Args.Expr+")")...)
}

// watchedIn finds the frame whose variables a watchpoint uses. In a shared gdb its
// level is counted from the outermost frame, so that it is found again after a
// handover.
func (bc *Commands) watchedIn(q *request.Request, then func(watched request.Selection, where []string)) {
	again := request.Selection{}
	if q.Replayed {
		again = bc.WatchedBefore(q.Args.Breakpoint)
	}
	if !bc.Shared() && again.Frame == 0 {
		then(request.Selection{}, bc.Where(q))
		return
	}
	at := bc.Selected(q)
	if again.Frame != 0 {
		at.Thread = again.Thread
	}
	bc.Ask(q, func(a request.Answer) {
		depth, _ := a.Results.Int("depth")
		switch {
		case a.Failed():
			then(request.Selection{}, bc.Where(q))
		case again.Frame != 0:
			level := strconv.Itoa(max(depth-again.Frame, 0))
			then(again, []string{"--thread", bc.GDBThread(at.Thread), "--frame", level})
		default:
			then(request.Selection{Thread: at.Thread, Frame: depth - at.Frame}, bc.Where(q))
		}
	}, "-stack-info-depth", "--thread", bc.GDBThread(at.Thread))
}

// catchable are the events that catch accepts.
var catchable = []string{"throw", "rethrow", "catch", "exec", "fork", "vfork", "load", "unload", "syscall", "signal"}

// Catch executes catch. The words after the event are gdb's: names of system calls,
// signals, libraries.
func (bc *Commands) Catch(q *request.Request) {
	word := eventWord(q.Args.Event)
	if !slices.Contains(catchable, word) {
		message := strconv.Quote(word) + " cannot be caught"
		bc.Fail(q, &protocol.Fault{Kind: protocol.FaultUsage, Message: message, Hint: strings.Join(catchable, ", ")})
		return
	}
	switch {
	case word == "vfork":
		bc.vforkable(q, func() { bc.catch(q) })
	case word == "syscall" && bc.Shared() && !q.Replayed:
		// gdb 13.1 decides by the selected program whether another one stops at system
		// calls.
		bc.NeedsOwnGDB(q, "catch syscall")
	default:
		bc.catch(q)
	}
}

func (bc *Commands) catch(q *request.Request) {
	command := "catch "
	if q.Args.Temporary {
		command = "tcatch "
	}
	if bc.numbered(q) {
		event := strings.TrimSpace(q.Args.Event)
		bc.setByLine(q, command+event, event, bc.Where(q), func(*Point) {})
	}
}

// setByLine sets a breakpoint by gdb's command line, and adds the condition.
func (bc *Commands) setByLine(q *request.Request, line, location string, where []string, claimed func(*Point)) {
	bc.Ask(q, func(a request.Answer) {
		bc.made(q, a, func() {
			bc.narrowTo(q, a.Made, bc.only(q.Args.Condition), func() { bc.claimMade(q, a.Made, location, claimed) })
		})
	}, "-interpreter-exec", append(where, "console", line)...).Print = true
}

// made calls then if gdb's command line has made a breakpoint, which gdb reports by
// =breakpoint-created.
func (bc *Commands) made(q *request.Request, a request.Answer, then func()) {
	switch {
	case a.Failed():
		bc.Refused(q, a)
	case a.Made == "":
		bc.Fail(q, &protocol.Fault{Kind: protocol.FaultGDB, Message: strings.TrimSpace(a.Text)})
	default:
		then()
	}
}

// claimMade claims a breakpoint that gdb has made, and answers with the result of
// -break-info.
func (bc *Commands) claimMade(q *request.Request, number, location string, claimed func(*Point)) {
	p := bc.points.Claim(q.Args.Breakpoint, location, mi.Tuple{{Name: "number", Value: mi.Value{Str: number}}})
	p.event = q.Args.Event
	claimed(p)
	bc.Ask(q, func(a request.Answer) {
		var made []mi.Tuple
		for _, f := range a.Results.Path("BreakpointTable", "body").Fields {
			own, _ := bc.mine(f.Value.Fields)
			p.software = own.Str("type") == "watchpoint"
			made = append(made, own)
		}
		bc.replyBreakpoints(q, made)
	}, "-break-info", number)
}

// narrowTo adds the condition to a new breakpoint. If that fails, it deletes the
// breakpoint.
func (bc *Commands) narrowTo(q *request.Request, number, only string, then func()) {
	if only == "" {
		then()
		return
	}
	command, args := bc.Condition(q, number, only)
	bc.Ask(q, func(a request.Answer) {
		if !a.Failed() {
			then()
			return
		}
		again := false
		dealt := bc.withoutChoice(q, a, q.Args.Condition, only, func(only string) {
			again = true
			bc.narrowTo(q, number, only, then)
		})
		if !again {
			bc.Tell("delete", "-break-delete", number)
		}
		if !dealt {
			bc.Refused(q, a)
		}
	}, command, args...)
}

// EventOf describes the event at a catchpoint, as gdb does; "" elsewhere. What differs
// between ranks (the process ID of a child) is in columns.
func EventOf(stop mi.Tuple) string {
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

func librariesIn(stop mi.Tuple) string {
	var parts []string
	for _, list := range []struct{ name, word string }{{"added", "loaded "}, {"removed", "unloaded "}} {
		for _, f := range stop.Path(list.name).Fields {
			parts = append(parts, list.word+f.Value.Str) // library="/lib/libc.so.6"
		}
	}
	return strings.Join(parts, ", ")
}
