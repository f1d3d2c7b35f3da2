// The end of a session.

package master

import (
	"time"

	"sdm/master/session"
	"sdm/protocol"
	"sdm/protocol/wire"
	"sdm/tree"
)

// quitting is a call of quit that has not been answered.
type quitting struct {
	id protocol.RequestID
	at time.Duration
}

// quitCall ends the session for a call; its done is the last event. Links to servers that have not
// ended within the wait are closed.
func (m *Master) quitCall(wait time.Duration) protocol.RequestID {
	id := m.nextID()
	m.quits = append(m.quits, quitting{id, m.now()})
	m.quit()
	if wait = m.waitOf(wait); wait > 0 && m.quitLimit == nil {
		m.quitLimit = time.AfterFunc(wait, m.stop)
	}
	return id
}

// waitOf converts the wait of a call to the wait of a packet, where 0 is no limit.
func (m *Master) waitOf(wait time.Duration) time.Duration {
	switch {
	case wait == 0:
		return m.cfg.Wait
	case wait < 0:
		return 0
	}
	return wait
}

// quit sends the end of the session down the tree, once. The limit of the stream is lifted: there
// may be no reader any more, and the last packets of the servers must still be processed.
func (m *Master) quit() {
	if m.phase >= closing {
		return
	}
	m.stream.Lift()
	if m.phase == fresh {
		m.stop()
	} else {
		m.root.Post(tree.FromParent{Msg: wire.Message{Kind: wire.Quit}})
	}
	m.phase = closing
}

// answerQuits answers the calls of quit.
func (m *Master) answerQuits() {
	n := m.states.All().Len()
	for _, q := range m.quits {
		m.push(session.Event{Name: session.DoneName, ID: q.id, Command: "quit",
			Done: &session.Done{Asked: n, Answered: n, Took: m.now() - q.at}})
	}
	m.quits = nil
}
