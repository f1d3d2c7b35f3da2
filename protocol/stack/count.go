// How many threads each rank has at a node.

package stack

import (
	"cmp"
	"slices"

	"sdm/protocol/decode"
	"sdm/protocol/rank"
)

// Count is the ranks of a node that have the same number of threads there.
type Count struct {
	Threads int
	Ranks   rank.Set
}

// counts are the numbers of threads of the ranks of a node, from 1 to decode.MaxCount.
type counts struct {
	each int      // of every rank; 0: they differ
	more *[]Count // if they differ: two or more parts, ascending, disjoint, none empty
}

// parts returns the parts of counts that differ.
func (c counts) parts() []Count {
	if c.more == nil {
		return nil
	}
	return *c.more
}

// evenly returns the counts of ranks that have n threads each.
func evenly(n int) counts { return counts{each: n} }

// list returns the parts of the counts of ranks: one if all have the same number.
func (c counts) list(ranks rank.Set) []Count {
	if c.each != 0 {
		return []Count{{c.each, ranks}}
	}
	return c.parts()
}

// total returns the number of threads of ranks.
func (c counts) total(ranks rank.Set) (n int) {
	if c.each != 0 {
		return c.each * ranks.Len()
	}
	for _, p := range c.parts() {
		n += p.Threads * p.Ranks.Len()
	}
	return n
}

// only returns the counts of some of the ranks.
func (c counts) only(ranks rank.Set) counts {
	if c.each != 0 {
		return c
	}
	parts := make([]Count, 0, len(c.parts()))
	for _, p := range c.parts() {
		parts = append(parts, Count{p.Threads, p.Ranks.Intersect(ranks)})
	}
	return countsOf(parts)
}

// is reports whether counts of the same ranks are equal.
func (c counts) is(d counts) bool {
	same := func(p, q Count) bool { return p.Threads == q.Threads && p.Ranks.Equal(q.Ranks) }
	return c.each == d.each && slices.EqualFunc(c.parts(), d.parts(), same)
}

// countsOf returns the counts of disjoint parts in any order; some may be empty.
func countsOf(parts []Count) counts {
	parts = slices.DeleteFunc(parts, func(p Count) bool { return p.Ranks.IsEmpty() })
	slices.SortStableFunc(parts, func(p, q Count) int { return cmp.Compare(p.Threads, q.Threads) })
	n := 0
	for i, p := range parts {
		if i > 0 && parts[n-1].Threads == p.Threads {
			parts[n-1].Ranks = parts[n-1].Ranks.Union(p.Ranks)
			continue
		}
		parts[n] = p
		n++
	}
	if n == 1 {
		return evenly(parts[0].Threads)
	}
	parts = parts[:n:n]
	return counts{more: &parts}
}

// union returns the counts c of the ranks of and d of the ranks to, which are disjoint.
func (c counts) union(of rank.Set, d counts, to rank.Set) counts {
	if c.each != 0 && c.each == d.each {
		return c
	}
	return countsOf(slices.Concat(c.list(of), d.list(to)))
}

// plus returns the sums of the counts c of the ranks of and d of the ranks to. Ranks that
// are in one set only keep their number.
func (c counts) plus(of rank.Set, d counts, to rank.Set) counts {
	if c.each != 0 && d.each != 0 && of.Equal(to) {
		return evenly(min(c.each+d.each, decode.MaxCount))
	}
	var parts []Count
	for _, p := range c.list(of) {
		parts = append(parts, Count{p.Threads, p.Ranks.Minus(to)})
		for _, q := range d.list(to) {
			parts = append(parts, Count{min(p.Threads+q.Threads, decode.MaxCount), p.Ranks.Intersect(q.Ranks)})
		}
	}
	for _, q := range d.list(to) {
		parts = append(parts, Count{q.Threads, q.Ranks.Minus(of)})
	}
	return countsOf(parts)
}

// differing returns the common ranks of of, which has the counts c, and to, which has
// the counts d, whose numbers differ.
func (c counts) differing(of rank.Set, d counts, to rank.Set) (out rank.Set) {
	if c.each != 0 && c.each == d.each {
		return out
	}
	for _, p := range c.list(of) {
		for _, q := range d.list(to) {
			if p.Threads != q.Threads {
				out = out.Union(p.Ranks.Intersect(q.Ranks))
			}
		}
	}
	return out
}

// valid reports whether these are the counts of ranks in canonical form.
func (c counts) valid(ranks rank.Set) bool {
	if c.each != 0 {
		return true
	}
	var all rank.Set
	last := 0
	for _, p := range c.parts() {
		if p.Threads <= last || p.Threads > decode.MaxCount || p.Ranks.IsEmpty() || p.Ranks.Intersects(all) {
			return false
		}
		last, all = p.Threads, all.Union(p.Ranks)
	}
	return len(c.parts()) > 1 && all.Equal(ranks)
}

// shared distributes n threads evenly over ranks, for nodes without counts. The lowest ranks have one more if there
// is a remainder. Each rank has at least one.
func shared(n int, ranks rank.Set) counts {
	size := ranks.Len()
	n = max(n, size)
	most := rank.Set{}
	if rest := n % size; rest > 0 {
		most = lowest(ranks, rest)
	}
	return countsOf([]Count{{n/size + 1, most}, {n / size, ranks.Minus(most)}})
}

// lowest returns the n lowest ranks.
func lowest(ranks rank.Set, n int) rank.Set {
	var ids []rank.ID
	for r := range ranks.All() {
		if len(ids) == n {
			break
		}
		ids = append(ids, r)
	}
	return rank.Of(ids...)
}
