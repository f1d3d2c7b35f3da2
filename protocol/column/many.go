// Columns of many ranks at once.

package column

import (
	"slices"
	"strings"

	"sdm/protocol/rank"
)

// Of returns the column of ranks with the same value. It equals the merged columns
// of New for each rank, at the cost of one. The column of no ranks is empty.
func Of(name string, ranks rank.Set, value string, limit int) Column {
	lowest, ok := ranks.Min()
	if !ok {
		return Column{Name: name}
	}
	c := New(name, lowest, value, limit)
	c.values[0].Ranks = ranks
	return c
}

// OfValues returns the column of several distinct values with disjoint ranks. It
// equals the merged columns of Of for each value, at the cost of one, but keeps all
// values, even beyond the limit. A server keeps such a column for expand and sends
// the result of Limited; merging has the same effect. OfValues owns the list.
func OfValues(name string, values []ValueCount, limit int) Column {
	c := New(name, 0, "", limit)
	slices.SortFunc(values, func(a, b ValueCount) int { return strings.Compare(a.Value, b.Value) })
	c.values = values
	return c
}

// Limited returns the column, without its values if there are more than its limit.
func (c Column) Limited() Column {
	if c.summary != nil || c.limit < 0 || len(c.values) <= c.limit {
		return c
	}
	return Column{Name: c.Name, limit: c.limit, summary: summarize(c.values)}
}
