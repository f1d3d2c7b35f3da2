// Merging of graphs: the order of rows, and rows with equal fields.

package wait

import (
	"cmp"
	"slices"
	"strings"
)

func (c *Comm) compare(d *Comm) int { return strings.Compare(c.Key, d.Key) }

func (c *Call) compare(d *Call) int {
	return cmp.Or(strings.Compare(c.Comm, d.Comm), strings.Compare(c.Function, d.Function),
		cmp.Compare(c.Root, d.Root), cmp.Compare(c.Bytes, d.Bytes), strings.Compare(c.Op, d.Op))
}

func (e *Edge) compare(f *Edge) int {
	return cmp.Or(strings.Compare(e.Comm, f.Comm), strings.Compare(e.Function, f.Function),
		compareBools(e.Send, f.Send), cmp.Compare(e.Need, f.Need), cmp.Compare(e.Tag, f.Tag),
		strings.Compare(e.Object, f.Object))
}

func compareBools(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

func (d *Doing) compare(e *Doing) int {
	a, b := d.First(), e.First()
	return cmp.Or(a.compare(&b), cmp.Compare(d.Calls, e.Calls),
		slices.CompareFunc(d.Others, e.Others, func(a, b Thread) int { return a.compare(&b) }))
}

// sorted sorts rows in place and returns them.
func sorted[T any](rows []T, compare func(*T, *T) int) []T {
	slices.SortStableFunc(rows, func(a, b T) int { return compare(&a, &b) })
	return rows
}

// add joins another row of the same fields to this one.
func (c *Comm) add(d *Comm) {
	c.Name = min(c.Name, d.Name)
	if !c.Members.Equal(d.Members) || !c.Remote.Equal(d.Remote) { // seldom, since members with equal keys have equal sets
		c.Members, c.Remote = c.Members.Union(d.Members), c.Remote.Union(d.Remote)
	}
}

func (c *Call) add(d *Call) { c.Ranks = c.Ranks.Union(d.Ranks) }
func (e *Edge) add(f *Edge) { e.Pairs = e.Pairs.merge(f.Pairs) }
func (d *Doing) add(e *Doing) {
	d.Ranks, d.Left = d.Ranks.Union(e.Ranks), max(d.Left, e.Left)
}

// join merges two ascending lists; rows with equal fields become one.
func join[T any](a, b []T, compare func(*T, *T) int, add func(*T, *T)) []T {
	if len(a)+len(b) == 0 {
		return nil
	}
	out := make([]T, 0, max(len(a), len(b))) // most rows are in both
	for len(a)+len(b) > 0 {
		next := &b
		if len(b) == 0 || len(a) > 0 && compare(&a[0], &b[0]) <= 0 {
			next = &a
		}
		if n := len(out); n > 0 && compare(&out[n-1], &(*next)[0]) == 0 {
			add(&out[n-1], &(*next)[0])
		} else {
			out = append(out, (*next)[0])
		}
		*next = (*next)[1:]
	}
	return out
}

// joinComms is join for communicators, which are mostly the same in all ranks.
func joinComms(a, b []Comm) []Comm {
	same := func(c, d Comm) bool {
		return c.Key == d.Key && c.Name == d.Name && c.Members.Equal(d.Members) && c.Remote.Equal(d.Remote)
	}
	if slices.EqualFunc(a, b, same) {
		return a
	}
	return join(a, b, (*Comm).compare, (*Comm).add)
}

// Merge returns the graph of the ranks of both graphs. For ranks that are in both, the facts of g are taken.
func (g *Graph) Merge(h *Graph) *Graph {
	switch {
	case h.IsEmpty():
		return g
	case g.IsEmpty():
		return h
	}
	if mine := g.Ranks(); mine.Intersects(h.Ranks()) {
		return g.Merge(h.Only(h.Ranks().Minus(mine)))
	}
	out := &Graph{
		comms:  joinComms(g.comms, h.comms),
		calls:  join(g.calls, h.calls, (*Call).compare, (*Call).add),
		edges:  join(g.edges, h.edges, (*Edge).compare, (*Edge).add),
		doings: join(g.doings, h.doings, (*Doing).compare, (*Doing).add),
		moved:  g.moved.Union(h.moved),
		cut:    g.cut.Union(h.cut),
		doubt:  g.doubt.Union(h.doubt),
		unheld: g.unheld.Union(h.unheld),
		coarse: g.coarse || h.coarse,

		unexpected: join(g.unexpected, h.unexpected, (*Edge).compare, (*Edge).add),
		numbers:    g.numbers.merge(h.numbers),
	}
	out.bound()
	if out.runs() > maxRuns {
		out.edges, out.unexpected, out.cut = nil, nil, out.Ranks()
	}
	return out
}

// MergeAll merges graphs as Merge does one after the other, but pairwise: those that are adjacent first. That takes
// less time, since each Merge takes time for both.
func MergeAll(all []*Graph) *Graph {
	switch len(all) {
	case 0:
		return nil
	case 1:
		return all[0]
	}
	half := len(all) / 2
	return MergeAll(all[:half]).Merge(MergeAll(all[half:]))
}

// maxRuns bounds the runs of a graph. A million ranks need as many if each has four peers in no order. A graph
// with more runs keeps no edges; see Cut.
const maxRuns = 1 << 22

func (g *Graph) runs() (n int) {
	for i := range g.edges {
		n += g.edges[i].Pairs.runs()
	}
	for i := range g.unexpected {
		n += g.unexpected[i].Pairs.runs()
	}
	return n + g.numbers.runs()
}
