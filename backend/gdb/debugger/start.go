// The first stop of started ranks that share a gdb.

package debugger

import (
	"slices"
	"strconv"
	"strings"

	"sdm/backend/gdb/request"
)

// startPoint is the breakpoint at which ranks that share a gdb stop first, one for all
// of them. Whenever one of them loads a library, gdb looks up every breakpoint in every
// program. One for each rank would cost the cube of their number (measured with gdb
// 13.1: K² for one).
type startPoint struct {
	location string
	result   *request.Answer        // nil: gdb has not answered yet
	then     []func(request.Answer) // callbacks that wait for result
	pending  []*Machine             // have not reached it yet
	resumed  map[*Machine]bool      // have passed it, and must not stop there again
}

// breakAtStart sets the breakpoint of the first stop. In a gdb with one rank it is a
// temporary one.
func (att *attachment) breakAtStart(q *request.Request, location string, then func(request.Answer)) {
	if !att.GDB.Shared() {
		att.ask(q, then, "-break-insert", "-t", location)
		return
	}
	p := att.GDB.startAt(location)
	p.pending = append(p.pending, att.Machine)
	switch {
	case p.result != nil:
		then(*p.result)
	case p.then != nil:
		p.then = append(p.then, then)
	default:
		p.then = append(p.then, then)
		att.ask(q, func(a request.Answer) { p.set(att.Machine, a) }, "-break-insert", append(att.here(), location)...)
	}
}

// startAt finds the point of a location, or makes one.
func (d *Debugger) startAt(location string) *startPoint {
	for _, p := range d.start {
		if p.location == location {
			return p
		}
	}
	p := &startPoint{location: location, resumed: map[*Machine]bool{}}
	d.start = append(d.start, p)
	return p
}

// set passes gdb's result to all callbacks.
func (p *startPoint) set(by *Machine, a request.Answer) {
	p.result = &a
	waiting := p.then
	p.then = nil
	for _, then := range waiting {
		then(a)
	}
	for _, m := range by.GDB.Machines {
		m.runs.settle()
	}
}

func (p *startPoint) number() string { return p.result.Results.Path("bkpt", "number").Str }

// arrived records that the rank has reached its first stop or never will. The last rank
// deletes the breakpoint.
func (att *attachment) arrived() {
	att.firstStop = ""
	for i, p := range att.GDB.start {
		at := slices.Index(p.pending, att.Machine)
		if at < 0 {
			continue
		}
		p.pending = slices.Delete(p.pending, at, at+1)
		if len(p.pending) > 0 || p.result == nil {
			return
		}
		att.GDB.start = slices.Delete(att.GDB.start, i, i+1)
		if !p.result.Failed() && !att.GDB.Gone {
			att.Tell("delete", "-break-delete", p.number())
		}
		return
	}
}

// leaveStart keeps a rank that resumes from stopping again at a breakpoint that other
// ranks have not reached yet.
func (att *attachment) leaveStart() {
	for _, p := range att.GDB.start {
		if p.result == nil || p.result.Failed() || p.resumed[att.Machine] || slices.Contains(p.pending, att.Machine) {
			continue
		}
		p.resumed[att.Machine] = true
		var but []string
		for _, o := range att.GDB.Machines {
			if p.resumed[o] {
				but = append(but, "$_inferior != "+strconv.Itoa(o.inferior))
			}
		}
		command, args := att.breaks.condition(request.Internal("condition"), p.number(), strings.Join(but, " && "))
		att.Tell("condition", command, args...)
	}
}
