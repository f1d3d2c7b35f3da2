// Package breakpoint has the breakpoints, watchpoints and catchpoints of one rank: the commands that set, change and
// list them, their numbers, and what is done where one is hit. It knows the rank by the interface Rank, and no other
// part of the debugger. Values are used by the goroutine of their rank.
package breakpoint

import (
	"sdm/backend"
	"sdm/backend/gdb/request"
	"sdm/backend/gdb/values"
	"sdm/protocol/pattern"
)

// Rank is what breakpoints need of a rank and its gdb.
type Rank interface {
	values.Asker
	values.Answerer

	// Process returns what is debugged; IsChild reports whether it is a child of the original process.
	Process() backend.Target
	IsChild() bool
	// StateNow returns the state that a new command finds. StandsInCall reports whether a function that an expression
	// has called has stopped.
	StateNow() backend.State
	StandsInCall() bool
	Threads() values.Threads
	// Inferior returns gdb's number of the inferior.
	Inferior() int
	// Here returns arguments that name the rank to gdb, Selecting those that also name its selected frame.
	Here() []string
	Selecting(*request.Request) []string

	// Shared reports whether gdb has, or has had, other ranks; IsOld that it does not know mi4; StopsAtAbort that it
	// has a breakpoint at MPI_Abort.
	Shared() bool
	IsOld() bool
	StopsAtAbort() bool
	// ConditionErrors are gdb's errors about conditions.
	ConditionErrors() *ConditionErrors
	// NeedsOwnGDB has a request executed by a gdb with this rank alone, NeedsAllStop by one in all-stop mode. why is
	// for messages.
	NeedsOwnGDB(q *request.Request, why string)
	NeedsAllStop(q *request.Request, why string)
	// WatchedBefore returns Point.Watched of a watchpoint in the gdb from which the rank is handed over.
	WatchedBefore(number int) request.Selection
}

// Commands executes the commands about the breakpoints of a rank, and what is to be done where one is hit.
type Commands struct {
	Rank
	points  *Table
	values  *values.Values
	resume  func(*request.Request) // resumes the rank after a barrier has been set
	fitting []string               // functions of this program that matched the last rbreak
	refusal string                 // reason why the last breakpoint could not be set
}

// New returns the commands of a rank with a table of breakpoints. resume resumes the rank for a request.
func New(r Rank, points *Table, v *values.Values, resume func(*request.Request)) *Commands {
	return &Commands{Rank: r, points: points, values: v, resume: resume}
}

// Explain returns gdb's error for a request as if gdb had this rank alone.
func (bc *Commands) Explain(q *request.Request, a request.Answer) string {
	message := a.Results.Str("msg")
	if q.Args.Condition != "" {
		message = bc.errorText(a)
	}
	if found := unknownNumber.FindStringSubmatch(message); found != nil && len(q.Args.Breakpoints) > 0 {
		return noBreakpoint(bc.points.NumberOf(found[1])).Message
	}
	return message
}

// unknownNumber matches gdb's error for a breakpoint that does not exist, by its own
// number.
var unknownNumber = pattern.New(`^No breakpoint number ([0-9]+)\.$`)

// ToldBefore reports whether a message of gdb is that a location is unknown, and the user of a pending breakpoint
// knows that.
func (bc *Commands) ToldBefore(q *request.Request, line string) bool {
	return q.Args.Pending && IsUnknownPlace(line) && (q.Replayed || line == bc.refusal)
}
