// Breakpoints. The front end assigns IDs of its own, the session numbers.

package ptp

import (
	"context"
	"fmt"
	"strconv"

	"sdm/protocol"
	"sdm/protocol/ptp"
	"sdm/protocol/rank"
)

// breaks are the breakpoints of the front end. The zero value has none.
type breaks struct {
	known []breakpoint
}

// breakpoint is one breakpoint of the session on some ranks. An ID of the front end may have
// several: one for each command that sets it on more ranks.
type breakpoint struct {
	id, number int
	ranks      rank.Set
}

func (j *action) remember(b breakpoint) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for i := range j.breaks.known {
		k := &j.breaks.known[i]
		if k.id == b.id && k.number == b.number {
			k.ranks = k.ranks.Union(b.ranks)
			return
		}
	}
	j.breaks.known = append(j.breaks.known, b)
}

// forget removes a breakpoint from some ranks.
func (j *action) forget(b breakpoint) {
	j.mu.Lock()
	defer j.mu.Unlock()
	var left []breakpoint
	for _, k := range j.breaks.known {
		if k.id == b.id && k.number == b.number {
			k.ranks = k.ranks.Minus(b.ranks)
		}
		if !k.ranks.IsEmpty() {
			left = append(left, k)
		}
	}
	j.breaks.known = left
}

// named returns the breakpoints of an ID on ranks of the action.
func (j *action) named(id int) []breakpoint {
	j.mu.Lock()
	defer j.mu.Unlock()
	var found []breakpoint
	for _, k := range j.breaks.known {
		if k.ranks = k.ranks.Intersect(j.ranks); k.id == id && !k.ranks.IsEmpty() {
			found = append(found, k)
		}
	}
	return found
}

// idOf returns the front end's ID of a session's number.
func (j *action) idOf(number int) (int, bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, k := range j.breaks.known {
		if k.number == number {
			return k.id, true
		}
	}
	return 0, false
}

// breakBody is the result of break and watch.
type breakBody struct {
	Breakpoints []protocol.BreakpointInfo `json:"breakpoints"`
}

// setBreak is SET LINE BREAKPOINT and SET FUNC BREAKPOINT.
func setBreak(ctx context.Context, j *action, args arguments) {
	id, ok1 := j.number(args, 0)
	ignore, ok2 := j.number(args, 6)
	thread, ok3 := j.number(args, 7)
	if !ok1 || !ok2 || !ok3 {
		return
	}
	location := args[4]
	if args[3] != "" {
		location = args[3] + ":" + location
	}
	asked := protocol.Args{Location: location, Condition: threadCondition(args[5], thread), Temporary: isTrue(args[1])}
	asked.Hardware = !asked.Temporary && isTrue(args[2])
	var unit rank.Set
	if location == "main" {
		unit = j.withProgramUnit(ctx)
	}
	if !unit.IsEmpty() {
		fortran := asked
		fortran.Location = programUnit
		j.set(ctx, "break", unit, fortran, id, ignore)
	}
	j.set(ctx, "break", j.ranks.Minus(unit), asked, id, ignore)
}

// programUnit is how gfortran and Intel's compilers call the program unit, which a main that they make
// calls: Eclipse asks for main.
const programUnit = "MAIN__"

// withProgramUnit returns the ranks whose program is one of Fortran.
func (j *action) withProgramUnit(ctx context.Context) rank.Set {
	return protocol.RanksOf(j.ask(ctx, "whatis", j.ranks, protocol.Args{Expr: programUnit}), protocol.KindResult)
}

// threadCondition limits a condition to a thread, if one is given.
func threadCondition(condition string, thread int) string {
	switch {
	case thread <= 0:
		return condition
	case condition == "":
		return fmt.Sprintf("$_thread == %d", thread)
	}
	return fmt.Sprintf("$_thread == %d && (%s)", thread, condition)
}

func setWatch(ctx context.Context, j *action, args arguments) {
	id, ok1 := j.number(args, 0)
	ignore, ok2 := j.number(args, 5)
	if !ok1 || !ok2 {
		return
	}
	asked := protocol.Args{Expr: args[1], Condition: args[4]}
	switch {
	case isTrue(args[2]):
		asked.Access = "access"
	case isTrue(args[3]):
		asked.Access = "read"
	}
	j.set(ctx, "watch", j.ranks, asked, id, ignore)
}

// set sets a breakpoint and reports it; for a temporary one the answer is OK only.
func (j *action) set(ctx context.Context, command string, ranks rank.Set, asked protocol.Args, id, ignore int) {
	for _, g := range j.results(ctx, command, ranks, asked, ptp.NoFile) {
		var body breakBody
		if !j.decodeBody(g, &body) {
			continue
		}
		for _, b := range body.Breakpoints {
			j.remember(breakpoint{id, b.Number, g.Ranks})
			if ignore > 0 {
				j.results(ctx, "ignore", g.Ranks, protocol.Args{Breakpoints: []int{b.Number}, Count: ignore}, ptp.Unknown)
			}
			if asked.Temporary {
				j.say(ptp.EventOK, g.Ranks)
				continue
			}
			const special, deleted, addr, hits = "0", "0", "", "0"
			j.say(ptp.EventBreak, g.Ranks, strconv.Itoa(id), strconv.Itoa(b.Number), strconv.Itoa(ignore), special, deleted,
				b.Type, ptp.Latin1(b.File), ptp.Latin1(b.Func), addr, strconv.Itoa(b.Line), hits)
		}
	}
}

// changeBreak makes the handler of a command about an existing breakpoint.
func changeBreak(command string) func(context.Context, *action, arguments) {
	return func(ctx context.Context, j *action, args arguments) {
		id, ok := j.number(args, 0)
		if !ok {
			return
		}
		asked := protocol.Args{}
		switch command {
		case "condition":
			asked.Condition = args[1]
		case "ignore":
			if asked.Count, ok = j.number(args, 1); !ok {
				return
			}
		}
		rest := j.ranks
		for _, b := range j.named(id) {
			rest = rest.Minus(b.ranks)
			asked.Breakpoints = []int{b.number}
			for _, g := range j.results(ctx, command, b.ranks, asked, ptp.NoBreakpoint) {
				if command == "delete" {
					j.forget(breakpoint{b.id, b.number, g.Ranks})
				}
				j.say(ptp.EventOK, g.Ranks)
			}
		}
		j.error(rest, ptp.NoBreakpoint, fmt.Sprintf("%s: there is no breakpoint %d", j.what, id))
	}
}
