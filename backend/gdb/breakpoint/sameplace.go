// Breakpoints at the same place: gdb reports only the first of them for a stop.

package breakpoint

import (
	"slices"

	"sdm/backend/gdb/request"
	"sdm/backend/gdb/values"
	"sdm/backend/mi"
)

// anyShared reports whether a breakpoint that resumes threads (a log, commands that end
// in continue) is at the same place as another. Then gdb's hit counts before and after
// a run tell which of them were hit.
func (b *Table) anyShared() bool {
	return slices.ContainsFunc(b.List, func(p *Point) bool {
		return p.Resumes() && !p.unlisted && len(b.atSamePlace(p)) > 0
	})
}

// IsPassed reports whether a breakpoint at the place of p resumes threads.
func (b *Table) IsPassed(p *Point) bool {
	return p != nil && slices.ContainsFunc(b.List, (*Point).Resumes) &&
		slices.ContainsFunc(b.atSamePlace(p), (*Point).Resumes)
}

// atSamePlace returns the other breakpoints at a place of p.
func (b *Table) atSamePlace(p *Point) []*Point {
	var all []*Point
	for _, o := range b.List {
		shares := func(addr string) bool { return slices.Contains(p.places, addr) }
		if o != p && !o.unlisted && slices.ContainsFunc(o.places, shares) {
			all = append(all, o)
		}
	}
	return all
}

// CountHits records gdb's counts before the rank runs.
func (bc *Commands) CountHits() {
	if bc.points.anyShared() {
		bc.Ask(request.Internal("info breakpoints"), func(a request.Answer) { bc.points.newHits(a.Results, "") }, "-break-list")
	}
}

// hitPoints returns all breakpoints that a thread has hit with the one that gdb
// reports: those that resume it, and the first that does not, or nil.
func (bc *Commands) hitPoints(t *values.Thread, told *Point, then func(passed []*Point, stays *Point)) {
	bc.Ask(request.Internal("info breakpoints"), func(a request.Answer) {
		var passed []*Point
		var stays *Point
		for _, p := range bc.points.newHits(a.Results, t.Stop.Path("frame", "addr").Str) {
			switch {
			case p.Resumes():
				passed = append(passed, p)
			case stays == nil:
				stays = p
			}
		}
		if !slices.Contains(passed, told) && told.Resumes() {
			passed = append(passed, told)
		} else if stays == nil && !told.Resumes() {
			stays = told
		}
		then(passed, stays)
	}, "-break-list")
}

// newHits returns the breakpoints at an address that have been hit since the last call,
// by an answer to -break-list. A temporary one that was hit is not listed any more.
func (b *Table) newHits(table mi.Tuple, addr string) (hit []*Point) {
	now := map[string]tally{}
	for _, f := range table.Path("BreakpointTable", "body").Fields {
		var c tally
		c.hits, _ = f.Value.Fields.Int("times")
		c.ignore, _ = f.Value.Fields.Int("ignore")
		now[f.Value.Fields.Str("number")] = c
	}
	for _, p := range b.List {
		c, there := now[p.GDB]
		if !p.unlisted && slices.Contains(p.places, addr) && (!there || c.hits-p.counted.hits > p.counted.ignore) {
			hit = append(hit, p)
		}
		p.counted, p.unlisted = c, p.unlisted || !there
	}
	return hit
}
