// Requests and their answers.

package debugger

import (
	"strings"

	"sdm/backend/gdb/request"
	"sdm/backend/gdb/values"
	"sdm/protocol"
	"sdm/protocol/canonical"
	"sdm/protocol/column"
	"sdm/protocol/rank"
)

// Reply answers a request with a result. Columns must be sorted by name.
func (c *core) Reply(q *request.Request, body any, columns ...column.Column) {
	c.ReplyWith(q, canonical.JSON(body), columns)
}

// ReplyWith is reply with a body that is already JSON.
func (c *core) ReplyWith(q *request.Request, body []byte, columns []column.Column) {
	c.Say(q, protocol.Group{Kind: protocol.KindResult, Body: body, Columns: columns})
}

// Done answers with an empty object.
func (c *core) Done(q *request.Request) { c.Reply(q, struct{}{}) }

// Fail answers with a fault.
func (c *core) Fail(q *request.Request, f *protocol.Fault) {
	g := *f
	if g.Op == "" {
		g.Op = q.Name
	}
	c.Say(q, protocol.Group{Kind: protocol.KindFault, Body: canonical.JSON(&g)})
}

// Refused answers with gdb's error message.
func (c *core) Refused(q *request.Request, a request.Answer) {
	c.refusing(a)
	message := c.breaks.Explain(q, a)
	if q.Args.Frame != nil && strings.HasPrefix(message, "Invalid frame id: ") { // gdb 13 names two
		message = values.NoFrame(*q.Args.Frame)
	}
	c.Fail(q, &protocol.Fault{Kind: protocol.FaultGDB, Message: message})
}

// Say answers a request with a group, unless it was answered before. It passes the group to
// q.Into, or adds it to the messages of the machine.
func (c *core) Say(q *request.Request, g protocol.Group) {
	if g.Kind == protocol.KindResult && (!q.Answered || q.Replayed) {
		c.journal.remember(q)
		c.values.Printer.KeepPrinted(q, g)
	}
	if q.Answered {
		return
	}
	q.Answered = true
	if q.Into != nil {
		q.Into(g)
		return
	}
	for i, open := range c.Open {
		if open == q {
			c.Open = append(c.Open[:i], c.Open[i+1:]...)
			break
		}
	}
	g.Ranks = rank.Of(c.Target.Rank)
	c.Out.Messages = append(c.Out.Messages, Message{q.ID, g})
}

// ThenDone returns a callback that answers with an empty object, or with gdb's error.
func (c *core) ThenDone(q *request.Request) func(request.Answer) {
	return func(a request.Answer) {
		if a.Failed() {
			c.Refused(q, a)
			return
		}
		c.Done(q)
	}
}
