// Package request has the types that the packages debugger and values share: Request, a command of a
// user for one rank, and Answer, the answer of gdb to one of the commands that are sent for it. Values
// are used by one goroutine at a time.
package request

import (
	"strings"
	"time"

	"sdm/backend/gdb/gdbtext"
	"sdm/protocol"
	"sdm/protocol/canonical"
)

// Command is a command of a user, shared by the requests of all ranks; it must not be
// changed.
type Command struct {
	Name string
	Args protocol.Args
	// body is the JSON of printed, the last answer to a print: most ranks give the same
	// answer.
	printed any
	body    []byte
	// printing is the result of Printing, if parsed.
	printing gdbtext.Printing
	parsed   bool
}

// CommandOf makes the command that the requests of all ranks share.
func CommandOf(c *protocol.Command) *Command { return &Command{Name: c.Name, Args: c.Args} }

// Request is one command for one rank. It is answered exactly once; later answers are
// dropped.
type Request struct {
	*Command
	ID       protocol.RequestID
	Deadline time.Duration // when to report that gdb has not answered; 0: never
	Began    time.Duration // on the same clock
	Answered bool          // true from the start for an internal request, which nothing waits for

	Into       func(protocol.Group) // receives the answer; nil: it is sent to the user
	Replayed   bool                 // it was executed before, by another gdb or for another rank
	IsInternal bool                 // it is not of a user
	Head       string               // what precedes the value: type and address of a reference
	Located    string               // its location, if that depends on the selected frame
	Restart    string               // the location after a restart of the program
}

// Internal returns a request that no user has made. name appears in messages.
func Internal(name string) *Request {
	return &Request{Command: &Command{Name: name}, Answered: true, IsInternal: true}
}

// InternalIn returns an internal request about the innermost frame of a thread.
func InternalIn(name string, thread int) *Request {
	q := Internal(name)
	q.Args.Thread, q.Args.Frame = thread, new(int)
	return q
}

// Unshare gives the request its own copy of the command, which may be changed.
func (q *Request) Unshare() {
	q.Command = &Command{Name: q.Name, Args: q.Args}
}

// BodyOf returns the JSON of an answer to print.
func (c *Command) BodyOf(p any) []byte {
	if c.body == nil || c.printed != p {
		c.printed, c.body = p, canonical.JSON(p)
	}
	return c.body
}

// Printing returns the parsed arguments of a print. The expression must not be changed
// afterwards.
func (c *Command) Printing() gdbtext.Printing {
	if !c.parsed {
		c.printing, c.parsed = gdbtext.ParsePrinting(c.Args), true
	}
	return c.printing
}

// What names the request in messages.
func (q *Request) What() string {
	for _, more := range []string{q.Args.Expr, q.Args.Text, q.Args.Location} {
		if more != "" {
			if len(more) > 60 {
				more = more[:60] + "..."
			}
			if q.Name == "gdb" || q.Name == "mi" {
				return more
			}
			return q.Name + " " + more
		}
	}
	return q.Name
}

// EngineTime returns the part of a wait after which the engine answers, so that its message arrives
// before the wait ends.
func EngineTime(wait time.Duration) time.Duration { return wait / 10 * 9 }

// About returns a request for another expression, with the thread and the frame of this one. Answers to
// it are dropped.
func (q *Request) About(expr string) *Request {
	other := &Request{Command: &Command{Name: q.Name, Args: q.Args}, ID: q.ID, Began: q.Began, Answered: true}
	other.Args.Expr = expr
	return other
}

// Compares reports whether the values of a command are only compared, not shown.
func (c *Command) Compares() bool { return c.Args.Compare }

// PrintsMore reports whether gdb's print writes more of a value than GDB/MI, which has returned value: it
// does of a reference, and of a pointer unless values are only compared. GDB/MI returns "" for a pointer
// if addresses are not shown.
func (c *Command) PrintsMore(value string) bool {
	return strings.HasPrefix(value, "@0x") || (value == "" || strings.HasPrefix(value, "0x")) && !c.Compares() &&
		!gdbtext.IsText(value)
}

// Selection is the thread and frame that commands apply to. gdb's own selection is not
// used: every command names both.
type Selection struct{ Thread, Frame int }
