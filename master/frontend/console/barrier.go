// Stops at barriers, which are shown together.

package console

import (
	"encoding/json"

	"sdm/protocol"
)

// barriers are those that not all ranks have reached.
type barriers []*barrierStops

// barrierStops collects the stops at a barrier until all ranks have arrived, to show them together.
type barrierStops struct {
	call       *call
	foldBuffer foldBuffer
}

// add collects a stop at a barrier; false for any other event.
func (l barriers) add(g protocol.Group) bool {
	var s protocol.Stop
	if len(l) == 0 || g.Kind != protocol.KindStopped || json.Unmarshal(g.Body, &s) != nil || s.Reason != "barrier" {
		return false
	}
	for _, b := range l {
		if g.Ranks.Minus(b.call.ran).IsEmpty() {
			b.foldBuffer.add(g)
			return true
		}
	}
	return false
}

// complete removes and returns the barriers that no further rank will reach.
func (l *barriers) complete() []*barrierStops {
	var kept, complete barriers
	for _, b := range *l {
		if !b.call.done || !b.call.moving().IsEmpty() {
			kept = append(kept, b)
		} else {
			complete = append(complete, b)
		}
	}
	*l = kept
	return complete
}

// openBarriers writes the stops at complete barriers.
func (c *console) openBarriers() {
	for _, b := range c.barriers.complete() {
		for _, g := range b.foldBuffer.take() {
			c.foldBuffer.add(g)
		}
		c.writeHeld()
	}
}
