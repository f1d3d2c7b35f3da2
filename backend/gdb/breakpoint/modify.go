// Commands that change breakpoints.

package breakpoint

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"sdm/backend/gdb/gdbtext"
	"sdm/backend/gdb/request"
	"sdm/backend/gdb/values"
	"sdm/protocol"
)

// numbered ensures that a new breakpoint has a number that is not in use.
func (bc *Commands) numbered(q *request.Request) bool {
	if q.Args.Breakpoint == 0 {
		q.Unshare()
		q.Args.Breakpoint = bc.points.free()
	}
	if used, _ := bc.points.gdbs([]int{q.Args.Breakpoint}); used != nil {
		bc.Fail(q, &protocol.Fault{Kind: protocol.FaultUsage, Message: fmt.Sprintf("there is a breakpoint %d already", q.Args.Breakpoint)})
		return false
	}
	return true
}

// single returns gdb's number of the one breakpoint that a command is about.
func (bc *Commands) single(q *request.Request) (gdb string, ok bool) {
	if len(q.Args.Breakpoints) != 1 {
		bc.Fail(q, &protocol.Fault{Kind: protocol.FaultUsage, Message: q.Name + " is about one breakpoint", Hint: "info breakpoints lists them"})
		return "", false
	}
	numbers, unknown := bc.points.gdbs(q.Args.Breakpoints)
	if unknown != nil {
		bc.Fail(q, unknown)
		return "", false
	}
	return numbers[0], true
}

// SetCondition executes condition.
func (bc *Commands) SetCondition(q *request.Request) {
	number, ok := bc.single(q)
	if !ok {
		return
	}
	if p := bc.points.Find(q.Args.Breakpoints); p != nil && p.asserted != "" {
		bc.Fail(q, &protocol.Fault{Kind: protocol.FaultUsage, Message: fmt.Sprintf("%d is an assertion, whose condition is what it asserts", p.Number), Hint: "delete it, and make another"})
		return
	}
	bc.setOnly(q, number, bc.only(q.Args.Condition))
}

func (bc *Commands) setOnly(q *request.Request, number, only string) {
	command, args := bc.Condition(q, number, only)
	bc.Ask(q, func(a request.Answer) {
		why := bc.ConditionErrors().takeInvalid(number)
		switch {
		case bc.withoutChoice(q, a, q.Args.Condition, only, func(only string) { bc.setOnly(q, number, only) }):
		case a.Failed():
			bc.Refused(q, a)
		case q.Args.Condition == "":
			bc.Reply(q, values.TextBody{Text: fmt.Sprintf("Breakpoint %d now unconditional.", q.Args.Breakpoints[0])})
		case why != nil:
			bc.invalidIn(q, number, why)
		default:
			bc.Done(q)
		}
	}, command, args...)
}

// Condition returns the command that sets the condition of a breakpoint of gdb; ""
// removes it. It names the rank: gdb 13 looks up variables in the block of each
// location, but only in the program of the selected rank, and disables locations where
// it finds none. -break-condition of gdb 10 takes the quotes around a condition with
// spaces as part of it: a string, which is always true.
func (bc *Commands) Condition(q *request.Request, number, condition string) (command string, args []string) {
	switch {
	case bc.IsOld():
		return "-interpreter-exec", append(bc.Selecting(q), "console", strings.TrimSpace("condition "+number+" "+condition))
	case condition == "":
		return "-break-condition", []string{number}
	}
	return "-break-condition", append(bc.Selecting(q), number, condition)
}

// Ignore sets the ignore count in gdb. It applies to this rank alone, whose breakpoints
// are its own.
func (bc *Commands) Ignore(q *request.Request) {
	number, ok := bc.single(q)
	if !ok {
		return
	}
	bc.Ask(q, func(a request.Answer) {
		if a.Failed() {
			bc.Refused(q, a)
			return
		}
		bc.Reply(q, values.TextBody{Text: Ignoring(q.Args.Breakpoints[0], q.Args.Count)})
	}, "-break-after", number, strconv.Itoa(max(q.Args.Count, 0)))
}

func Ignoring(number, count int) string {
	switch {
	case count <= 0:
		return fmt.Sprintf("Will stop next time breakpoint %d is reached.", number)
	case count == 1:
		return fmt.Sprintf("Will ignore next crossing of breakpoint %d.", number)
	}
	return fmt.Sprintf("Will ignore next %d crossings of breakpoint %d.", count, number)
}

// maxCommands bounds the commands of a breakpoint.
const maxCommands = 100

// SetCommands executes commands. They are kept here, not in gdb, whose output would not
// tell the rank.
func (bc *Commands) SetCommands(q *request.Request) {
	var points []*Point
	for _, n := range q.Args.Breakpoints {
		p := bc.points.Find([]int{n})
		if p == nil {
			bc.Fail(q, noBreakpoint(n))
			return
		}
		points = append(points, p)
	}
	switch {
	case points == nil:
		bc.Fail(q, &protocol.Fault{Kind: protocol.FaultUsage, Message: "commands are those of some breakpoint", Hint: "info breakpoints lists them"})
		return
	case len(q.Args.Lines) > maxCommands:
		bc.Fail(q, &protocol.Fault{Kind: protocol.FaultUsage, Message: fmt.Sprintf("more than %d commands for one breakpoint", maxCommands)})
		return
	}
	var lines []string
	for _, line := range q.Args.Lines {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		lines = append(lines, line)
	}
	for _, line := range lines[:protocol.FrontEndLine(lines)] {
		if f := refusedCommand(line); f != nil {
			bc.Fail(q, f)
			return
		}
	}
	if i := slices.IndexFunc(lines, isContinue); i >= 0 && i != len(lines)-1 {
		bc.Fail(q, &protocol.Fault{Kind: protocol.FaultUsage, Message: "continue is the last command of a breakpoint", Hint: "nothing can be asked of a rank that runs"})
		return
	}
	for _, p := range points {
		p.Lines = lines
	}
	bc.Done(q)
}

// refusedCommand returns the fault for a line that cannot be executed at a breakpoint,
// or nil.
func refusedCommand(line string) *protocol.Fault {
	word, _, _ := strings.Cut(line, " ")
	why, refused := gdbtext.RefusedLine(line)
	switch {
	case isContinue(line):
		return nil
	case gdbtext.Resumes(word) || gdbtext.CommandFor(word) != "":
		why, refused = "continue, as the last command, continues the rank", true
	}
	if !refused {
		return nil
	}
	return &protocol.Fault{Kind: protocol.FaultUsage, Message: word + " cannot be executed at a breakpoint", Hint: why}
}
