package master

import (
	"cmp"
	"slices"
	"time"

	"sdm/master/session"
	"sdm/protocol"
	"sdm/protocol/canonical"
	"sdm/protocol/rank"
	"sdm/protocol/wire"
	"sdm/tree"
)

// operation is what the master does by itself in several steps: it asks ranks, and continues when
// they have answered. If a step panics, the operation is over: fail answers for it, and no later
// step is executed.
type operation struct {
	command string
	fail    func(*protocol.Fault)
	over    bool
}

// callOperation is the operation of a call, whose ranks get the fault.
func (m *Master) callOperation(id protocol.RequestID, command string, ranks rank.Set, began time.Duration) *operation {
	return &operation{command: command, fail: func(f *protocol.Fault) { m.refuse(id, command, ranks, began, f) }}
}

// step executes a step of an operation.
func (m *Master) step(o *operation, do func()) {
	if o.over {
		return
	}
	defer func() {
		if why := recover(); why != nil {
			o.over = true
			o.fail(m.defect(o.command, why))
		}
	}()
	do()
}

// inner collects answers that the master itself waits for. Front ends do not see them unchanged.
type inner struct {
	of     *operation
	events []session.Event // answers so far
	then   func(answers []session.Event, done session.Done)
}

// ask sends a request of the master itself down the tree. It calls then once, as a step of the
// operation, with the lock held, when all ranks have answered or the wait is over; at the latest
// when the session ends. Without ranks, or without a tree, it calls then at once.
func (m *Master) ask(o *operation, command string, ranks rank.Set, wait time.Duration, args protocol.Args, then func([]session.Event, session.Done)) {
	if ranks.IsEmpty() || m.phase != up {
		m.step(o, func() { then(nil, session.Done{Asked: ranks.Len(), Lost: ranks}) })
		return
	}
	m.lastInner++
	id := protocol.FirstInner + m.lastInner
	m.inner[id] = &inner{of: o, then: then}
	m.pass(id, command, ranks, wait, args)
}

// pass enters a request into the table and sends it to the root of the tree. It answers itself for
// ranks that never had a server, and for ranks that have not started, if the command can wait for
// them.
func (m *Master) pass(id protocol.RequestID, command string, ranks rank.Set, wait time.Duration, args protocol.Args) {
	m.requests.open(m.now(), id, command, ranks)
	if never := m.never.of(ranks); len(never) > 0 {
		m.reply(wire.Message{ID: id, Groups: never})
		if ranks = ranks.Minus(m.never.ranks()); ranks.IsEmpty() {
			return
		}
	}
	info, _ := protocol.LookupCommand(command)
	if waiting := m.waiting(ranks); info.CanWait(args) && !waiting.IsEmpty() {
		m.reply(wire.Message{ID: id, Groups: m.persistent.answers(command, args, waiting)})
		if ranks = ranks.Minus(waiting); ranks.IsEmpty() {
			return
		}
	}
	m.root.Post(tree.FromParent{Msg: wire.Message{
		Kind: wire.Command, ID: id, Ranks: ranks, Wait: wait,
		Body: canonical.JSON(protocol.Command{Name: cmp.Or(info.As, command), Args: args}),
	}})
}

// waiting returns those ranks that do not run now and may be started later.
func (m *Master) waiting(ranks rank.Set) rank.Set {
	return ranks.Intersect(m.states.In(session.Unstarted, session.Exited, session.Signalled, session.Detached))
}

// deliver sends answers to front ends, or to the collectors in inner.
func (m *Master) deliver(events []session.Event) {
	if len(m.inner) == 0 && !slices.ContainsFunc(events, isInner) {
		m.stream.Push(events...)
		return
	}
	for _, e := range events {
		x, ok := m.inner[e.ID]
		switch {
		case !ok && !isInner(e):
			m.stream.Push(e)
		case !ok: // late: its collector is gone
		case e.Done != nil:
			delete(m.inner, e.ID)
			m.step(x.of, func() { x.then(x.events, *e.Done) })
		default:
			x.events = append(x.events, e)
		}
	}
}

func isInner(e session.Event) bool { return e.ID.IsInner() }

// collect collects all answers to a call before they are forwarded.
func (m *Master) collect(o *operation, id protocol.RequestID, then func([]session.Event, session.Done)) {
	m.inner[id] = &inner{of: o, then: then}
}

// left returns what remains of a wait after some time; 0 remains 0, without limit. At least a tenth
// of the wait is left, so that a late answer is reported as late.
func left(wait, spent time.Duration) time.Duration {
	if wait == 0 {
		return 0
	}
	return max(wait-spent, wait/10, time.Millisecond)
}

// explain sends a note to the user as an answer to a call.
func (m *Master) explain(id protocol.RequestID, command string, ranks rank.Set, text string) {
	g := protocol.Group{Kind: protocol.KindNote, Ranks: ranks, Body: canonical.JSON(protocol.Note{Text: text})}
	m.stream.Push(session.Event{Name: g.Kind.String(), ID: id, Command: command, Group: g})
}

// refuse ends a call with a fault of its ranks, if they are known, after it has been given its
// number.
func (m *Master) refuse(id protocol.RequestID, command string, ranks rank.Set, began time.Duration, f *protocol.Fault) {
	g := protocol.Group{Kind: protocol.KindFault, Ranks: ranks, Body: canonical.JSON(f)}
	n := ranks.Len()
	m.stream.Push(session.Event{Name: g.Kind.String(), ID: id, Command: command, Group: g},
		session.Event{Name: session.DoneName, ID: id, Command: command, Done: &session.Done{Asked: n, Answered: n, Faults: n, Took: m.now() - began}})
}
