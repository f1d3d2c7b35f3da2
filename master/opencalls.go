// Calls that are not answered yet.

package master

import (
	"time"

	"sdm/master/session"
	"sdm/protocol"
	"sdm/protocol/rank"
)

// openCall is a call whose done has not been sent.
type openCall struct {
	info      protocol.CommandInfo
	ranks     rank.Set // that it asks, once they are known
	began     time.Duration
	cancelled bool // it is answered; what is still done for it has no answer
}

// push gives events to front ends, except further answers to a call that was cancelled.
func (m *Master) push(events ...session.Event) {
	for _, e := range events {
		c := m.calls[e.ID]
		if e.Done != nil {
			delete(m.calls, e.ID)
		}
		if c == nil || !c.cancelled {
			m.stream.Push(e)
		}
	}
}

// withdrawn reports whether a call was cancelled before its ranks were known: then it is not executed.
func (m *Master) withdrawn(id protocol.RequestID) bool {
	c := m.calls[id]
	if c == nil || !c.cancelled {
		return false
	}
	delete(m.calls, id)
	return true
}
