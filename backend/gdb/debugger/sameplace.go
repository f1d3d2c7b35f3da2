// Breakpoints at the same place: gdb reports only the first of them for a stop.

package debugger

import (
	"slices"

	"sdm/backend/gdb/request"
	"sdm/backend/gdb/values"
	"sdm/backend/mi"
)

// tally is what gdb has counted at a breakpoint: hits, and how many of the next ones do
// not stop.
type tally struct{ hits, ignore int }

// anyShared reports whether a breakpoint that resumes threads (a log, commands that end
// in continue) is at the same place as another. Then gdb's hit counts before and after
// a run tell which of them were hit.
func (b *breakpoints) anyShared() bool {
	return slices.ContainsFunc(b.list, func(p *point) bool { return p.resumes() && !p.unlisted && len(b.atSamePlace(p)) > 0 })
}

// isPassed reports whether a breakpoint at the place of p resumes threads.
func (b *breakpoints) isPassed(p *point) bool {
	return p != nil && slices.ContainsFunc(b.list, (*point).resumes) && slices.ContainsFunc(b.atSamePlace(p), (*point).resumes)
}

// atSamePlace returns the other breakpoints at a place of p.
func (b *breakpoints) atSamePlace(p *point) []*point {
	var all []*point
	for _, o := range b.list {
		shares := func(addr string) bool { return slices.Contains(p.places, addr) }
		if o != p && !o.unlisted && slices.ContainsFunc(o.places, shares) {
			all = append(all, o)
		}
	}
	return all
}

// countHits records gdb's counts before the rank runs.
func (ac *actions) countHits() {
	if ac.points.anyShared() {
		ac.ask(request.Internal("info breakpoints"), func(a request.Answer) { ac.points.newHits(a.Results, "") }, "-break-list")
	}
}

// hitPoints returns all breakpoints that a thread has hit with the one that gdb
// reports: those that resume it, and the first that does not, or nil.
func (ac *actions) hitPoints(t *values.Thread, told *point, then func(passed []*point, stays *point)) {
	ac.ask(request.Internal("info breakpoints"), func(a request.Answer) {
		var passed []*point
		var stays *point
		for _, p := range ac.points.newHits(a.Results, t.Stop.Path("frame", "addr").Str) {
			switch {
			case p.resumes():
				passed = append(passed, p)
			case stays == nil:
				stays = p
			}
		}
		if !slices.Contains(passed, told) && told.resumes() {
			passed = append(passed, told)
		} else if stays == nil && !told.resumes() {
			stays = told
		}
		then(passed, stays)
	}, "-break-list")
}

// newHits returns the breakpoints at an address that have been hit since the last call,
// by an answer to -break-list. A temporary one that was hit is not listed any more.
func (b *breakpoints) newHits(table mi.Tuple, addr string) (hit []*point) {
	now := map[string]tally{}
	for _, f := range table.Path("BreakpointTable", "body").Fields {
		var c tally
		c.hits, _ = f.Value.Fields.Int("times")
		c.ignore, _ = f.Value.Fields.Int("ignore")
		now[f.Value.Fields.Str("number")] = c
	}
	for _, p := range b.list {
		c, there := now[p.gdb]
		if !p.unlisted && slices.Contains(p.places, addr) && (!there || c.hits-p.counted.hits > p.counted.ignore) {
			hit = append(hit, p)
		}
		p.counted, p.unlisted = c, p.unlisted || !there
	}
	return hit
}

// stopOf translates a stop at another breakpoint in the same place to one at p.
func (p *point) stopOf(stop mi.Tuple) mi.Tuple {
	disposition := "keep"
	switch {
	case p.unlisted:
		disposition = "del"
	case p.left > 0:
		disposition = "dis"
	}
	now := slices.Clone(stop)
	for i, f := range now {
		switch f.Name {
		case "bkptno":
			now[i].Value.Str = p.gdb
		case "disp":
			now[i].Value.Str = disposition
		}
	}
	return now
}
