// Ranks that wait for any one of several ranks.

package verdict

import (
	"slices"

	"sdm/protocol/rank"
	"sdm/protocol/wait"
)

// maxAny bounds the arcs that anyOf adds. If there would be more, each rank has arcs to the lowest of the ranks only
// from which its message may come. As none of these can go on, that makes fewer of them a part of the cycle, and the
// others wait for it.
const maxAny = 1 << 20

// choice is a rank that waits for any of several ranks, by the row edge of the graph.
type choice struct {
	rank rank.ID
	edge int32
	of   rank.Set
}

// anyOf adds the arcs of ranks that wait for a message of any source, or for one of several messages, if no
// rank from which it may come can go on.
func (s *solver) anyOf() {
	choices := s.choices()
	if len(choices) == 0 {
		return
	}
	free := s.free(choices)
	choices = slices.DeleteFunc(choices, func(c choice) bool { return free[c.rank] })
	s.any = map[rank.ID]rank.Set{}
	most := maxAny / max(len(choices), 1)
	for _, c := range choices {
		n := 0
		for r := range c.of.All() {
			if n++; n > max(most, 1) {
				s.any[c.rank] = c.of
				break
			}
			s.arcs = append(s.arcs, arc{int32(c.rank), int32(r), c.edge, true})
		}
	}
	s.index()
}

// choices returns the ranks that wait for any of several ranks, unless some of these are not known.
func (s *solver) choices() (out []choice) {
	var unknown rank.Set
	byRank := map[rank.ID]choice{}
	for i := range s.g.Edges() {
		e := &s.g.Edges()[i]
		comm, known := s.g.Comm(e.Comm)
		for _, run := range e.Pairs.Runs() {
			if run.Peer == wait.Unknown || run.Peer == wait.Any && (!known || e.Send) {
				unknown = unknown.Union(run.Ranks())
				continue
			}
			if run.Peer != wait.Any && e.Need != wait.One {
				continue
			}
			for r := run.First; r <= run.Last(); r++ {
				c := byRank[r]
				c.rank, c.edge = r, int32(i)
				if run.Peer == wait.Any {
					c.of = c.of.Union(comm.Opposite(r))
				} else if peer := run.Of(r); peer < s.size {
					c.of = c.of.Union(rank.Of(rank.ID(peer)))
				}
				byRank[r] = c
			}
		}
	}
	for r, c := range byRank {
		if c.of = c.of.Minus(rank.Range(r, r)); !unknown.Contains(r) && !s.fixed.Contains(r) && !c.of.IsEmpty() {
			out = append(out, c)
		}
	}
	slices.SortFunc(out, func(a, b choice) int { return int(a.rank - b.rank) })
	return out
}

// free reports for each vertex whether it may be able to go on: it waits for no vertex; or all vertices for which
// it waits can go on; or it has a choice, and one of the ranks of the choice can go on.
func (s *solver) free(choices []choice) []bool {
	free := make([]bool, s.size+len(s.collectives))
	owed := make([]int32, len(free)) // for each vertex, how many of the vertices for which it waits cannot go on
	var work []int32
	release := func(v int32) {
		if !free[v] {
			free[v] = true
			work = append(work, v)
		}
	}
	chosen := map[int32]bool{}
	for _, c := range choices {
		chosen[int32(c.rank)] = true
	}
	for v := range int32(len(free)) {
		owed[v] = int32(len(s.next(v)))
		mismatch := v >= int32(s.size) && s.collectives[v-int32(s.size)].mismatch != ""
		if owed[v] == 0 && !chosen[v] && !mismatch {
			release(v)
		}
	}
	for {
		for len(work) > 0 {
			v := work[len(work)-1]
			work = work[:len(work)-1]
			for _, i := range s.before(v) {
				from := s.arcs[i].from
				if from >= int32(s.size) && s.collectives[from-int32(s.size)].loose {
					release(from)
				}
				if owed[from]--; owed[from] == 0 && !chosen[from] {
					release(from)
				}
			}
		}
		before := make([]int32, s.size+1) // of each rank, how many lower ones are free
		for r := range s.size {
			before[r+1] = before[r]
			if free[r] {
				before[r+1]++
			}
		}
		canGo := func(first, last rank.ID) bool {
			const few = 16 // are looked at as they are now
			if last-first < few {
				return slices.Contains(free[first:last+1], true)
			}
			return before[last+1] > before[first]
		}
		for _, c := range choices {
			if free[c.rank] || owed[c.rank] > 0 {
				continue
			}
			for first, last := range c.of.Ranges() {
				if canGo(first, last) {
					release(int32(c.rank))
					break
				}
			}
		}
		if len(work) == 0 {
			return free
		}
	}
}
