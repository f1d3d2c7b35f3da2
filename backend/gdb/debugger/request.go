// Requests and their answers.

package debugger

import (
	"fmt"
	"regexp"
	"strings"
	"time"

	"sdm/backend/gdb/gdbtext"
	"sdm/protocol"
	"sdm/protocol/canonical"
	"sdm/protocol/column"
	"sdm/protocol/rank"
)

// Command is a command of a user, shared by the requests of all ranks; it must not be
// changed.
type Command struct {
	Name string
	args protocol.Args
	// body is the JSON of printed, the last answer to a print: most ranks give the same
	// answer.
	printed printed
	body    []byte
	// way is the result of printing, if parted.
	way    gdbtext.Printing
	parted bool
}

func CommandOf(c *protocol.Command) *Command { return &Command{Name: c.Name, args: c.Args} }

// Request is one command for one rank. It is answered exactly once; later answers are
// dropped.
type Request struct {
	*Command
	ID       protocol.RequestID
	Deadline time.Duration // when to report that gdb has not answered; 0: never
	began    time.Duration
	answered bool
	into     func(protocol.Group) // receives the answer; nil: it is sent
	again    bool                 // it comes from the journal
	own      bool                 // it is internal
	head     string               // what precedes the value: type and address of a reference
	located  string               // its location, if that depends on the selected frame
	restart  string               // the location after a restart of the program
}

// ours returns an internal request.
func ours(name string) *Request {
	return &Request{Command: &Command{Name: name}, answered: true, own: true}
}

// oursIn returns an internal request about the innermost frame of a thread.
func oursIn(name string, t *thread) *Request {
	q := ours(name)
	q.args.Thread, q.args.Frame = t.id, new(int)
	return q
}

// apart gives the request its own copy of the command, which may be changed.
func (q *Request) apart() {
	q.Command = &Command{Name: q.Name, args: q.args}
}

// bodyOf returns the JSON of an answer to print.
func (c *Command) bodyOf(p printed) []byte {
	if c.body == nil || c.printed != p {
		c.printed, c.body = p, canonical.JSON(p)
	}
	return c.body
}

// printing returns the parsed arguments of a print. The expression must not be changed
// afterwards.
func (c *Command) printing() gdbtext.Printing {
	if !c.parted {
		c.way, c.parted = gdbtext.ParsePrinting(c.args), true
	}
	return c.way
}

// what names the request in messages.
func (q *Request) what() string {
	for _, more := range []string{q.args.Expr, q.args.Text, q.args.Location} {
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

// share is the part of a wait after which the engine answers, so that its message
// arrives in time instead of "no answer".
func share(wait time.Duration) time.Duration { return wait / 10 * 9 }

// Message is one answer or event; they are passed on in order.
type Message struct {
	Request protocol.RequestID // 0: an event
	Group   protocol.Group
}

// reply answers a request with a result. Columns must be sorted by name.
func (m *Machine) reply(q *Request, body any, columns ...column.Column) {
	m.replyWith(q, canonical.JSON(body), columns)
}

// replyWith is reply with a body that is already JSON.
func (m *Machine) replyWith(q *Request, body []byte, columns []column.Column) {
	m.say(q, protocol.Group{Kind: protocol.KindResult, Body: body, Columns: columns})
}

// done answers with an empty object.
func (m *Machine) done(q *Request) { m.reply(q, struct{}{}) }

// fail answers with a fault.
func (m *Machine) fail(q *Request, f *protocol.Fault) {
	g := *f
	if g.Op == "" {
		g.Op = q.Name
	}
	m.say(q, protocol.Group{Kind: protocol.KindFault, Body: canonical.JSON(&g)})
}

// refused answers with gdb's error message.
func (m *Machine) refused(q *Request, a answer) {
	m.stoppedInCall(a)
	message := a.Results.Str("msg")
	if q.args.Condition != "" {
		message = m.words(a)
	}
	if found := unknownNumber.FindStringSubmatch(message); found != nil && len(q.args.Breakpoints) > 0 {
		m.fail(q, noBreakpoint(m.points.ours(found[1])))
		return
	}
	if q.args.Frame != nil && strings.HasPrefix(message, "Invalid frame id: ") { // gdb 13 names two
		message = noFrame(*q.args.Frame)
	}
	m.fail(q, &protocol.Fault{Kind: protocol.FaultGDB, Message: message})
}

// unknownNumber matches gdb's error for a breakpoint that does not exist, by its own
// number.
var unknownNumber = regexp.MustCompile(`^No breakpoint number ([0-9]+)\.$`)

// noFrame is gdb's error for a level that the stack does not have.
func noFrame(level int) string { return fmt.Sprintf("No frame at level %d.", level) }

func (m *Machine) say(q *Request, g protocol.Group) {
	if g.Kind == protocol.KindResult && (!q.answered || q.again) {
		m.remember(q)
		m.keepPrinted(q, g)
	}
	if q.answered {
		return
	}
	q.answered = true
	if q.into != nil {
		q.into(g)
		return
	}
	for i, open := range m.Open {
		if open == q {
			m.Open = append(m.Open[:i], m.Open[i+1:]...)
			break
		}
	}
	g.Ranks = rank.Of(m.Target.Rank)
	m.Out.Said = append(m.Out.Said, Message{q.ID, g})
}

// Event reports an event, unless it is impossible in the present state; then it returns
// false.
func (m *Machine) Event(kind protocol.Kind, body any, columns ...column.Column) bool {
	if !kind.IsRemark() {
		next, ok := m.State.After(kind)
		if !ok {
			return false
		}
		m.State = next
	}
	m.Out.Said = append(m.Out.Said, Message{0, protocol.Group{
		Kind: kind, Ranks: rank.Of(m.Target.Rank), Body: canonical.JSON(body), Columns: columns,
	}})
	return true
}
