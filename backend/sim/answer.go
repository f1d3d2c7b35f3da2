// The answer of one rank, and the groups of equal answers.

package sim

import (
	"bytes"
	"slices"
	"strings"

	"sdm/protocol"
	"sdm/protocol/column"
	"sdm/protocol/rank"
	"sdm/protocol/stack"
	"sdm/protocol/wait"
)

// answer is an answer of one rank to a request, or an event. The body is shared by all ranks that
// have the same one.
type answer struct {
	kind  protocol.Kind
	body  []byte
	cells []cell       // sorted by name
	stack *sharedStack // nil: none
}

// cell is the rank's part of a column.
type cell struct{ name, value string }

// sharedStack is a stack that many ranks may have. The pointer is its identity; the numbers give
// the stacks of one library an order.
type sharedStack struct {
	path   stack.Path
	frame  string // the innermost one
	number int
}

// fold merges equal answers into groups, in the order of their first ranks. The ranks come in any
// order, each once.
type fold struct {
	limit   int  // of the columns, as Args.Limit
	whole   bool // keep more values than limit
	mpi     *mpi
	buckets []*bucket
	byBody  map[string][]*bucket // index of buckets, if there are more than fewBuckets
}

// fewBuckets is the number of buckets up to which a linear search is used: most requests have few
// different answers.
const fewBuckets = 4

// bucket collects the answers of one group.
type bucket struct {
	answer
	ranks   tally[struct{}]
	columns []tally[string] // one for each cell
	stacks  tally[*sharedStack]
}

func (f *fold) add(r rank.ID, a answer) {
	b := f.find(a)
	b.ranks.add(struct{}{}, r)
	for i, c := range a.cells {
		b.columns[i].add(c.value, r)
	}
	if a.stack != nil {
		b.stacks.add(a.stack, r)
	}
}

// tally is values of ranks, in the order in which they were added. There may be millions of ranks:
// consecutive ranks with the same value take one element, and adding needs no lookup.
type tally[T comparable] []stretch[T]

// stretch is the value of consecutive ranks.
type stretch[T comparable] struct {
	what        T
	first, last rank.ID
}

func (t *tally[T]) add(what T, r rank.ID) {
	if n := len(*t) - 1; n >= 0 && (*t)[n].what == what && (*t)[n].last == r-1 {
		(*t)[n].last = r
		return
	}
	*t = append(*t, stretch[T]{what, r, r})
}

// each calls do for every value in order, with the ranks that have it.
func (t tally[T]) each(compare func(a, b T) int, do func(what T, ranks rank.Set)) {
	slices.SortStableFunc(t, func(a, b stretch[T]) int { return compare(a.what, b.what) })
	var ids []rank.ID
	for len(t) > 0 {
		n := 1
		for n < len(t) && t[n].what == t[0].what {
			n++
		}
		if n == 1 {
			do(t[0].what, rank.Range(t[0].first, t[0].last))
		} else {
			ids = ids[:0]
			for _, s := range t[:n] {
				for r := s.first; r <= s.last; r++ {
					ids = append(ids, r)
				}
			}
			do(t[0].what, rank.Of(ids...))
		}
		t = t[n:]
	}
}

func (f *fold) find(a answer) *bucket {
	among := f.buckets
	if f.byBody != nil {
		among = f.byBody[string(a.body)]
	}
	for _, b := range among {
		if b.kind == a.kind && (b.stack == nil) == (a.stack == nil) && bytes.Equal(b.body, a.body) &&
			slices.EqualFunc(b.cells, a.cells, sameName) {
			return b
		}
	}
	b := &bucket{answer: a, columns: make([]tally[string], len(a.cells))}
	f.buckets = append(f.buckets, b)
	f.index(b)
	return b
}

func (f *fold) index(b *bucket) {
	switch {
	case f.byBody != nil:
		f.byBody[string(b.body)] = append(f.byBody[string(b.body)], b)
	case len(f.buckets) > fewBuckets:
		f.byBody = map[string][]*bucket{}
		for _, b := range f.buckets {
			f.byBody[string(b.body)] = append(f.byBody[string(b.body)], b)
		}
	}
}

func sameName(a, b cell) bool { return a.name == b.name }

// groups returns one group for each bucket.
func (f *fold) groups() []protocol.Group {
	var out []protocol.Group
	for _, b := range f.buckets {
		g := protocol.Group{Kind: b.kind, Body: b.body}
		b.ranks.each(func(a, b struct{}) int { return 0 }, func(_ struct{}, ranks rank.Set) { g.Ranks = ranks })
		for i, c := range b.cells {
			g.Columns = append(g.Columns, f.column(c.name, b.columns[i]))
		}
		if b.stack != nil {
			g.Stack = merged(b.stacks)
			g.Waits = f.waits(b.stacks)
		}
		out = append(out, g)
	}
	return out
}

// column keeps all values of answers, even beyond the limit: the server's history needs them.
func (f *fold) column(name string, values tally[string]) column.Column {
	list := make([]column.ValueCount, 0, len(values))
	values.each(strings.Compare, func(v string, ranks rank.Set) {
		list = append(list, column.ValueCount{Value: v, Ranks: ranks})
	})
	c := column.OfValues(name, list, f.limit)
	if !f.whole {
		return c.Limited()
	}
	return c
}

// waits returns what the ranks of some stacks wait for; nil if that is not told.
func (f *fold) waits(stacks tally[*sharedStack]) (g *wait.Graph) {
	if f.mpi != nil {
		stacks.each(func(a, b *sharedStack) int { return a.number - b.number }, func(s *sharedStack, ranks rank.Set) {
			g = g.Merge(f.mpi.graph(ranks, s.frame))
		})
	}
	return g
}

func merged(stacks tally[*sharedStack]) *stack.Tree {
	parts := make([]stack.RankedPath, 0, len(stacks))
	stacks.each(func(a, b *sharedStack) int { return a.number - b.number }, func(s *sharedStack, ranks rank.Set) {
		parts = append(parts, stack.RankedPath{Path: s.path, Ranks: ranks})
	})
	return stack.OfPaths(parts)
}

// sorted sorts cells by the names of columns.
func sorted(cells []cell) []cell {
	slices.SortFunc(cells, func(a, b cell) int { return strings.Compare(a.name, b.name) })
	return cells
}
