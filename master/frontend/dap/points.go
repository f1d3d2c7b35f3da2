// Breakpoints of the client.

package dap

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	godap "github.com/google/go-dap"

	"sdm/master/session"
	"sdm/protocol"
	"sdm/protocol/rank"
)

// point is a breakpoint that the client wants.
type point struct {
	command   string // "break", "log", "watch" or "catch"
	reason    string // DAP's word for a stop there
	file      string
	line      int // as the client gave it; 0: it is not a line
	location  string
	expr      string // of watch
	level     int    // of watch: the frame in which expr has its meaning
	access    string // of watch
	event     string // of catch
	condition string
	hit       string
	log       string
}

// placed is a breakpoint that was asked for, and what has become of it.
type placed struct {
	point
	number  int // sdm's; 0: there is none
	found   bool
	at      int // the line where it is; 0: it is not known
	message string
}

// points are the breakpoints of this client, and those of others that it was told of.
type points struct {
	sets    map[string][]*placed // by source, or by kind; the client sets each as a whole
	numbers map[int]*placed
	theirs  map[int]*protocol.BreakpointInfo
}

func newPoints() points {
	return points{map[string][]*placed{}, map[int]*placed{}, map[int]*protocol.BreakpointInfo{}}
}

// reason is DAP's word for a stop at a breakpoint.
func (p *points) reason(number int) string {
	if x := p.numbers[number]; x != nil {
		return x.reason
	}
	return "breakpoint"
}

// Names of the sets that are no source.
const (
	functionSet    = "\x00functions"
	exceptionSet   = "\x00exceptions"
	dataSet        = "\x00data"
	instructionSet = "\x00instructions"
)

// fileOf returns the file of a source that the client names; "": it does not.
func fileOf(s godap.Source) string { return cmp.Or(s.Path, s.Name) }

// setBreakpoints sets the breakpoints of a source.
func (a *adapter) setBreakpoints(_ time.Time, r *request) error {
	var args godap.SetBreakpointsArguments
	if err := r.read(&args); err != nil {
		return err
	}
	file := fileOf(args.Source)
	if file == "" {
		return fmt.Errorf("setBreakpoints: which source?")
	}
	if args.Breakpoints == nil {
		for _, line := range args.Lines {
			args.Breakpoints = append(args.Breakpoints, godap.SourceBreakpoint{Line: line})
		}
	}
	wanted := make([]point, 0, len(args.Breakpoints))
	for _, b := range args.Breakpoints {
		p := point{command: "break", reason: "breakpoint", file: file, line: a.fromClient(b.Line),
			condition: b.Condition, hit: b.HitCondition, log: b.LogMessage}
		p.location = file + ":" + strconv.Itoa(p.line)
		if b.LogMessage != "" {
			p.command = "log"
		}
		wanted = append(wanted, p)
	}
	a.replace(r, file, wanted)
	return nil
}

// breakpointLocations answers with the lines that have code, in the program of one rank that stands.
func (a *adapter) breakpointLocations(_ time.Time, r *request) error {
	var args godap.BreakpointLocationsArguments
	if err := r.read(&args); err != nil {
		return err
	}
	file, first, last := fileOf(args.Source), a.fromClient(args.Line), a.fromClient(args.EndLine)
	if args.EndLine == 0 {
		last = first
	}
	one, ok := a.states.In(session.Stopped).Min()
	switch {
	case file == "" || first < 1 || last < first:
		return errors.New("breakpointLocations: which lines of which source?")
	case !ok:
		return errors.New("breakpointLocations: no rank stands that could be asked")
	}
	answer := func(x *call) {
		list := []godap.BreakpointLocation{}
		each(x, func(body struct{ Lines []int }, _ protocol.Group) {
			for _, line := range body.Lines {
				list = append(list, godap.BreakpointLocation{Line: a.toClient(line)})
			}
		})
		r.answer(godap.BreakpointLocationsResponseBody{Breakpoints: list})
	}
	lines := func(file string) session.Call {
		args := protocol.Args{Location: file, First: first, Last: last}
		return session.Call{Command: "lines", Ranks: rank.Of(one).String(), Args: args}
	}
	return a.callFor(r, lines(file), func(x *call) {
		if x.results().IsEmpty() && filepath.Base(file) != file { // the source may be known under another folder
			if bad := a.callFor(r, lines(filepath.Base(file)), answer); bad != nil {
				r.fail(bad)
			}
			return
		}
		answer(x)
	})
}

// setFunctionBreakpoints sets the breakpoints at functions.
func (a *adapter) setFunctionBreakpoints(_ time.Time, r *request) error {
	var args godap.SetFunctionBreakpointsArguments
	if err := r.read(&args); err != nil {
		return err
	}
	wanted := make([]point, 0, len(args.Breakpoints))
	for _, b := range args.Breakpoints {
		wanted = append(wanted, point{command: "break", reason: "function breakpoint", location: b.Name,
			condition: b.Condition, hit: b.HitCondition})
	}
	a.replace(r, functionSet, wanted)
	return nil
}

// replace makes a set what the client wants, and answers when the ranks have answered.
func (a *adapter) replace(r *request, set string, wanted []point) {
	old := a.points.sets[set]
	now := make([]*placed, len(wanted))
	for i, p := range wanted {
		at := slices.IndexFunc(old, func(x *placed) bool { return x.point == p && x.number != 0 })
		if at >= 0 {
			now[i] = old[at]
			old = slices.Delete(slices.Clone(old), at, at+1)
		} else {
			now[i] = a.points.adopt(p)
		}
	}
	if a.target.Past {
		for i, p := range wanted {
			now[i] = &placed{point: p, message: "nothing runs in a hang file"}
		}
	}
	a.points.sets[set] = now
	owed := 1 // this function itself
	over := func() {
		if owed--; owed > 0 {
			return
		}
		list := make([]godap.Breakpoint, len(now))
		for i, x := range now {
			list[i] = a.breakpoint(x)
		}
		r.answer(godap.SetBreakpointsResponseBody{Breakpoints: list})
	}
	var gone []int
	for _, x := range old {
		if x.number != 0 {
			gone = append(gone, x.number)
			delete(a.points.numbers, x.number)
		}
	}
	if len(gone) > 0 {
		_ = a.call(session.Call{Command: "delete", Args: protocol.Args{Breakpoints: gone}}, func(*call) {}) // as good as it goes
	}
	for i, p := range wanted {
		if now[i] != nil {
			continue
		}
		now[i] = &placed{point: p}
		owed++
		a.place(now[i], over)
	}
	over()
}

// place sets a breakpoint; over is called once.
func (a *adapter) place(x *placed, over func()) {
	hits, err := hitCount(x.hit)
	if err != nil {
		x.message = err.Error()
		over()
		return
	}
	args := protocol.Args{Location: x.location, Condition: x.condition, Expr: x.expr, Access: x.access, Event: x.event}
	if x.command == "log" {
		args.Exprs = expressions(x.log)
	}
	if x.command == "watch" { // gdb takes the expression in the selected frame
		frame := frame{a.states.In(session.Stopped).Intersect(a.focus), x.level}
		if frame.ranks.IsEmpty() {
			x.message = "no rank stands: where is " + x.expr + "?"
			over()
			return
		}
		_ = a.call(frame.on("frame", protocol.Args{}), func(*call) {}) // the watchpoint tells what is wrong
	}
	a.tryPlace(x, args, func() {
		if x.number == 0 || hits <= 1 {
			over()
			return
		}
		ignore := protocol.Args{Breakpoints: []int{x.number}, Count: hits - 1}
		if a.call(a.onFocus("ignore", ignore), func(c *call) {
			if bad := c.failure(); bad != nil {
				x.message = bad.Error()
			}
			over()
		}) != nil {
			over()
		}
	})
}

// onFocus is a call on the focus.
func (a *adapter) onFocus(command string, args protocol.Args) session.Call {
	c := session.Call{Command: command, Args: args}
	if command == "watch" {
		c.Ranks = a.states.In(session.Stopped).Intersect(a.focus).String()
		return c
	}
	if a.pinned || !a.focus.Equal(a.all) {
		c.Ranks = a.focus.String()
	}
	return c
}

// tryPlace sets a breakpoint: where the source is known under another folder, by its name alone; where there is no
// such place yet, for a library that is loaded later.
func (a *adapter) tryPlace(x *placed, args protocol.Args, over func()) {
	err := a.call(a.onFocus(x.command, args), func(c *call) {
		each(c, func(body struct{ Breakpoints []protocol.BreakpointInfo }, _ protocol.Group) {
			if x.number == 0 && len(body.Breakpoints) > 0 {
				b := body.Breakpoints[0]
				x.number, x.found, x.at = b.Number, !b.Pending, b.Line
			}
		})
		bad := c.failure()
		switch {
		case x.number != 0:
			a.points.numbers[x.number] = x
			if bad != nil {
				x.message = bad.Error()
			}
		case bad != nil && x.file != "" && args.Location == x.location && filepath.Base(x.file) != x.file:
			args.Location = filepath.Base(x.file) + ":" + strconv.Itoa(x.line)
			a.tryPlace(x, args, over)
			return
		case bad != nil && !args.Pending && later(c):
			args.Pending, args.Location = true, x.location
			a.tryPlace(x, args, over)
			return
		case bad != nil:
			x.message = bad.Error()
		}
		over()
	})
	if err != nil {
		x.message = err.Error()
		over()
	}
}

// later reports whether a breakpoint may wait for a library.
func later(c *call) bool {
	for _, g := range c.groups {
		var f protocol.Fault
		if g.Kind == protocol.KindFault && json.Unmarshal(g.Body, &f) == nil && f.Later {
			return true
		}
	}
	return false
}

// breakpoint is what the client is told.
func (a *adapter) breakpoint(x *placed) godap.Breakpoint {
	out := godap.Breakpoint{Id: x.number, Verified: x.found, Message: x.message}
	if x.number != 0 && !x.found {
		out.Message = "waits for a library, or for ranks that are started again"
	}
	if x.file != "" {
		out.Source = &godap.Source{Name: filepath.Base(x.file), Path: x.file}
		out.Line = a.toClient(x.line)
		if x.at != 0 {
			out.Line = a.toClient(x.at)
		}
	}
	return out
}

// toClient and fromClient convert a line, which some clients count from 0.
func (a *adapter) toClient(line int) int {
	if !a.client.LinesStartAt1 {
		return line - 1
	}
	return line
}

func (a *adapter) fromClient(line int) int {
	if !a.client.LinesStartAt1 {
		return line + 1
	}
	return line
}
