// Collectives that a library has counted.

package wait

import (
	"slices"
	"strings"

	"sdm/protocol/rank"
)

// countedKey begins the keys of communicators of which a library has told how many collectives each member has begun.
const countedKey = "counted."

// Count is what counts of a library tell of one communicator: some members have begun a collective that others have
// not, and none has begun any since.
type Count struct {
	Comm     string // the same in all members, and differs for other communicators
	Name     string // of the communicator, for people
	Function string // the first collective that some have not begun: "AllReduce number 6650"
	In       rank.Set
	Behind   rank.Set // those that have not begun it
}

// IsCounted reports whether it was counted that ranks are in the call, and not seen.
func (c *Call) IsCounted() bool { return strings.HasPrefix(c.Comm, countedKey) }

// WithCounts returns the graph with calls that were counted. Ranks in such a call are not in Moved: what they do
// meanwhile is no progress. unseen are ranks of the job at which nobody has looked. The graph stays as it is if its
// ranks are not numbered as in MPI_COMM_WORLD.
func (g *Graph) WithCounts(counts []Count, unseen rank.Set) *Graph {
	if g.IsEmpty() || !g.numbers.areSame() {
		return g
	}
	var in rank.Set
	for _, c := range counts {
		in = in.Union(c.In)
	}
	here := g.Ranks()
	seen := Rank{Doing: Doing{Does: "was not looked at"}}
	all := g.Merge(Of(in.Intersect(unseen).Minus(here), seen))
	out := *all
	out.comms, out.calls = slices.Clone(all.comms), slices.Clone(all.calls)
	for _, c := range counts {
		ranks := c.In.Intersect(all.Ranks())
		if ranks.IsEmpty() {
			continue
		}
		key := clip(countedKey + c.Comm)
		out.comms = append(out.comms, Comm{Key: key, Name: clip(c.Name), Members: ranks.Union(c.Behind)})
		out.calls = append(out.calls, Call{Function: clip(c.Function), Comm: key, Root: No, Bytes: No, Ranks: ranks})
	}
	out.comms = join(nil, sorted(out.comms, (*Comm).compare), (*Comm).compare, (*Comm).add)
	out.calls = join(nil, sorted(out.calls, (*Call).compare), (*Call).compare, (*Call).add)
	out.moved = all.moved.Minus(in)
	return &out
}
