// Ranks whose numbers are not their ranks in MPI_COMM_WORLD.

package wait

import (
	"fmt"
	"slices"

	"sdm/protocol/rank"
)

// areRanks reports whether all peers are ranks.
func (p Pairs) areRanks() bool {
	return !slices.ContainsFunc(p.Runs(), func(r Run) bool { return r.Peer < 0 || r.Of(r.Last()) > int(rank.MaxID) })
}

// areSame reports whether all peers are the ranks themselves.
func (p Pairs) areSame() bool {
	return !slices.ContainsFunc(p.Runs(), func(r Run) bool { return r.Peer != int(r.First) || r.Count > 1 && r.Step != 1 })
}

// Renumbered returns the graph with the numbers of its ranks in place of ranks of MPI_COMM_WORLD: g itself if they are
// the same, as in most jobs. An error says which rank of MPI_COMM_WORLD is not known.
func (g *Graph) Renumbered() (*Graph, error) {
	if g.Numbers().areSame() {
		return g, nil
	}
	here, err := g.here()
	if err != nil {
		return nil, err
	}
	t := translation{here: here}
	out := *g
	out.numbers = Pairs{}
	out.comms, out.calls = slices.Clone(g.comms), slices.Clone(g.calls)
	for i := range out.comms {
		c := &out.comms[i]
		c.Members, c.Remote = t.set(c.Members), t.set(c.Remote)
	}
	for i := range out.calls {
		if root := &out.calls[i].Root; *root != No {
			*root = t.rank(*root)
		}
	}
	out.calls = sorted(out.calls, (*Call).compare)
	out.edges, out.unexpected = t.edges(g.edges), t.edges(g.unexpected)
	return &out, t.err
}

// here returns the numbers of ranks by their rank in MPI_COMM_WORLD. If a single rank has not said its number, and a
// single number of the first ones is missing, it is that one.
func (g *Graph) here() (map[int]rank.ID, error) {
	here := map[int]rank.ID{}
	for _, r := range g.numbers.Runs() {
		for id := r.First; id <= r.Last(); id++ {
			if _, twice := here[r.Of(id)]; twice {
				return nil, fmt.Errorf("several ranks say that they are its rank %d, as those of several jobs do", r.Of(id))
			}
			here[r.Of(id)] = id
		}
	}
	silent := g.Ranks().Minus(g.numbers.Ranks())
	if silent.Len() != 1 {
		return here, nil
	}
	var missing []int
	for n := range g.Ranks().Len() {
		if _, ok := here[n]; !ok {
			missing = append(missing, n)
		}
	}
	if len(missing) == 1 {
		here[missing[0]], _ = silent.Min()
	}
	return here, nil
}

// translation replaces ranks of MPI_COMM_WORLD by the numbers of ranks.
type translation struct {
	here map[int]rank.ID
	err  error // one of them is not known
}

func (t *translation) rank(world int) int {
	r, ok := t.here[world]
	if !ok && t.err == nil {
		t.err = fmt.Errorf("its rank %d is not here, or has not said its number", world)
	}
	return int(r)
}

func (t *translation) set(s rank.Set) rank.Set {
	var ids []rank.ID
	for r := range s.All() {
		ids = append(ids, rank.ID(t.rank(int(r))))
	}
	return rank.Of(ids...)
}

func (t *translation) edges(all []Edge) (out []Edge) {
	for _, e := range all {
		if e.Object != "" { // it leads to the number of a rank
			out = append(out, e)
			continue
		}
		peers, ranks := map[rank.ID][]int{}, e.Pairs.Ranks()
		for _, r := range e.Pairs.Runs() {
			for id := r.First; id <= r.Last(); id++ {
				peer := r.Of(id)
				if peer >= 0 {
					peer = t.rank(peer)
				}
				peers[id] = append(peers[id], peer)
			}
		}
		e.Pairs = Pairs{}
		for id := range ranks.All() {
			slices.Sort(peers[id])
			for k, peer := range peers[id] {
				if k == len(e.Pairs.lanes) {
					e.Pairs.lanes = append(e.Pairs.lanes, nil)
				}
				e.Pairs.lanes[k] = extend(e.Pairs.lanes[k], Run{First: id, Count: 1, Peer: peer})
			}
		}
		out = append(out, e)
	}
	return out
}
