// The breakpoint at which a started rank stops first.

package debugger

import (
	"slices"
	"strconv"
	"strings"

	"sdm/backend/gdb/breakpoint"
	"sdm/backend/gdb/request"
	"sdm/backend/gdb/values"
)

// startPoint is the breakpoint at which ranks that share a gdb stop first, one for all
// of them. Whenever one of them loads a library, gdb looks up every breakpoint in every
// program. One for each rank would cost the cube of their number (measured with gdb
// 13.1: K² for one).
type startPoint struct {
	location string
	result   *request.Answer        // nil: gdb has not answered yet
	then     []func(request.Answer) // callbacks that wait for result
	pending  []*core                // have not reached it yet
	resumed  map[*core]bool         // have passed it, and must not stop there again
}

// firstStop is where a rank that was started stops first.
type firstStop struct {
	*core
	stopAt string // as the user has asked: a location, or one of the values below
	place  string // where it is to stop first, until it has
}

// Values of stopAt that are no location.
const (
	stopAtMain  = "main"
	stopAtEntry = "entry"
	stopAtNone  = "none"
)

// breakAtStart sets the breakpoint of the first stop. In a gdb with one rank it is a
// temporary one.
func (f *firstStop) breakAtStart(q *request.Request, location string, then func(request.Answer)) {
	if !f.GDB.Shared() {
		f.ask(q, then, "-break-insert", "-t", location)
		return
	}
	p := f.GDB.startAt(location)
	p.pending = append(p.pending, f.core)
	switch {
	case p.result != nil:
		then(*p.result)
	case p.then != nil:
		p.then = append(p.then, then)
	default:
		p.then = append(p.then, then)
		f.ask(q, func(a request.Answer) { p.set(f.GDB, a) }, "-break-insert", append(f.here(), location)...)
	}
}

// startAt finds the point of a location, or makes one.
func (d *GDB) startAt(location string) *startPoint {
	for _, p := range d.start {
		if p.location == location {
			return p
		}
	}
	p := &startPoint{location: location, resumed: map[*core]bool{}}
	d.start = append(d.start, p)
	return p
}

// set passes gdb's result to all callbacks.
func (p *startPoint) set(d *GDB, a request.Answer) {
	p.result = &a
	waiting := p.then
	p.then = nil
	for _, then := range waiting {
		then(a)
	}
	d.others = true
}

func (p *startPoint) number() string { return p.result.Results.Path("bkpt", "number").Str }

// arrived records that the rank has reached its first stop or never will. The last rank
// deletes the breakpoint.
func (f *firstStop) arrived() {
	f.place = ""
	for i, p := range f.GDB.start {
		at := slices.Index(p.pending, f.core)
		if at < 0 {
			continue
		}
		p.pending = slices.Delete(p.pending, at, at+1)
		if len(p.pending) > 0 || p.result == nil {
			return
		}
		f.GDB.start = slices.Delete(f.GDB.start, i, i+1)
		if !p.result.Failed() && !f.GDB.Gone {
			f.Tell("delete", "-break-delete", p.number())
		}
		return
	}
}

// leaveStart keeps a rank that resumes from stopping again at a breakpoint that other
// ranks have not reached yet.
func (f *firstStop) leaveStart() {
	for _, p := range f.GDB.start {
		if p.result == nil || p.result.Failed() || p.resumed[f.core] || slices.Contains(p.pending, f.core) {
			continue
		}
		p.resumed[f.core] = true
		var but []string
		for _, o := range f.GDB.ranks {
			if p.resumed[o] {
				but = append(but, "$_inferior != "+strconv.Itoa(o.inferior))
			}
		}
		command, args := f.breaks.Condition(request.Internal("condition"), p.number(), strings.Join(but, " && "))
		f.Tell("condition", command, args...)
	}
}

// isFirst reports whether a breakpoint makes a first stop. All ranks of a gdb may have reached it, so that it is
// gone.
func (f *firstStop) isFirst(p *breakpoint.Point) bool {
	return p != nil && p.Number == 0 && slices.Contains([]string{f.stopAt, stopAtMain, programUnit}, p.Location)
}

// firstAtMain reports whether a rank has stopped first, at main.
func (f *firstStop) firstAtMain(t *values.Thread) bool {
	return f.place == stopAtMain && f.isFirst(f.points.At(t.Stop))
}

// programUnit is the name that gfortran and Intel's compilers give to the program unit. They generate a main
// that calls it.
const programUnit = "MAIN__"
