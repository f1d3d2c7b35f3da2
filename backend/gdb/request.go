// A command of a person on its way to an answer.

package gdb

import (
	"fmt"
	"regexp"
	"strings"
	"time"

	"sdm/protocol"
	"sdm/protocol/canonical"
	"sdm/protocol/column"
	"sdm/protocol/rank"
)

// command is what a person asks: the requests of all ranks share it, and none
// changes it.
type command struct {
	name string
	args protocol.Args
	// body is that of the last answer to a print, and printed what it says: most
	// ranks answer with the same.
	printed printed
	body    []byte
	// way is what printing gives, once parted is set.
	way    printing
	parted bool
}

// request is one command for one rank. It is answered exactly once; what comes
// later is absorbed.
type request struct {
	*command
	id       protocol.RequestID
	deadline time.Duration // when to say that gdb has not answered; 0 is never
	began    time.Duration
	answered bool
	into     func(protocol.Group) // where the answer goes that is a part of another; nil: to who asked
	again    bool                 // it is played from the journal
	own      bool                 // nobody has asked for it
	head     string               // what stands in front of the value: the type and the address of a reference
	located  string               // its location, where that hangs on the selected frame
	restart  string               // … and where it is when the program starts again
}

// ours is a request that nobody has made.
func ours(name string) *request {
	return &request{command: &command{name: name}, answered: true, own: true}
}

// oursIn is one about the innermost frame of a thread.
func oursIn(name string, t *thread) *request {
	q := ours(name)
	q.args.Thread, q.args.Frame = t.id, new(int)
	return q
}

// apart gives the request a command of its own, which may be changed.
func (q *request) apart() {
	q.command = &command{name: q.name, args: q.args}
}

// bodyOf is the JSON of what is printed.
func (c *command) bodyOf(p printed) []byte {
	if c.body == nil || c.printed != p {
		c.printed, c.body = p, canonical.JSON(p)
	}
	return c.body
}

// printing is what a print asks for. The expression must not be changed afterwards.
func (c *command) printing() printing {
	if !c.parted {
		c.way, c.parted = printingOf(c.args), true
	}
	return c.way
}

// what names the request for people.
func (q *request) what() string {
	for _, more := range []string{q.args.Expr, q.args.Text, q.args.Location} {
		if more != "" {
			if len(more) > 60 {
				more = more[:60] + "..."
			}
			if q.name == "gdb" || q.name == "mi" {
				return more
			}
			return q.name + " " + more
		}
	}
	return q.name
}

// share is the part of a wait after which we speak up ourselves, so that our
// words arrive in time instead of "no answer".
func share(wait time.Duration) time.Duration { return wait / 10 * 9 }

// said is one answer or event, in the order in which it is to be handed on.
type said struct {
	request protocol.RequestID // 0: an event
	group   protocol.Group
}

// reply answers a request with a result. Columns must be sorted by name.
func (m *machine) reply(q *request, body any, columns ...column.Column) {
	m.replyWith(q, canonical.JSON(body), columns)
}

// replyWith is reply with a body that is JSON already.
func (m *machine) replyWith(q *request, body []byte, columns []column.Column) {
	m.say(q, protocol.Group{Kind: protocol.KindResult, Body: body, Columns: columns})
}

// done answers with an empty object.
func (m *machine) done(q *request) { m.reply(q, struct{}{}) }

// fail answers with a fault.
func (m *machine) fail(q *request, f *protocol.Fault) {
	g := *f
	if g.Op == "" {
		g.Op = q.name
	}
	m.say(q, protocol.Group{Kind: protocol.KindFault, Body: canonical.JSON(&g)})
}

// refused answers with gdb's own words.
func (m *machine) refused(q *request, a answer) {
	m.stoppedInCall(a)
	message := a.Results.Str("msg")
	if q.args.Condition != "" {
		message = m.words(a)
	}
	if found := unknownNumber.FindStringSubmatch(message); found != nil && len(q.args.Breakpoints) > 0 { // one that has been deleted
		m.fail(q, noBreakpoint(m.points.ours(found[1])))
		return
	}
	if q.args.Frame != nil && strings.HasPrefix(message, "Invalid frame id: ") { // gdb 13 names another frame, too
		message = noFrame(*q.args.Frame)
	}
	m.fail(q, &protocol.Fault{Kind: protocol.FaultGDB, Message: message})
}

// unknownNumber is what gdb says of a breakpoint that is no more, by its own number.
var unknownNumber = regexp.MustCompile(`^No breakpoint number ([0-9]+)\.$`)

// noFrame is what gdb says of a level that the stack does not have.
func noFrame(level int) string { return fmt.Sprintf("No frame at level %d.", level) }

func (m *machine) say(q *request, g protocol.Group) {
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
	for i, open := range m.open {
		if open == q {
			m.open = append(m.open[:i], m.open[i+1:]...)
			break
		}
	}
	g.Ranks = rank.Of(m.target.Rank)
	m.out.said = append(m.out.said, said{q.id, g})
}

// event tells what happened, unless it cannot have happened.
func (m *machine) event(kind protocol.Kind, body any, columns ...column.Column) bool {
	if !kind.IsRemark() {
		next, ok := m.state.After(kind)
		if !ok {
			return false
		}
		m.state = next
	}
	m.out.said = append(m.out.said, said{0, protocol.Group{
		Kind: kind, Ranks: rank.Of(m.target.Rank), Body: canonical.JSON(body), Columns: columns,
	}})
	return true
}
