// A rank whose machine has panicked.

package gdb

import (
	"time"

	"sdm/protocol"
)

// heir returns a machine with what a panic cannot have damaged: the target, the
// reported state, and the open requests.
func (m *machine) heir() *machine {
	h := newMachine(m.target, m.host)
	h.advised = m.advised
	h.state, h.child = m.state, m.child
	for _, q := range m.open {
		if !q.answered {
			h.open = append(h.open, &request{command: q.command, id: q.id, began: q.began})
		}
	}
	return h
}

// givenUp answers all requests and reports the rank as lost.
func (m *machine) givenUp(now time.Duration, why *protocol.Fault) {
	m.now = now
	for len(m.open) > 0 {
		m.fail(m.open[0], why)
	}
	m.event(protocol.KindLost, protocol.Missing{Cause: why.Error()})
}
