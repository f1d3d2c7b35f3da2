// Output that may be lost with a server.

package master

import (
	"encoding/json"

	"sdm/master/session"
	"sdm/protocol"
	"sdm/protocol/canonical"
)

// noteIncomplete notes that the output of ranks that are lost with their server may be incomplete.
// Ranks that had ended or had not started are not concerned.
func (m *Master) noteIncomplete(lost protocol.Group) []session.Event {
	var why protocol.Missing
	if json.Unmarshal(lost.Body, &why) != nil || !why.Incomplete {
		return nil
	}
	ranks := lost.Ranks.Minus(m.states.Ended()).Minus(m.states.In(session.Unstarted))
	if ranks.IsEmpty() {
		return nil
	}
	return []session.Event{session.NewEvent(protocol.Group{
		Kind: protocol.KindNote, Ranks: ranks,
		Body: canonical.JSON(protocol.Note{Text: "output of " + protocol.Ranks(ranks) + " may be incomplete"}),
	})}
}
