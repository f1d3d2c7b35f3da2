// Requests and their answers.

package debugger

import (
	"strings"

	"sdm/backend/gdb/request"
	"sdm/backend/gdb/values"
	"sdm/protocol"
	"sdm/protocol/canonical"
	"sdm/protocol/column"
	"sdm/protocol/pattern"
	"sdm/protocol/rank"
)

// Reply answers a request with a result. Columns must be sorted by name.
func (m *Machine) Reply(q *request.Request, body any, columns ...column.Column) {
	m.ReplyWith(q, canonical.JSON(body), columns)
}

// ReplyWith is reply with a body that is already JSON.
func (m *Machine) ReplyWith(q *request.Request, body []byte, columns []column.Column) {
	m.Say(q, protocol.Group{Kind: protocol.KindResult, Body: body, Columns: columns})
}

// Done answers with an empty object.
func (m *Machine) Done(q *request.Request) { m.Reply(q, struct{}{}) }

// Fail answers with a fault.
func (m *Machine) Fail(q *request.Request, f *protocol.Fault) {
	g := *f
	if g.Op == "" {
		g.Op = q.Name
	}
	m.Say(q, protocol.Group{Kind: protocol.KindFault, Body: canonical.JSON(&g)})
}

// Refused answers with gdb's error message.
func (m *Machine) Refused(q *request.Request, a request.Answer) {
	m.runs.stoppedInCall(a)
	message := a.Results.Str("msg")
	if q.Args.Condition != "" {
		message = m.breaks.errorText(a)
	}
	if found := unknownNumber.FindStringSubmatch(message); found != nil && len(q.Args.Breakpoints) > 0 {
		m.Fail(q, noBreakpoint(m.points.numberOf(found[1])))
		return
	}
	if q.Args.Frame != nil && strings.HasPrefix(message, "Invalid frame id: ") { // gdb 13 names two
		message = values.NoFrame(*q.Args.Frame)
	}
	m.Fail(q, &protocol.Fault{Kind: protocol.FaultGDB, Message: message})
}

// unknownNumber matches gdb's error for a breakpoint that does not exist, by its own
// number.
var unknownNumber = pattern.New(`^No breakpoint number ([0-9]+)\.$`)

// Say answers a request with a group, unless it was answered before. It passes the group to
// q.Into, or adds it to the messages of the machine.
func (m *Machine) Say(q *request.Request, g protocol.Group) {
	if g.Kind == protocol.KindResult && (!q.Answered || q.Replayed) {
		m.recovery.remember(q)
		m.values.Printer.KeepPrinted(q, g)
	}
	if q.Answered {
		return
	}
	q.Answered = true
	if q.Into != nil {
		q.Into(g)
		return
	}
	for i, open := range m.Open {
		if open == q {
			m.Open = append(m.Open[:i], m.Open[i+1:]...)
			break
		}
	}
	g.Ranks = rank.Of(m.Target.Rank)
	m.Out.Messages = append(m.Out.Messages, Message{q.ID, g})
}

// Event reports an event, unless it is impossible in the present state; then it returns
// false.
func (m *Machine) Event(kind protocol.Kind, body any, columns ...column.Column) bool {
	if !kind.IsInformational() {
		next, ok := m.State.After(kind)
		if !ok {
			return false
		}
		m.State = next
	}
	m.Out.Messages = append(m.Out.Messages, Message{0, protocol.Group{
		Kind: kind, Ranks: rank.Of(m.Target.Rank), Body: canonical.JSON(body), Columns: columns,
	}})
	return true
}
