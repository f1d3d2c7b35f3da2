// A rank whose machine has panicked.

package debugger

import (
	"time"

	"sdm/backend/gdb/request"
	"sdm/protocol"
)

// Successor returns a new machine for the target, with the reported state and the open requests of this
// one, which are valid after a panic.
func (m *Machine) Successor() *Machine {
	h := NewMachine(m.Target, m.Host)
	h.values.Frames.OmitAdviceOf(&m.values.Frames)
	h.succeeds(m.core)
	for _, q := range m.Open {
		if !q.Answered {
			h.Open = append(h.Open, &request.Request{Command: q.Command, ID: q.ID, Began: q.Began})
		}
	}
	return h
}

// GiveUp answers all requests and reports the rank as lost.
func (m *Machine) GiveUp(now time.Duration, why *protocol.Fault) {
	m.now = now
	for len(m.Open) > 0 {
		m.Fail(m.Open[0], why)
	}
	m.Event(protocol.KindLost, protocol.Missing{Cause: why.Error()})
}
