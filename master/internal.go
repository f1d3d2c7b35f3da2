// Requests that the master makes itself.

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

// operation is work of the master in several steps: a step asks ranks, and the next one is executed
// when they have answered. If a step panics, the operation is over: fail reports that, and no later
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

// collector collects answers that the master itself waits for. Front ends do not see them unchanged.
type collector struct {
	of     *operation
	events []session.Event // answers so far
	then   func(answers []session.Event, done session.Done)
}

// ask sends a request of the master itself down the tree. It calls the function then once, as a step
// of the operation, with the lock held, when all ranks have answered, the wait is over or the
// session ends. Without ranks, or without a tree, it calls then at once.
func (m *Master) ask(o *operation, command string, ranks rank.Set, wait time.Duration, args protocol.Args,
	then func([]session.Event, session.Done)) {
	if ranks.IsEmpty() || m.phase != up {
		m.step(o, func() { then(nil, session.Done{Asked: ranks.Len(), Lost: ranks}) })
		return
	}
	m.lastInternal++
	id := protocol.FirstInternal + m.lastInternal
	m.collectors[id] = &collector{of: o, then: then}
	m.send(id, command, ranks, wait, args)
}

// send enters a request into the table and sends it to the root of the tree. The master answers for
// ranks that never had a server, and, if the command can wait, for ranks that have not started.
func (m *Master) send(id protocol.RequestID, command string, ranks rank.Set, wait time.Duration, args protocol.Args) {
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

// reply takes the answers to a request.
func (m *Master) reply(msg wire.Message) {
	events := m.requests.reply(m.now(), msg)
	defer m.deliver(events) // deferred: after a panic too, because the table has these answers
	for _, e := range events {
		switch {
		case e.Done != nil:
			m.reclaimNumber(e)
		case e.Group.Kind == protocol.KindFault:
			m.persistent.refused(e.ID, e.Group.Ranks)
		case e.Group.Kind == protocol.KindResult:
			if after := m.ways[e.Command].after; after != nil {
				after(m, e)
			}
		}
	}
}

// waiting returns those ranks that do not run now and may be started later.
func (m *Master) waiting(ranks rank.Set) rank.Set {
	return ranks.Intersect(m.states.In(session.Unstarted, session.Exited, session.Signalled, session.Detached))
}

// deliver sends answers to front ends, or to the collectors.
func (m *Master) deliver(events []session.Event) {
	if len(m.collectors) == 0 && !slices.ContainsFunc(events, isInner) {
		m.push(events...)
		return
	}
	for _, e := range events {
		x, ok := m.collectors[e.ID]
		switch {
		case !ok && !isInner(e):
			m.push(e)
		case !ok: // late: its collector is gone
		case e.Done != nil:
			delete(m.collectors, e.ID)
			m.step(x.of, func() { x.then(x.events, *e.Done) })
		default:
			x.events = append(x.events, e)
		}
	}
}

func isInner(e session.Event) bool { return e.ID.IsInternal() }

// collect collects all answers to a call before they are forwarded.
func (m *Master) collect(o *operation, id protocol.RequestID, then func([]session.Event, session.Done)) {
	m.collectors[id] = &collector{of: o, then: then}
}

// left returns what remains of a wait after some time; 0 remains 0, without limit. At least a tenth
// of the wait is left, so that a late answer is reported as late.
func left(wait, spent time.Duration) time.Duration {
	if wait == 0 {
		return 0
	}
	return max(wait-spent, wait/10, time.Millisecond)
}
