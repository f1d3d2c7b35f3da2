// Several graphs of the same ranks, one after the other.

package wait

import (
	"strconv"

	"sdm/protocol/rank"
)

// After returns the graph g of a later sample with further ranks in Moved: those whose rows differ from before,
// including those that are in one graph only, and those in Moved of before. The ranks in Doubt of before are added
// to Doubt likewise.
func (g *Graph) After(before *Graph) *Graph {
	if g.IsEmpty() {
		return g
	}
	out := *g
	changed := g.changed(before).Minus(g.unheld.Union(before.Unheld())) // that another process holds it is no progress
	out.moved = g.moved.Union(before.Moved()).Union(changed).Intersect(g.Ranks())
	out.doubt = g.doubt.Union(before.Doubt()).Intersect(g.Ranks())
	out.unheld = g.unheld.Union(before.Unheld()).Intersect(g.Ranks())
	return &out
}

// Unmoved returns the graph with empty sets Moved and Doubt, as for a first sample.
func (g *Graph) Unmoved() *Graph {
	if g.IsEmpty() {
		return g
	}
	out := *g
	out.moved, out.doubt = rank.Set{}, rank.Set{}
	return &out
}

// Changed returns the ranks whose rows differ between two graphs, and those that are in one of them only. The graphs
// may be of different runs: communicators are the same if their names and members are.
func Changed(g, h *Graph) rank.Set { return g.named().changed(h.named()) }

// named returns the graph with keys of communicators that are the same in all runs. Further ones with the same name and
// members are numbered.
func (g *Graph) named() *Graph {
	if g.IsEmpty() {
		return nil
	}
	keys, seen := map[string]string{}, map[string]int{}
	for _, c := range g.comms {
		key := c.Name + "\n" + c.Members.String() + "\n" + c.Remote.String()
		seen[key]++
		keys[c.Key] = key + "\n" + strconv.Itoa(seen[key])
	}
	out := &Graph{doings: g.doings, coarse: g.coarse}
	for _, c := range g.calls {
		c.Comm = keys[c.Comm]
		out.calls = append(out.calls, c)
	}
	for _, e := range g.edges {
		e.Comm = keys[e.Comm]
		out.edges = append(out.edges, e)
	}
	out.calls, out.edges = sorted(out.calls, (*Call).compare), sorted(out.edges, (*Edge).compare)
	return out
}

// changed returns the ranks whose rows differ between the graphs. Rows of communicators are not compared, nor details
// of doings if one of the graphs has none.
func (g *Graph) changed(h *Graph) (moved rank.Set) {
	moved = unlike(g.Calls(), h.Calls(), (*Call).compare, func(c *Call) rank.Set { return c.Ranks })
	a, b := g.Doings(), h.Doings()
	if isCoarse := func(g *Graph) bool { return g != nil && g.coarse }; isCoarse(g) != isCoarse(h) {
		a, b = coarsen(a), coarsen(b)
	}
	moved = moved.Union(unlike(a, b, (*Doing).compare, func(d *Doing) rank.Set { return d.Ranks }))
	return moved.Union(unlike(g.Edges(), h.Edges(), (*Edge).compare, (*Edge).ranks)).Union(peersChanged(g, h))
}

func (e *Edge) ranks() rank.Set { return e.Pairs.Ranks() }

// unlike returns the ranks that are in a row of one list, but not in the equal row of the other.
func unlike[T any](a, b []T, compare func(*T, *T) int, ranks func(*T) rank.Set) (out rank.Set) {
	for len(a)+len(b) > 0 {
		order := 0
		switch {
		case len(a) == 0:
			order = 1
		case len(b) == 0:
			order = -1
		default:
			order = compare(&a[0], &b[0])
		}
		switch {
		case order < 0:
			out, a = out.Union(ranks(&a[0])), a[1:]
		case order > 0:
			out, b = out.Union(ranks(&b[0])), b[1:]
		default:
			x, y := ranks(&a[0]), ranks(&b[0])
			out, a, b = out.Union(x.Minus(y)).Union(y.Minus(x)), a[1:], b[1:]
		}
	}
	return out
}

// peersChanged returns the ranks whose peers differ in an edge that both graphs have.
func peersChanged(g, h *Graph) (out rank.Set) {
	all := map[string]*Pairs{}
	key := func(e *Edge) string {
		bare := Graph{edges: []Edge{*e}}
		bare.edges[0].Pairs = Pairs{}
		return string(bare.AppendWire(nil))
	}
	for i := range h.Edges() {
		all[key(&h.edges[i])] = &h.edges[i].Pairs
	}
	for i := range g.Edges() {
		if q := all[key(&g.edges[i])]; q != nil {
			out = out.Union(g.edges[i].Pairs.unlike(*q))
		}
	}
	return out
}

// unlike returns the ranks whose peers differ, including ranks that only one of p and q has.
func (p Pairs) unlike(q Pairs) (out rank.Set) {
	for k := range max(len(p.lanes), len(q.lanes)) {
		a, b := p.lane(k), q.lane(k)
		out = out.Union(lanesUnlike(a, b))
	}
	return out
}

// lanesUnlike is Pairs.unlike for one lane of each.
func lanesUnlike(a, b []Run) rank.Set {
	var out []Run
	x, y := ranksOf(a), ranksOf(b)
	for i, j := 0, 0; i < len(a) && j < len(b); {
		first, last := max(a[i].First, b[j].First), min(a[i].Last(), b[j].Last())
		if first <= last && (a[i].Of(first) != b[j].Of(first) || a[i].Of(last) != b[j].Of(last)) {
			out = append(out, Run{First: first, Count: int(last-first) + 1})
		}
		if a[i].Last() <= b[j].Last() {
			i++
		} else {
			j++
		}
	}
	return ranksOf(out).Union(x.Minus(y)).Union(y.Minus(x))
}
