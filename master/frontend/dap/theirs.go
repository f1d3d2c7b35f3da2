// Breakpoints that others have set, and what others do with those of the client.

package dap

import (
	"encoding/json"
	"path/filepath"
	"strings"

	godap "github.com/google/go-dap"

	"sdm/master/session"
	"sdm/master/text"
	"sdm/protocol"
)

// pointsChanged tells the client of breakpoints that were made, changed or removed, but for what its own requests do,
// whose answers tell it.
func (a *adapter) pointsChanged(e session.Event) {
	var c protocol.PointsChange
	if json.Unmarshal(e.Group.Body, &c) != nil || a.calls[c.ID] != nil {
		return
	}
	if c.Change == "added" && c.Breakpoint != nil {
		if b := *c.Breakpoint; a.points.numbers[b.Number] == nil && a.points.theirs[b.Number] == nil {
			a.points.theirs[b.Number] = &b
			a.event("breakpoint", godap.BreakpointEventBody{Reason: "new", Breakpoint: a.theirPoint(b, c.Name)})
		}
		return
	}
	numbers := c.Numbers
	if len(numbers) == 0 && e.Group.Ranks.Equal(a.all) {
		numbers = a.points.all()
	}
	for _, n := range numbers {
		switch own, theirs := a.points.numbers[n], a.points.theirs[n]; {
		case c.Change == "removed" && (own != nil || theirs != nil):
			a.points.remove(n)
			a.event("breakpoint", godap.BreakpointEventBody{Reason: "removed", Breakpoint: godap.Breakpoint{Id: n}})
		case own != nil:
			a.event("breakpoint", godap.BreakpointEventBody{Reason: "changed", Breakpoint: a.breakpoint(own)})
		}
	}
}

// theirPoint is what the client is told of a breakpoint that another front end has set.
func (a *adapter) theirPoint(b protocol.BreakpointInfo, name string) godap.Breakpoint {
	out := godap.Breakpoint{Id: b.Number, Verified: !b.Pending, Message: text.Clean(b.Location)}
	if name != "" {
		out.Message = text.Clean(name) + ": " + out.Message
	}
	if path := a.points.sourceFor(b.File); path != "" && b.Line > 0 {
		out.Source, out.Line = &godap.Source{Name: filepath.Base(path)}, a.toClient(b.Line)
		if filepath.IsAbs(path) {
			out.Source.Path = path
		}
	}
	return out
}

// sourceFor returns the client's name of a source that the ranks call file: that of the only set of such a file, or
// else file.
func (p *points) sourceFor(file string) string {
	var found []string
	for set := range p.sets {
		switch {
		case file == "" || set == file:
			return file
		case strings.HasSuffix(set, "/"+filepath.Base(file)):
			found = append(found, set)
		}
	}
	if len(found) == 1 {
		return found[0]
	}
	return file
}

// all returns the numbers of the breakpoints that the client knows.
func (p *points) all() (numbers []int) {
	for n := range p.numbers {
		numbers = append(numbers, n)
	}
	for n := range p.theirs {
		numbers = append(numbers, n)
	}
	return numbers
}

// remove forgets a breakpoint that is not there any more.
func (p *points) remove(n int) {
	if x := p.numbers[n]; x != nil {
		x.number, x.found = 0, false
	}
	delete(p.numbers, n)
	delete(p.theirs, n)
}

// adopt returns a breakpoint of another front end as the client's own, if it is what the client wants: a client sends
// all breakpoints of a source, also those that it was told of.
func (p *points) adopt(want point) *placed {
	if want.command != "break" || want.line == 0 || want.condition != "" || want.hit != "" {
		return nil
	}
	for n, b := range p.theirs {
		if b.Line == want.line && b.Condition == "" && filepath.Base(b.File) == filepath.Base(want.file) {
			x := &placed{point: want, number: n, found: !b.Pending, at: b.Line}
			delete(p.theirs, n)
			p.numbers[n] = x
			return x
		}
	}
	return nil
}
