// Pairs of ranks and those they wait for.

package wait

import (
	"math"
	"slices"
	"sort"
	"strconv"
	"strings"

	"sdm/protocol/rank"
)

// Pairs is a set of pairs of a rank and a peer, which is a rank, Any or Unknown. The peers of a rank ascend; lane k
// has peer k of each rank, so a rank occurs at most once in a lane. Consecutive ranks of a lane whose peers are
// equal, or are consecutive, are one run: each run is as long as it can be from its first rank on. The zero value
// is empty.
//
//	[0-62] → 1..63, 63 → 0      a ring: {0 63 1 1} {63 1 0 0}
type Pairs struct{ lanes [][]Run }

// Run is the pairs of consecutive ranks: rank First+i waits for Peer+i*Step, for i from 0 to Count-1.
type Run struct {
	First rank.ID
	Count int
	Peer  int // of the first rank
	Step  int // 0 or 1; 0 if Count is 1
}

// Last returns the last rank.
func (r Run) Last() rank.ID { return r.First + rank.ID(r.Count-1) }

// Ranks returns the ranks that wait.
func (r Run) Ranks() rank.Set { return rank.Range(r.First, r.Last()) }

// Of returns the peer of a rank of the run.
func (r Run) Of(id rank.ID) int { return r.Peer + int(id-r.First)*r.Step }

// String formats the run: "[3] → 2", "[0-62] → 1..63".
func (r Run) String() string {
	text := "[" + r.Ranks().String() + "] → " + PeerText(r.Peer)
	if r.Step != 0 {
		text += ".." + PeerText(r.Of(r.Last()))
	}
	return text
}

// PeerText formats a peer: "3", "any", "?".
func PeerText(peer int) string {
	switch peer {
	case Any:
		return "any"
	case Unknown:
		return "?"
	}
	return strconv.Itoa(peer)
}

// pairsOf returns the pairs of ranks that all have the same peers, which must ascend.
func pairsOf(ranks rank.Set, peers []int) (p Pairs) {
	for _, peer := range peers {
		var lane []Run
		for first, last := range ranks.Ranges() {
			lane = extend(lane, Run{First: first, Count: int(last-first) + 1, Peer: peer})
		}
		p.lanes = append(p.lanes, lane)
	}
	return p
}

// extend appends a run to a lane, all of whose ranks are lower. The pairs of r that continue the last run of the
// lane become part of that run.
func extend(lane []Run, r Run) []Run {
	if n := len(lane) - 1; n >= 0 && lane[n].Last()+1 == r.First {
		l := &lane[n]
		if l.Count == 1 && (r.Peer == l.Peer || r.Peer == l.Peer+1 && l.Peer >= 0) {
			l.Step = r.Peer - l.Peer
		}
		if r.Peer == l.Of(r.First) && (l.Count > 1 || l.Step == r.Peer-l.Peer) {
			if r.Count == 1 || r.Step == l.Step {
				l.Count += r.Count
				return lane
			}
			l.Count++
			r = r.from(1)
		}
	}
	if r.Count == 1 {
		r.Step = 0
	}
	return append(lane, r)
}

// from returns the run without its first n ranks; one must remain.
func (r Run) from(n int) Run {
	r.First, r.Peer, r.Count = r.First+rank.ID(n), r.Peer+n*r.Step, r.Count-n
	if r.Count == 1 {
		r.Step = 0
	}
	return r
}

// merge returns the pairs of both, which have no rank in common.
func (p Pairs) merge(q Pairs) Pairs {
	out := Pairs{make([][]Run, 0, max(len(p.lanes), len(q.lanes)))}
	for k := range cap(out.lanes) {
		a, b := p.lane(k), q.lane(k)
		n := len(a) + len(b)
		if len(a) == 1 && len(b) == 1 { // mostly, one continues the other
			n = 1
		}
		lane := make([]Run, 0, n)
		for len(a)+len(b) > 0 {
			next := &b
			if len(b) == 0 || len(a) > 0 && a[0].First < b[0].First {
				next = &a
			}
			lane = extend(lane, (*next)[0])
			*next = (*next)[1:]
		}
		out.lanes = append(out.lanes, lane)
	}
	return out
}

func (p Pairs) lane(k int) []Run {
	if k < len(p.lanes) {
		return p.lanes[k]
	}
	return nil
}

// only returns the pairs of some ranks.
func (p Pairs) only(ranks rank.Set) (out Pairs) {
	for _, runs := range p.lanes {
		var lane []Run
		for _, r := range runs {
			for first, last := range r.Ranks().Intersect(ranks).Ranges() {
				part := r.from(int(first - r.First))
				if part.Count = int(last-first) + 1; part.Count == 1 {
					part.Step = 0
				}
				lane = extend(lane, part)
			}
		}
		if lane != nil {
			out.lanes = append(out.lanes, lane)
		}
	}
	return out
}

// IsEmpty reports whether there is no pair.
func (p Pairs) IsEmpty() bool { return len(p.lanes) == 0 }

// Ranks returns the ranks that wait.
func (p Pairs) Ranks() (all rank.Set) {
	if len(p.lanes) == 0 {
		return all
	}
	return ranksOf(p.lanes[0]) // each rank has a first peer
}

func ranksOf(runs []Run) rank.Set {
	switch len(runs) {
	case 0:
		return rank.Set{}
	case 1:
		return runs[0].Ranks()
	}
	half := len(runs) / 2
	return ranksOf(runs[:half]).Union(ranksOf(runs[half:]))
}

// Runs returns all runs: first for the first peers of all ranks, ascending, then for the second
// ones, and so on.
func (p Pairs) Runs() []Run { return slices.Concat(p.lanes...) }

// RunsOf returns the runs that have a rank, as Runs orders them.
func (p Pairs) RunsOf(r rank.ID) (runs []Run) {
	for _, lane := range p.lanes {
		i := sort.Search(len(lane), func(i int) bool { return lane[i].Last() >= r })
		if i == len(lane) || lane[i].First > r {
			break // nor has it further peers
		}
		runs = append(runs, lane[i])
	}
	return runs
}

func (p Pairs) runs() (n int) {
	for _, l := range p.lanes {
		n += len(l)
	}
	return n
}

func (p Pairs) size() int {
	const run = 32
	return run * p.runs()
}

// String formats the pairs: "[0-62] → 1..63, [63] → 0".
func (p Pairs) String() string {
	var parts []string
	for _, r := range p.Runs() {
		parts = append(parts, r.String())
	}
	return strings.Join(parts, ", ")
}

// isValid reports whether the run may be in a graph.
func (r Run) isValid() bool {
	return r.Count > 0 && r.First >= 0 && r.First <= rank.MaxID && r.Count-1 <= int(rank.MaxID-r.First) &&
		(r.Step == 0 || r.Step == 1 && r.Count > 1 && r.Peer >= 0) &&
		(r.Peer >= 0 || r.Peer == Any || r.Peer == Unknown) && r.Peer <= math.MaxInt32-(r.Count-1)*r.Step
}
