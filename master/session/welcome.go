// What a front end is told when it joins a session of several.

package session

import (
	"sdm/protocol"
	"sdm/protocol/rank"
)

// Welcome is what a front end is told when it joins a session that several share.
type Welcome struct {
	// Session is the short name of the session; "" if it has none.
	Session string `json:"session,omitempty"`
	// Front is the front end itself, with its number; Others are those that are there already.
	Front  protocol.FrontEnd   `json:"front"`
	Others []protocol.FrontEnd `json:"others,omitempty"`
	// Snapshot is the number of events that tell the states of the ranks. They come first, after the gap if there
	// is one. The events after them are those behind Cursor.
	Snapshot int    `json:"snapshot"`
	Cursor   uint64 `json:"cursor"`
	// Start is the launch or attach that the session waits for: the front end gives it next. nil: it was given.
	Start *Call `json:"start,omitempty"`
	// AtEnd is what happens to ranks that live when the session ends: "killed", "detached", or "".
	AtEnd string `json:"at_end,omitempty"`
}

// Shared is a session that several front ends share, as one of them has it.
type Shared interface {
	Session
	// Welcome returns what the front end was told when it joined.
	Welcome() Welcome
	// Leave parts from the session, which goes on. cursor is the Cursor of the last event that was shown to the
	// user; what came after it counts as not seen.
	Leave(cursor uint64)
}

// Summary is what a session that several share tells of itself to who does not join it.
type Summary struct {
	// States are the ranks in each state, the lowest rank first.
	States []StateRanks `json:"states,omitempty"`
	// Fronts are the front ends that are there, in the order in which they came.
	Fronts []protocol.FrontEnd `json:"fronts,omitempty"`
}

// StateRanks is the ranks that are in a state.
type StateRanks struct {
	State State    `json:"state"`
	Ranks rank.Set `json:"ranks"`
}
