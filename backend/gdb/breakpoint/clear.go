// Breakpoints by location: clear and rbreak.

package breakpoint

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"

	"sdm/backend"
	"sdm/backend/gdb/request"
	"sdm/backend/gdb/values"
	"sdm/backend/mi"
	"sdm/protocol"
)

// cleared is the body of clear: the numbers of the deleted breakpoints.
type cleared struct {
	Deleted []int `json:"deleted"`
}

// Clear deletes the breakpoints at a location, or in the line of the selected frame.
func (bc *Commands) Clear(q *request.Request) {
	if q.Args.Location == "" && bc.StateNow() != backend.Stopped {
		bc.Fail(q, &protocol.Fault{Kind: protocol.FaultUsage, Message: "no location is given", Hint: "FILE:LINE, FUNCTION or *ADDRESS"})
		return
	}
	if bc.StateNow() != backend.Stopped {
		bc.clearAt(q, q.Args.Location)
		return
	}
	bc.Ask(q, func(a request.Answer) {
		here := spotOf(a.Results.Path("frame").Fields)
		switch {
		case q.Args.Location == "" && a.Failed():
			bc.Refused(q, a)
		case q.Args.Location == "" && here.full == "":
			// gdb's error message
			bc.Fail(q, &protocol.Fault{Kind: protocol.FaultGDB, Message: "No source file specified."})
		case q.Args.Location == "":
			bc.clearSpots(q, []spot{here})
		case isLine(q.Args.Location) && here.full != "": // as break does
			bc.clearAt(q, here.full+":"+q.Args.Location)
		default:
			bc.clearAt(q, q.Args.Location)
		}
	}, "-stack-info-frame", bc.At(q)...)
}

// clearAt finds where break would set a breakpoint. For a line without code that is a
// later line, where nothing is deleted.
func (bc *Commands) clearAt(q *request.Request, location string) {
	line := location[strings.LastIndexByte(location, ':')+1:]
	bc.probe(q, location, func(own mi.Tuple, a request.Answer) {
		switch {
		case a.Failed() && isLine(line) && isLineWithoutCode(bc.errorText(a)):
			bc.clearSpots(q, nil)
		case a.Failed():
			bc.clearNamed(q, a)
		case isLine(line):
			bc.clearSpots(q, slices.DeleteFunc(spotsOf(own), func(s spot) bool { return s.line != line }))
		default:
			bc.clearSpots(q, spotsOf(own))
		}
	})
}

// clearNamed deletes the pending breakpoints with exactly this location, which gdb does
// not know.
func (bc *Commands) clearNamed(q *request.Request, a request.Answer) {
	var numbers []int
	for _, p := range bc.points.List {
		if p.Number > 0 && p.Location == q.Args.Location && p.places == nil && p.event == "" {
			numbers = append(numbers, p.Number)
		}
	}
	if numbers == nil {
		bc.Refused(q, a)
		return
	}
	bc.deleteFor(q, numbers)
}

func (bc *Commands) clearSpots(q *request.Request, spots []spot) {
	bc.Ask(q, func(a request.Answer) {
		var numbers []int
		for _, f := range a.Results.Path("BreakpointTable", "body").Fields {
			bkpt, mine := bc.mine(f.Value.Fields)
			n := bc.points.NumberOf(bkpt.Str("number"))
			at := func(s spot) bool { return slices.ContainsFunc(spots, s.is) }
			if mine && n > 0 && strings.Contains(bkpt.Str("type"), "breakpoint") && slices.ContainsFunc(spotsOf(bkpt), at) {
				numbers = append(numbers, n)
			}
		}
		if numbers == nil {
			at := cmp.Or(q.Args.Location, "this line")
			bc.Fail(q, &protocol.Fault{Kind: protocol.FaultGDB, Message: fmt.Sprintf("No breakpoint at %s.", at), Hint: "info breakpoints lists them"})
			return
		}
		bc.deleteFor(q, numbers)
	}, "-break-list")
}

// deleteFor deletes breakpoints and answers with their numbers.
func (bc *Commands) deleteFor(q *request.Request, numbers []int) {
	slices.Sort(numbers)
	c := &request.Command{Name: "delete", Args: protocol.Args{Breakpoints: numbers}}
	sub := &request.Request{Command: c, ID: q.ID, Began: q.Began}
	sub.Into = func(g protocol.Group) {
		if g.Kind == protocol.KindFault {
			bc.Say(q, g)
			return
		}
		bc.Reply(q, cleared{numbers})
	}
	bc.Change(sub)
}

// functionList is the first answer to rbreak: locations of the matching functions.
type functionList struct {
	Functions []string `json:"functions"`
}

// BreakMatching executes rbreak. The master first asks all ranks for their functions,
// so that each function gets the same number on all ranks, and then has the breakpoints
// set.
func (bc *Commands) BreakMatching(q *request.Request) {
	if len(q.Args.Functions) > 0 {
		none := breakpointList{Breakpoints: []protocol.BreakpointInfo{}}
		bc.breakFunctions(q, none, values.ColumnsOf(bc.Process().Rank, q.Args.Limit), 0)
		return
	}
	file, regex := "", strings.TrimSpace(q.Args.Expr)
	if before, after, ok := strings.Cut(regex, ":"); ok && !strings.HasPrefix(after, ":") {
		file, regex = strings.TrimSpace(before), strings.TrimSpace(after)
	}
	args := bc.Here()
	if file == "" {
		args = append(args, "--include-nondebug")
	}
	// gdb cannot search one file: all functions are searched, and the matches are
	// bounded.
	most := protocol.MaxFunctions + 1
	if file != "" {
		most = maxFunctions
	}
	bc.Ask(q, func(a request.Answer) {
		if a.Failed() {
			bc.Refused(q, a)
			return
		}
		list := functionsIn(a.Results, file)
		switch {
		case len(list) == 0:
			bc.Fail(q, &protocol.Fault{Kind: protocol.FaultGDB, Message: fmt.Sprintf("No function fits %q.", q.Args.Expr)})
		case len(list) > protocol.MaxFunctions:
			bc.Fail(q, protocol.TooManyFunctions(q.Args.Expr))
		default:
			bc.fitting = list
			bc.Reply(q, functionList{list})
		}
	}, "-symbol-info-functions", append(args, "--name", regex, "--max-results", fmt.Sprint(most))...)
}

// maxFunctions bounds the functions that are searched for the ones in a file.
const maxFunctions = 20_000

// functionsIn returns the functions of an answer to -symbol-info-functions as sorted
// locations: those with debug information, or the others if there are none.
func functionsIn(results mi.Tuple, file string) []string {
	var list []string
	for _, f := range results.Path("symbols", "debug").Fields {
		name, full := f.Value.Fields.Str("filename"), f.Value.Fields.Str("fullname")
		if file != "" && path.Base(name) != file && name != file && !strings.HasSuffix(full, "/"+file) {
			continue
		}
		for _, s := range f.Value.Fields.Path("symbols").Fields {
			list = append(list, path.Base(name)+":"+quoted(s.Value.Fields.Str("name")))
		}
	}
	if list == nil && file == "" {
		for _, s := range results.Path("symbols", "nondebug").Fields {
			list = append(list, quoted(s.Value.Fields.Str("name")))
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// quoted quotes a function name in a location: C++ names have blanks, commas and
// colons.
func quoted(name string) string {
	if strings.ContainsAny(name, " (,:<") {
		return "'" + name + "'"
	}
	return name
}

// breakFunctions sets the breakpoints of an rbreak from the i-th on, each as break
// would. Functions that the program of this rank does not have are left out.
func (bc *Commands) breakFunctions(q *request.Request, body breakpointList, c *values.Columns, i int) {
	if i == len(q.Args.Functions) {
		if len(body.Breakpoints) == 0 {
			bc.Fail(q, &protocol.Fault{Kind: protocol.FaultGDB, Message: fmt.Sprintf("No function fits %q.", q.Args.Expr)})
			return
		}
		bc.Reply(q, body, c.Sorted()...)
		return
	}
	bc.breakFunction(q, q.Args.Functions[i], i, func(g protocol.Group) {
		if g.Kind == protocol.KindResult {
			var one breakpointList
			if json.Unmarshal(g.Body, &one) == nil {
				body.Breakpoints = append(body.Breakpoints, one.Breakpoints...)
			}
			c.Append(g.Columns...)
		}
		if f := request.FaultIn(g); f != nil && slices.Contains(bc.fitting, q.Args.Functions[i]) {
			bc.note("%s", f.Message)
		}
		if !bc.StateNow().IsOver() {
			bc.breakFunctions(q, body, c, i+1)
		}
	})
}

// breakFunction sets the i-th breakpoint of an rbreak. gdb 13 lists the typedefs of
// arguments (std::string), and finds such a function only without its file.
func (bc *Commands) breakFunction(q *request.Request, location string, i int, then func(protocol.Group)) {
	args := protocol.Args{Location: location, Breakpoint: q.Args.Breakpoint + i}
	sub := &request.Request{Command: &request.Command{Name: "break", Args: args}, ID: q.ID, Began: q.Began}
	sub.Into = func(g protocol.Group) {
		_, name, inFile := strings.Cut(location, ":'")
		if f := request.FaultIn(g); f == nil || !inFile || !strings.Contains(f.Message, " not defined in ") || bc.StateNow().IsOver() {
			then(g)
			return
		}
		bc.breakFunction(q, "'"+name, i, then)
	}
	bc.Insert(sub)
}
