// Commands about breakpoints.

package debugger

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

func (m *Machine) insertBreakpoint(q *request.Request) {
	if !m.numbered(q) {
		return
	}
	location, condition := q.Args.Location, q.Args.Condition
	if before, after, ok := strings.Cut(location, " if "); ok && condition == "" {
		location, condition = strings.TrimSpace(before), strings.TrimSpace(after)
	}
	if location == "" {
		m.insertHere(q, condition)
		return
	}
	m.inSelectedFile(q, location, func(full string) {
		if full != location {
			q.Restart = full
		}
		location = full
		q.Located = location
		m.insertAt(q, condition, location)
	})
}

// isLine reports whether a location is a bare number.
func isLine(location string) bool {
	_, err := strconv.Atoi(location)
	return err == nil
}

// inSelectedFile adds the file of the selected frame to a bare line number; gdb's own
// default depends on what it has printed last, for whatever rank.
func (m *Machine) inSelectedFile(q *request.Request, location string, then func(location string)) {
	// an earlier gdb of the rank has found it
	if isLine(location) && strings.HasSuffix(q.Located, ":"+location) {
		then(q.Located)
		return
	}
	if !isLine(location) || m.StateNow() != backend.Stopped && !q.Again {
		then(location)
		return
	}
	m.ask(q, func(a request.Answer) {
		if f, ok := values.FrameIn(a.Results); ok && f.Full != "" {
			location = f.Full + ":" + location
		}
		then(location)
	}, "-stack-info-frame", m.At(q)...)
}

// insertHere sets a breakpoint at the place of the selected frame, as gdb does without
// a location.
func (m *Machine) insertHere(q *request.Request, condition string) {
	if m.StateNow() != backend.Stopped {
		m.Fail(q, &protocol.Fault{Kind: protocol.FaultUsage, Message: "no location is given", Hint: "FILE:LINE, FUNCTION or *ADDRESS"})
		return
	}
	m.ask(q, func(a request.Answer) {
		if a.Failed() {
			m.Refused(q, a)
			return
		}
		q.Apart()
		q.Args.Location = "*$pc" // equal for all ranks, unlike the address
		q.Located = "*" + a.Results.Path("frame", "addr").Str
		q.Restart = q.Located
		if f, ok := values.FrameIn(a.Results); ok && f.Full != "" { // addresses may change with a restart
			q.Restart = f.Full + ":" + strconv.Itoa(f.Line)
		}
		m.insertAt(q, condition, q.Located)
	}, "-stack-info-frame", m.At(q)...)
}

// insertAt sets a breakpoint at a location. gdb 13 crashes when ranks that share it
// step where a hardware and another breakpoint are at one place. It leaves its
// breakpoints in them, so they end by SIGTRAP.
func (m *Machine) insertAt(q *request.Request, condition, location string) {
	alone := func() { m.aloneFor(q, "a hardware breakpoint") }
	switch {
	case !q.Args.Hardware || !m.GDB.Shared() || q.Again:
		m.insertOnly(q, condition, m.only(condition), location)
	case m.StateNow() != backend.Stopped:
		alone()
	default:
		m.probe(q, location, func(own mi.Tuple, a request.Answer) {
			// the file that gdb has printed last
			if full := spotOf(own).full; isLine(location) && full != "" {
				q.Located = full + ":" + location
			}
			if a.Failed() && !(q.Args.Pending && isUnknownPlace(m.words(a))) {
				m.notInserted(q, a)
				return
			}
			alone()
		})
	}
}

func (m *Machine) insertOnly(q *request.Request, condition, only, location string) {
	args := m.selecting(q)
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
	m.ask(q, func(a request.Answer) {
		if !m.withoutChoice(q, a, condition, only, func(only string) { m.insertOnly(q, condition, only, location) }) {
			m.inserted(q, a)
		}
	}, "-break-insert", append(args, location)...)
}

func (m *Machine) inserted(q *request.Request, a request.Answer) {
	if a.Failed() {
		m.notInserted(q, a)
		return
	}
	made := a.Results.Path("bkpt").Fields
	m.tellInvalid(q.Args.Breakpoint, made, m.GDB.complains.takeInvalid(made.Str("number")))
	bkpt, mine := m.mine(made)
	if !mine {
		m.Tell("delete", "-break-delete", bkpt.Str("number"))
		m.Fail(q, &protocol.Fault{Kind: protocol.FaultGDB, Message: fmt.Sprintf("No location %q in the program of this rank.", q.Args.Location)})
		return
	}
	p := m.points.claim(q.Args.Breakpoint, q.Args.Location, bkpt)
	p.exprs, p.barrier = q.Args.Exprs, q.Name == "barrier"
	p.again = q.Restart
	if p.barrier && !q.Again {
		m.resumeAll(q)
		return
	}
	m.tellBeside(q, p, func() {
		m.replyBreakpoints(q, []mi.Tuple{bkpt})
		m.tellEntered(q)
	})
}

// notInserted answers with gdb's error and marks an unknown location: a library may
// provide it later.
func (m *Machine) notInserted(q *request.Request, a request.Answer) {
	f := &protocol.Fault{Kind: protocol.FaultGDB, Message: m.words(a)}
	f.Later = isUnknownPlace(f.Message)
	m.refusal = f.Message // it is not repeated when the breakpoint is made pending
	m.Fail(q, f)
}

// isUnknownPlace reports whether gdb's error is one after which it offers to make a
// breakpoint pending (NOT_FOUND_ERROR, linespec.c and minsyms.c).
func isUnknownPlace(words string) bool {
	return strings.Contains(words, " not defined") || strings.HasPrefix(words, "No source file named ") ||
		isLineWithoutCode(words) || strings.HasPrefix(words, "No symbol table is loaded.")
}

// isLineWithoutCode reports whether gdb's error is that neither a line nor a later one
// has code.
func isLineWithoutCode(words string) bool {
	return strings.HasPrefix(words, "No line ") || strings.HasPrefix(words, "No compiled code for line ")
}

func (m *Machine) infoBreakpoints(q *request.Request) {
	m.ask(q, func(a request.Answer) {
		if a.Failed() {
			m.Refused(q, a)
			return
		}
		var all []mi.Tuple
		for _, f := range a.Results.Path("BreakpointTable", "body").Fields {
			t, mine := m.mine(f.Value.Fields)
			if mine && (!m.GDB.Shared() || m.points.claimed(t.Str("number"))) && q.Args.Lists(q.Name, m.points.info(t)) {
				all = append(all, t)
			}
		}
		if len(all) == 0 && len(q.Args.Breakpoints) > 0 {
			m.Fail(q, noneMatching(q.Name, q.Args.Breakpoints))
			return
		}
		m.replyBreakpoints(q, all)
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

func (m *Machine) replyBreakpoints(q *request.Request, all []mi.Tuple) {
	body := breakpointList{Breakpoints: []protocol.BreakpointInfo{}}
	c := values.ColumnsOf(m.Target.Rank, q.Args.Limit)
	for _, t := range all {
		i := m.points.info(t)
		if i.Number == 0 {
			continue // internal
		}
		body.Breakpoints = append(body.Breakpoints, i)
		c.Add(hitsColumn(i.Number), m.points.hits(t))
	}
	m.Reply(q, body, c.Sorted()...)
}

// placed calls then when it is known at which location of its breakpoint a thread has
// stopped. With several locations it asks gdb again: libraries may have added some.
func (m *Machine) placed(t *values.Thread, then func()) {
	p := m.points.at(t.Stop)
	if p == nil || p.number == 0 || p.location == "" || p.event != "" || t.Stop.Str("bkptno") == "" {
		then()
		return
	}
	_, several := t.Stop.Get("locno") // gdb 13 and later; it counts all ranks that share it
	if len(p.places) == 1 && p.places[0] == t.Stop.Path("frame", "addr").Str && (m.GDB.Shared() || !several) {
		then()
		return
	}
	m.ask(request.Internal("info breakpoints"), func(a request.Answer) {
		for _, f := range a.Results.Path("BreakpointTable", "body").Fields {
			if f.Value.Fields.Str("number") == p.gdb {
				bkpt, _ := m.mine(f.Value.Fields)
				p.places = placesOf(bkpt)
			}
		}
		then()
	}, "-break-info", p.gdb)
}

// ThenDone returns a callback that answers with an empty object, or with gdb's error.
func (m *Machine) ThenDone(q *request.Request) func(request.Answer) {
	return func(a request.Answer) {
		if a.Failed() {
			m.Refused(q, a)
			return
		}
		m.Done(q)
	}
}
