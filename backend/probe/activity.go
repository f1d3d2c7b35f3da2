// States and processor time of the threads of ranks.

package probe

import (
	"sdm/backend/probe/internal/hold"
	"sdm/protocol"
	"sdm/protocol/column"
	"sdm/protocol/rank"
)

// maxActivities bounds the distinct values of the columns of an answer.
const maxActivities = 256

// activities returns the states of the threads of ranks in a sample, and their processor time since
// the first sample, as columns. sample is the number of the sample, from 1.
func (b *Backend) activities(ranks rank.Set, sample int) []column.Column {
	states, cpu := map[string]rank.Set{}, map[string]rank.Set{}
	for r := range ranks.All() {
		w, one := b.ranks[r], rank.Range(r, r)
		now := hold.UsageOf(w.pid)
		if sample == 1 {
			w.began = now
		}
		s, c := hold.States(w.pid), ""
		if sample > 1 {
			c = now.Since(w.began)
		}
		states[s], cpu[c] = states[s].Union(one), cpu[c].Union(one)
	}
	return []column.Column{columnOf(protocol.CPUPercent, cpu, maxActivities), columnOf(protocol.ThreadStates, states, maxActivities)}
}
