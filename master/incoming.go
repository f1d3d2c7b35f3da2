// What comes from the tree.

package master

import (
	"context"

	"sdm/master/session"
	"sdm/protocol"
	"sdm/protocol/canonical"
	"sdm/protocol/rank"
	"sdm/protocol/wire"
)

// up receives packets from the root of the tree. It blocks while the stream is full.
func (m *Master) up(ctx context.Context, msg wire.Message) {
	if m.stream.Room(ctx) != nil {
		return // the session has been ended
	}
	m.take(msg)
}

// take processes a packet. If that panics, only this packet is lost, and a note to all front ends
// says so. If it is a reply, ranks that have not answered yet get the fault as their answer.
func (m *Master) take(msg wire.Message) {
	m.mu.Lock()
	defer m.mu.Unlock()
	defer func() {
		why := recover()
		if why == nil {
			return
		}
		f := m.defect("", why)
		m.explain(0, "", rank.Set{}, f.Error()+": what has just come from the ranks may be incomplete")
		if msg.Kind == wire.Reply {
			m.replyFault(msg.ID, f)
		}
	}()
	switch {
	case msg.Kind == wire.Events:
		m.events(msg.Groups)
	case msg.Kind == wire.Reply && m.init != nil && msg.ID == m.init.id:
		m.init.reply(msg)
	case msg.Kind == wire.Reply:
		m.reply(msg)
	}
}

// events forwards events of ranks. Lost servers are not reported once the session ends.
func (m *Master) events(groups []protocol.Group) {
	for _, g := range groups {
		if g.Kind == protocol.KindLost && m.phase >= closing {
			continue
		}
		var incomplete []session.Event
		if g.Kind == protocol.KindLost { // it names the host of the lost child only
			incomplete = m.noteIncomplete(g)
			g = m.aborts.withCause(m.requests.joinMissing([]protocol.Group{g})[0], m.states)
		}
		g, some := m.sampler.filter(g)
		if !some {
			continue
		}
		m.report(g)
		m.push(incomplete...)
	}
}

// replyFault completes Init or a request whose reply could not be processed.
func (m *Master) replyFault(id protocol.RequestID, f *protocol.Fault) {
	if m.init != nil && id == m.init.id {
		if m.init.abort(f) {
			m.phase = max(m.phase, failed)
		}
		return
	}
	if r := m.requests.byID[id]; r != nil {
		m.deliver(m.requests.reply(m.now(), wire.Message{ID: id, Flags: wire.Final, Groups: []protocol.Group{
			{Kind: protocol.KindFault, Ranks: r.owed, Body: canonical.JSON(f)}}}))
	}
}
