// Cancellation of calls.

package master

import (
	"sdm/master/session"
	"sdm/protocol"
)

// checkCancel refuses the cancellation of what would remain half done.
func (m *Master) checkCancel(a protocol.Args) *protocol.Fault {
	switch c := m.calls[a.Of]; {
	case a.Of > m.lastID:
		return usage("cancel", "", "there is no request %d", a.Of)
	case c == nil || m.isSent(a.Of) || c.ranks.IsEmpty():
		return nil
	case c.info.Effect == protocol.Shows && !c.info.Resumes && !c.info.Ends:
		return nil
	default:
		return &protocol.Fault{Kind: protocol.FaultState, Op: "cancel", Hint: "await its answer",
			Message: c.info.Name + " is carried out in several steps"}
	}
}

// isSent reports whether a request is with the ranks, and their answers go to the front end as they come.
func (m *Master) isSent(id protocol.RequestID) bool {
	return m.requests.byID[id] != nil && m.collectors[id] == nil
}

// cancel ends the answer to a call. A call that is answered already remains as it is.
func (m *Master) cancel(id protocol.RequestID) {
	c := m.calls[id]
	if c == nil || c.cancelled || m.sampler.cancel(id) {
		return
	}
	if m.isSent(id) {
		m.deliver(m.requests.cancel(m.now(), id))
		return
	}
	done := &session.Done{Asked: c.ranks.Len(), Missing: c.ranks, Cancelled: true, Took: m.now() - c.began}
	if !c.ranks.IsEmpty() {
		g := missingGroup(protocol.KindMissing, c.ranks, protocol.Cancelled, m.routes.hostsOf(c.ranks))
		m.stream.Push(session.Event{Name: g.Kind.String(), ID: id, Command: c.info.Name, Group: g})
	}
	m.stream.Push(session.Event{Name: session.DoneName, ID: id, Command: c.info.Name, Done: done})
	c.cancelled = true
}
