// Stops for several reasons at once: triggered watchpoints, and a breakpoint.

package breakpoint

import (
	"slices"

	"sdm/backend/gdb/values"
	"sdm/backend/mi"
)

// Reached returns the breakpoints and watchpoints of this rank that a stop is about.
func (b *Table) Reached(stop mi.Tuple) (all []*Point) {
	for _, one := range append([]mi.Tuple{stop}, values.OtherTriggers(stop)...) {
		if p := b.At(one); p != nil && !slices.Contains(all, p) {
			all = append(all, p)
		}
	}
	return all
}

// staysFor returns the stop of the first watchpoint in triggered that keeps the thread
// stopped; nil if there is none.
func (b *Table) staysFor(stop mi.Tuple) mi.Tuple {
	others := values.OtherTriggers(stop)
	for i, o := range others {
		if !b.At(o).Resumes() {
			_, rest := values.ReasonsIn(stop)
			return values.WithTriggered(append(slices.Clone(o), rest...), others[i+1:])
		}
	}
	return nil
}
