// Columns of many ranks at once, for those who know sets.

package column

import (
	"slices"
	"strings"

	"sdm/protocol/rank"
)

// Of makes the column of ranks that all gave one value: what merging the
// columns that New makes for each of them gives, at the cost of one. The
// column of no ranks is empty.
func Of(name string, ranks rank.Set, value string, limit int) Column {
	lowest, ok := ranks.Min()
	if !ok {
		return Column{Name: name}
	}
	c := New(name, lowest, value, limit)
	c.values[0].Ranks = ranks
	return c
}

// OfValues makes the column of the ranks of several values, each of which
// is there once and has ranks of its own: what merging the columns of each of
// them gives, at the cost of one, but with all of the values, even beyond the
// limit. A server keeps such a column for expand and hands on what Folded gives;
// merging folds it as well. It takes the list over.
func OfValues(name string, values []ValueCount, limit int) Column {
	c := New(name, 0, "", limit)
	slices.SortFunc(values, func(a, b ValueCount) int { return strings.Compare(a.Value, b.Value) })
	c.values = values
	return c
}

// Folded gives the column without its values when there are more than it may
// keep.
func (c Column) Folded() Column {
	if c.summary != nil || c.limit < 0 || len(c.values) <= c.limit {
		return c
	}
	return Column{Name: c.Name, limit: c.limit, summary: summarize(c.values)}
}
