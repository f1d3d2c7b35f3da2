// What front ends are told, and by which clock and numbers.

package master

import (
	"encoding/json"
	"runtime/debug"
	"time"

	"sdm/master/session"
	"sdm/protocol"
	"sdm/protocol/canonical"
	"sdm/protocol/rank"
)

// now returns the time since the session began, the clock of the request table.
func (m *Master) now() time.Duration { return time.Since(m.started) }

func (m *Master) nextID() protocol.RequestID {
	m.lastID++
	return m.lastID
}

// report enters an event into the table and sends it to front ends.
func (m *Master) report(g protocol.Group) {
	e := session.NewEvent(g)
	m.states.Feed(e)
	m.aborts.observe(g)
	if j, news := m.job.after(g.Kind, m.states); news { // before the last end, after which users may quit
		m.push(session.NewEvent(protocol.Group{Kind: protocol.KindJob, Ranks: m.states.All(),
			Body: canonical.JSON(j)}))
	}
	m.push(e)
	if g.Kind == protocol.KindStopped && len(m.persistent.list) > 0 || g.Kind == protocol.KindLogged &&
		m.persistent.countsDown() {
		var stop protocol.Stop // or protocol.Logged, which has the same field
		switch err := json.Unmarshal(g.Body, &stop); {
		case err == nil && (stop.Temporary || stop.Reason == protocol.WatchpointScope):
			m.persistent.forget(stop.Breakpoint, g.Ranks)
		case err == nil:
			m.persistent.reached(stop.Breakpoint, g.Ranks)
		}
	}
	if g.Kind == protocol.KindStarted {
		m.push(m.programs.warn(g)...)
	}
}

// answer answers a command from the master's own tables, at once.
func (m *Master) answer(id protocol.RequestID, command string, groups ...protocol.Group) {
	began := m.now()
	var asked rank.Set
	for _, g := range groups {
		asked = asked.Union(g.Ranks)
		m.push(session.Event{Name: g.Kind.String(), ID: id, Command: command, Group: g})
	}
	m.push(session.Event{Name: session.DoneName, ID: id, Command: command,
		Done: &session.Done{Asked: asked.Len(), Answered: asked.Len(), Took: m.now() - began}})
}

// explain sends a note to the user as an answer to a call.
func (m *Master) explain(id protocol.RequestID, command string, ranks rank.Set, text string) {
	g := protocol.Group{Kind: protocol.KindNote, Ranks: ranks, Body: canonical.JSON(protocol.Note{Text: text})}
	m.push(session.Event{Name: g.Kind.String(), ID: id, Command: command, Group: g})
}

// refuse ends a call with a fault of its ranks, if they are known, after it has been given its
// number.
func (m *Master) refuse(id protocol.RequestID, command string, ranks rank.Set, began time.Duration, f *protocol.Fault) {
	g := protocol.Group{Kind: protocol.KindFault, Ranks: ranks, Body: canonical.JSON(f)}
	n := ranks.Len()
	m.push(session.Event{Name: g.Kind.String(), ID: id, Command: command, Group: g},
		session.Event{Name: session.DoneName, ID: id, Command: command,
			Done: &session.Done{Asked: n, Answered: n, Faults: n, Took: m.now() - began}})
}

// defect logs a recovered panic and returns the fault to answer with.
func (m *Master) defect(op string, why any) *protocol.Fault {
	f := protocol.Defect(op, why)
	m.cfg.Log.Error(f.Message+": "+protocol.Report, "command", op, "stack", string(debug.Stack()))
	return f
}
