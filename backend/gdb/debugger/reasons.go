// Stops for several reasons at once: triggered watchpoints, and a breakpoint.

package debugger

import (
	"slices"

	"sdm/backend/mi"
)

// reached returns the breakpoints and watchpoints of this rank that a stop is about.
func (b *breakpoints) reached(stop mi.Tuple) (all []*point) {
	for _, one := range append([]mi.Tuple{stop}, otherTriggers(stop)...) {
		if p := b.at(one); p != nil && !slices.Contains(all, p) {
			all = append(all, p)
		}
	}
	return all
}

// staysFor returns the stop of the first watchpoint in triggered that keeps the thread
// stopped; nil if there is none.
func (b *breakpoints) staysFor(stop mi.Tuple) mi.Tuple {
	others := otherTriggers(stop)
	for i, o := range others {
		if !b.at(o).resumes() {
			_, rest := reasonsIn(stop)
			return withTriggered(append(slices.Clone(o), rest...), others[i+1:])
		}
	}
	return nil
}
