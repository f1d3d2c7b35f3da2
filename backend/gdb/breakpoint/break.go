// Commands about breakpoints.

package breakpoint

import (
	"fmt"
	"strconv"
	"strings"

	"sdm/backend"
	"sdm/backend/gdb/request"
	"sdm/backend/gdb/values"
	"sdm/backend/mi"
	"sdm/protocol"
)

// breakpointList is the body of break and info breakpoints.
type breakpointList struct {
	Breakpoints []protocol.BreakpointInfo `json:"breakpoints"`
}

func (bc *Commands) Insert(q *request.Request) {
	if !bc.numbered(q) {
		return
	}
	location, condition := q.Args.Location, q.Args.Condition
	if before, after, ok := strings.Cut(location, " if "); ok && condition == "" {
		location, condition = strings.TrimSpace(before), strings.TrimSpace(after)
	}
	if location == "" {
		bc.insertHere(q, condition)
		return
	}
	bc.InSelectedFile(q, location, func(full string) {
		if full != location {
			q.Restart = full
		}
		location = full
		q.Located = location
		bc.insertAt(q, condition, location)
	})
}

// isLine reports whether a location is a bare number.
func isLine(location string) bool {
	_, err := strconv.Atoi(location)
	return err == nil
}

// InSelectedFile adds the file of the selected frame to a bare line number; gdb's own
// default depends on what it has printed last, for any of its ranks.
func (bc *Commands) InSelectedFile(q *request.Request, location string, then func(location string)) {
	// an earlier gdb of the rank has found it
	if isLine(location) && strings.HasSuffix(q.Located, ":"+location) {
		then(q.Located)
		return
	}
	if !isLine(location) || bc.StateNow() != backend.Stopped && !q.Replayed {
		then(location)
		return
	}
	bc.Ask(q, func(a request.Answer) {
		if f, ok := values.FrameIn(a.Results); ok && f.Full != "" {
			location = f.Full + ":" + location
		}
		then(location)
	}, "-stack-info-frame", bc.At(q)...)
}

// insertHere sets a breakpoint at the place of the selected frame, as gdb does without
// a location.
func (bc *Commands) insertHere(q *request.Request, condition string) {
	if bc.StateNow() != backend.Stopped {
		bc.Fail(q, &protocol.Fault{Kind: protocol.FaultUsage, Message: "no location is given", Hint: "FILE:LINE, FUNCTION or *ADDRESS"})
		return
	}
	bc.Ask(q, func(a request.Answer) {
		if a.Failed() {
			bc.Refused(q, a)
			return
		}
		q.Unshare()
		q.Args.Location = "*$pc" // equal for all ranks, unlike the address
		q.Located = "*" + a.Results.Path("frame", "addr").Str
		q.Restart = q.Located
		if f, ok := values.FrameIn(a.Results); ok && f.Full != "" { // addresses may change with a restart
			q.Restart = f.Full + ":" + strconv.Itoa(f.Line)
		}
		bc.insertAt(q, condition, q.Located)
	}, "-stack-info-frame", bc.At(q)...)
}

// insertAt sets a breakpoint at a location. gdb 13 crashes when ranks that share it
// step where a hardware and another breakpoint are at one place. It leaves its
// breakpoints in them, so they end by SIGTRAP.
func (bc *Commands) insertAt(q *request.Request, condition, location string) {
	alone := func() { bc.NeedsOwnGDB(q, "a hardware breakpoint") }
	switch {
	case !q.Args.Hardware || !bc.Shared() || q.Replayed:
		bc.insertOnly(q, condition, bc.only(condition), location)
	case bc.StateNow() != backend.Stopped:
		alone()
	default:
		bc.probe(q, location, func(own mi.Tuple, a request.Answer) {
			// the file that gdb has printed last
			if full := spotOf(own).full; isLine(location) && full != "" {
				q.Located = full + ":" + location
			}
			if a.Failed() && !(q.Args.Pending && IsUnknownPlace(bc.errorText(a))) {
				bc.notInserted(q, a)
				return
			}
			alone()
		})
	}
}

func (bc *Commands) insertOnly(q *request.Request, condition, only, location string) {
	args := bc.Selecting(q)
	if q.Args.Temporary {
		args = append(args, "-t")
	}
	if q.Args.Hardware {
		args = append(args, "-h")
	}
	if q.Args.Pending {
		args = append(args, "-f")
	}
	if only != "" {
		args = append(args, "-c", only)
	}
	bc.Ask(q, func(a request.Answer) {
		if !bc.withoutChoice(q, a, condition, only, func(only string) { bc.insertOnly(q, condition, only, location) }) {
			bc.inserted(q, a)
		}
	}, "-break-insert", append(args, location)...)
}

func (bc *Commands) inserted(q *request.Request, a request.Answer) {
	if a.Failed() {
		bc.notInserted(q, a)
		return
	}
	made := a.Results.Path("bkpt").Fields
	bc.tellInvalid(q.Args.Breakpoint, made, bc.ConditionErrors().takeInvalid(made.Str("number")))
	bkpt, mine := bc.mine(made)
	if !mine {
		bc.Tell("delete", "-break-delete", bkpt.Str("number"))
		bc.Fail(q, &protocol.Fault{Kind: protocol.FaultGDB, Message: fmt.Sprintf("No location %q in the program of this rank.", q.Args.Location)})
		return
	}
	p := bc.points.Claim(q.Args.Breakpoint, q.Args.Location, bkpt)
	p.exprs, p.Barrier = q.Args.Exprs, q.Name == "barrier"
	if q.Name == "assert at" {
		p.asserted, p.passes = q.Args.Expr, !q.Args.Stop
	}
	p.again = q.Restart
	if p.Barrier && !q.Replayed {
		bc.resume(q)
		return
	}
	bc.reportSamePlace(q, p, func() {
		bc.replyBreakpoints(q, []mi.Tuple{bkpt})
		bc.tellEntered(q)
	})
}

// notInserted answers with gdb's error and marks an unknown location: a library may
// provide it later.
func (bc *Commands) notInserted(q *request.Request, a request.Answer) {
	f := &protocol.Fault{Kind: protocol.FaultGDB, Message: bc.errorText(a)}
	if q.Name == "assert at" {
		f.Message = values.WithoutDenied(f.Message)
	}
	f.Later = IsUnknownPlace(f.Message)
	bc.refusal = f.Message // it is not repeated when the breakpoint is made pending
	bc.Fail(q, f)
}

// IsUnknownPlace reports whether gdb's error is one after which it offers to make a
// breakpoint pending (NOT_FOUND_ERROR, linespec.c and minsyms.c).
func IsUnknownPlace(words string) bool {
	return strings.Contains(words, " not defined") || strings.HasPrefix(words, "No source file named ") ||
		isLineWithoutCode(words) || strings.HasPrefix(words, "No symbol table is loaded.")
}

// isLineWithoutCode reports whether gdb's error is that neither a line nor a later one
// has code.
func isLineWithoutCode(words string) bool {
	return strings.HasPrefix(words, "No line ") || strings.HasPrefix(words, "No compiled code for line ")
}

func (bc *Commands) Info(q *request.Request) {
	bc.Ask(q, func(a request.Answer) {
		if a.Failed() {
			bc.Refused(q, a)
			return
		}
		var all []mi.Tuple
		for _, f := range a.Results.Path("BreakpointTable", "body").Fields {
			t, mine := bc.mine(f.Value.Fields)
			if mine && (!bc.Shared() || bc.points.Claimed(t.Str("number"))) && q.Args.Lists(q.Name, bc.points.info(t)) {
				all = append(all, t)
			}
		}
		if len(all) == 0 && len(q.Args.Breakpoints) > 0 {
			bc.Fail(q, noneMatching(q.Name, q.Args.Breakpoints))
			return
		}
		bc.replyBreakpoints(q, all)
	}, "-break-list")
}

// noneMatching is gdb's error if none of the numbers is in its list.
func noneMatching(command string, numbers []int) *protocol.Fault {
	what := "breakpoint or watchpoint"
	if command == "info watchpoints" {
		what = "watchpoint"
	}
	return &protocol.Fault{Kind: protocol.FaultGDB, Message: fmt.Sprintf("No %s matching '%s'.", what, strings.Trim(fmt.Sprint(numbers), "[]"))}
}

func (bc *Commands) replyBreakpoints(q *request.Request, all []mi.Tuple) {
	body := breakpointList{Breakpoints: []protocol.BreakpointInfo{}}
	c := values.ColumnsOf(bc.Process().Rank, q.Args.Limit)
	for _, t := range all {
		i := bc.points.info(t)
		if i.Number == 0 {
			continue // internal
		}
		body.Breakpoints = append(body.Breakpoints, i)
		c.Add(hitsColumn(i.Number), bc.points.hits(t))
	}
	bc.Reply(q, body, c.Sorted()...)
}

// WithLocation calls then when it is known at which location of its breakpoint a thread has
// stopped. With several locations it asks gdb again: libraries may have added some.
func (bc *Commands) WithLocation(t *values.Thread, then func()) {
	p := bc.points.At(t.Stop)
	if p == nil || p.Number == 0 || p.Location == "" || p.event != "" || t.Stop.Str("bkptno") == "" {
		then()
		return
	}
	_, several := t.Stop.Get("locno") // gdb 13 and later; it counts all ranks that share it
	if len(p.places) == 1 && p.places[0] == t.Stop.Path("frame", "addr").Str && (bc.Shared() || !several) {
		then()
		return
	}
	bc.Ask(request.Internal("info breakpoints"), func(a request.Answer) {
		for _, f := range a.Results.Path("BreakpointTable", "body").Fields {
			if f.Value.Fields.Str("number") == p.GDB {
				bkpt, _ := bc.mine(f.Value.Fields)
				p.places = placesOf(bkpt)
			}
		}
		then()
	}, "-break-info", p.GDB)
}

// maxSearched bounds the search for main in the stack.
const maxSearched = 100

// tellEntered notes that a breakpoint at main comes too late for a rank that was
// attached to: MPIR stops ranks in MPI_Init.
func (bc *Commands) tellEntered(q *request.Request) {
	first := bc.Threads().Find(1)
	if q.Args.Location != "main" || q.Replayed || bc.Process().Held || first == nil || bc.StateNow() != backend.Stopped {
		return
	}
	bc.Ask(request.Internal("break"), func(a request.Answer) {
		for v := range a.Results.Path("stack").Fields.All("frame") {
			if v.Fields.Str("func") == "main" {
				bc.Event(protocol.KindNote, protocol.Note{Text: "main has been entered already, and the breakpoint there will hardly be hit (sdm run --stop-at main has ranks stop there before)"})
				return
			}
		}
	}, "-stack-list-frames", "--thread", bc.GDBThread(first.ID), "0", strconv.Itoa(maxSearched))
}
