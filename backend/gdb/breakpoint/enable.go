// Deleting, enabling and disabling breakpoints or single locations.

package breakpoint

import (
	"fmt"
	"slices"
	"strconv"

	"sdm/backend/gdb/request"
	"sdm/backend/mi"
	"sdm/protocol"
)

// Change executes delete, enable and disable, for those that are named or
// for all.
func (bc *Commands) Change(q *request.Request) {
	numbers, unknown := bc.points.gdbs(q.Args.Breakpoints)
	for _, p := range q.Args.Places {
		if bc.points.Find([]int{p.Breakpoint}) == nil && unknown == nil {
			unknown = noBreakpoint(p.Breakpoint)
		}
	}
	switch {
	case unknown != nil:
		bc.Fail(q, unknown)
	case len(q.Args.Places) > 0:
		bc.findPlaces(q, numbers)
	case len(numbers) > 0:
		bc.changeThese(q, numbers)
	case bc.Shared() || q.Args.Then != "" || bc.StopsAtAbort():
		bc.changeAll(q)
	default:
		bc.Ask(q, bc.thenChanged(q, nil), "-break-"+q.Name)
	}
}

// changeAll changes all breakpoints of this rank.
func (bc *Commands) changeAll(q *request.Request) {
	bc.Ask(q, func(a request.Answer) {
		var numbers []string
		for _, f := range a.Results.Path("BreakpointTable", "body").Fields {
			number := f.Value.Fields.Str("number")
			if n := bc.points.NumberOf(number); n > 0 || n < 0 && !bc.Shared() {
				numbers = append(numbers, number)
			}
		}
		if len(numbers) == 0 {
			bc.Done(q)
			return
		}
		bc.changeThese(q, numbers)
	}, "-break-list")
}

// findPlaces finds gdb's names of locations; in a shared gdb these count the locations
// of all ranks. The only location of a breakpoint is the breakpoint itself.
func (bc *Commands) findPlaces(q *request.Request, numbers []string) {
	bc.Ask(q, func(a request.Answer) {
		if a.Failed() {
			bc.Refused(q, a)
			return
		}
		places := map[int][]string{}
		for _, f := range a.Results.Path("BreakpointTable", "body").Fields {
			number := f.Value.Fields.Str("number")
			t, _ := bc.mine(f.Value.Fields)
			list := []string{number}
			if of := t.Path("locations").Fields; len(of) > 0 {
				list = nil
				for _, l := range of {
					list = append(list, l.Value.Fields.Str("number"))
				}
			}
			places[bc.points.NumberOf(number)] = list
		}
		for _, p := range q.Args.Places {
			list := places[p.Breakpoint]
			if p.Number < 1 || p.Number > len(list) {
				bc.Fail(q, noPlace(p, len(list)))
				return
			}
			numbers = append(numbers, list[p.Number-1])
		}
		bc.changeThese(q, numbers)
	}, "-break-list")
}

func noPlace(p protocol.Site, have int) *protocol.Fault {
	switch have {
	case 0:
		return noBreakpoint(p.Breakpoint)
	case 1:
		return &protocol.Fault{Kind: protocol.FaultGDB, Message: fmt.Sprintf("Breakpoint %d has one place only.", p.Breakpoint)}
	}
	return &protocol.Fault{
		Kind: protocol.FaultGDB, Message: fmt.Sprintf("Breakpoint %d has %d places, not %d.", p.Breakpoint, have, p.Number),
		Hint: "info breakpoints lists them",
	}
}

// changeThese changes breakpoints and locations by gdb's names.
func (bc *Commands) changeThese(q *request.Request, numbers []string) {
	switch q.Args.Then {
	case "":
		bc.Ask(q, bc.thenChanged(q, numbers), "-break-"+q.Name, numbers...)
		return
	case "delete", "disable":
	default:
		bc.Fail(q, &protocol.Fault{Kind: protocol.FaultUsage, Message: strconv.Quote(q.Args.Then) + " cannot become of a breakpoint", Hint: "disable, delete"})
		return
	}
	line := "enable delete"
	if q.Args.Then == "disable" {
		line = fmt.Sprintf("enable count %d", max(q.Args.Count, 1))
	}
	for _, n := range numbers {
		line += " " + n
	}
	bc.Ask(q, bc.thenChanged(q, numbers), "-interpreter-exec", append(bc.Here(), "console", line)...)
}

// thenChanged answers the request, and records which breakpoints exist and what gdb
// does with them at a hit.
func (bc *Commands) thenChanged(q *request.Request, numbers []string) func(request.Answer) {
	then := bc.ThenDone(q)
	return func(a request.Answer) {
		for _, p := range bc.points.List {
			if a.Failed() || q.Name == "disable" || numbers != nil && !slices.Contains(numbers, p.GDB) {
				continue
			}
			switch {
			case q.Name == "delete":
				p.Gone = p.Number > 0
			case q.Args.Then == "disable":
				p.once, p.left = true, max(q.Args.Count, 1)
			case q.Args.Then == "delete":
				p.once, p.left = false, 0
			case p.once:
				p.left = 1
			}
		}
		then(a)
	}
}

// CountDown counts a hit of a breakpoint that gdb disables after a number of hits. It returns the command with which
// a replacement gdb continues the count, or nil.
func (bc *Commands) CountDown(stop mi.Tuple) *protocol.Command {
	p := bc.points.At(stop)
	if p == nil || p.left == 0 || stop.Str("disp") != "dis" {
		return nil
	}
	p.left--
	again := protocol.Command{Name: "enable", Args: protocol.Args{Breakpoints: []int{p.Number}, Then: "disable", Count: p.left}}
	if p.left == 0 {
		again = protocol.Command{Name: "disable", Args: protocol.Args{Breakpoints: []int{p.Number}}}
	}
	return &again
}
