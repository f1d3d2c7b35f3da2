// Package request is what passes between a rank and those who execute its commands: a command of a
// user for the rank, and gdb's answers to what is sent for it. Values are used by one goroutine at a
// time.
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
	// way is the result of printing, if parsed.
	way    gdbtext.Printing
	parsed bool
}

// CommandOf makes the command that the requests of all ranks share.
func CommandOf(c *protocol.Command) *Command { return &Command{Name: c.Name, Args: c.Args} }

// Request is one command for one rank. It is answered exactly once; later answers are
// dropped.
type Request struct {
	*Command
	ID       protocol.RequestID
	Deadline time.Duration // when to report that gdb has not answered; 0: never
	Began    time.Duration
	Answered bool
	Into     func(protocol.Group) // receives the answer; nil: it is sent
	Again    bool                 // it comes from the journal
	Own      bool                 // it is internal
	Head     string               // what precedes the value: type and address of a reference
	Located  string               // its location, if that depends on the selected frame
	Restart  string               // the location after a restart of the program
}

// ours returns an internal request.
func Internal(name string) *Request {
	return &Request{Command: &Command{Name: name}, Answered: true, Own: true}
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
		c.way, c.parsed = gdbtext.ParsePrinting(c.Args), true
	}
	return c.way
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

// Share is the part of a wait after which the engine answers, so that its message
// arrives in time instead of "no answer".
func Share(wait time.Duration) time.Duration { return wait / 10 * 9 }

// About returns a request for another expression, with the thread and the frame of this one. It is not
// answered.
func (q *Request) About(expr string) *Request {
	other := &Request{Command: &Command{Name: q.Name, Args: q.Args}, ID: q.ID, Began: q.Began, Answered: true}
	other.Args.Expr = expr
	return other
}

// Compares reports whether the values of a request are compared and not shown for themselves.
func (c *Command) Compares() bool { return c.Args.Compare }

// Typed reports whether gdb's print writes more of a value than GDB/MI does: of a reference, and of a pointer unless
// this is a comparison; of a pointer GDB/MI writes nothing where addresses are not shown.
func (c *Command) Typed(value string) bool {
	return strings.HasPrefix(value, "@0x") || (value == "" || strings.HasPrefix(value, "0x")) && !c.Compares() && !gdbtext.IsText(value)
}

// Selection is the thread and frame that commands apply to. gdb's own selection is not
// used: every command names both.
type Selection struct{ Thread, Frame int }
