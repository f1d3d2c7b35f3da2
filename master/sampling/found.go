// What the samples of a call have found.

package sampling

import (
	"maps"
	"slices"
	"strings"

	"sdm/protocol"
	"sdm/protocol/column"
	"sdm/protocol/rank"
	"sdm/protocol/stack"
	"sdm/protocol/wait"
)

// found is what the samples of a call have found.
type found struct {
	last, all *stack.Tree // the last stacks of each rank; with hits the stacks of all samples
	waits     *wait.Graph // of the last sample, with what has moved since the first
	moved     rank.Set
	tally     map[int]rank.Set // ranks by the number of samples that have them
	columns   []column.Column  // of the last sample
}

// add adds the results of a sample.
func (f *found) add(results []protocol.Group, first bool) {
	var tree *stack.Tree
	var waits *wait.Graph
	f.columns = nil
	for _, g := range results {
		tree, waits = tree.Merge(g.Stack), waits.Merge(g.Waits)
		f.addColumns(g.Columns)
	}
	ranks := protocol.RanksOf(results, protocol.KindResult)
	before := f.count(ranks)
	f.moved = f.moved.Union(f.last.Only(before).Moved(tree.Only(before)))
	f.last = tree.Merge(f.last.Only(f.ranks().Minus(ranks)))
	f.all = f.all.Merge(tree)
	f.addWaits(waits, first)
}

// count notes that ranks have answered once more. It returns those that had done so before.
func (f *found) count(ranks rank.Set) (before rank.Set) {
	before = ranks.Intersect(f.ranks())
	tally := map[int]rank.Set{1: ranks.Minus(before)}
	for n, set := range f.tally {
		tally[n] = tally[n].Union(set.Minus(ranks))
		tally[n+1] = tally[n+1].Union(set.Intersect(ranks))
	}
	f.tally = tally
	maps.DeleteFunc(f.tally, func(_ int, set rank.Set) bool { return set.IsEmpty() })
	return before
}

// ranks returns the ranks that some sample has.
func (f *found) ranks() (all rank.Set) {
	for _, set := range f.tally {
		all = all.Union(set)
	}
	return all
}

// addColumns adds the columns of some ranks to the columns of the sample.
func (f *found) addColumns(columns []column.Column) {
	for _, c := range columns {
		i := slices.IndexFunc(f.columns, func(d column.Column) bool { return d.Name == c.Name })
		if i < 0 {
			f.columns = append(f.columns, c)
		} else {
			f.columns[i] = f.columns[i].Merge(c)
		}
	}
	slices.SortFunc(f.columns, func(c, d column.Column) int { return strings.Compare(c.Name, d.Name) })
}

// addWaits keeps what the ranks of a sample wait for, compared with the sample before. What they did before the first
// one does not count. Ranks without an answer keep what they did, as moved ones.
func (f *found) addWaits(all *wait.Graph, first bool) {
	if first {
		f.waits = all.Unmoved()
		return
	}
	silent := f.waits.Only(f.waits.Ranks().Minus(all.Ranks()))
	f.waits = all.After(f.waits).Merge(silent.After(nil))
}

// group returns what was found of some ranks, without a body.
func (f *found) group(ranks rank.Set) protocol.Group {
	g := protocol.Group{Kind: protocol.KindResult, Ranks: ranks, Stack: f.all.Only(ranks), Waits: f.waits.Only(ranks)}
	for _, c := range f.columns {
		if c.Complete() || ranks.Equal(f.ranks()) { // another one cannot be split
			g.Columns = append(g.Columns, c.Only(ranks))
		}
	}
	return g
}
