// Package column summarizes a value that differs between ranks whose answers are
// otherwise equal. Summaries can be merged.
package column

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"sdm/protocol/rank"
)

// DefaultLimit is the number of distinct values that a column keeps if a command
// does not set a limit: enough for a line on the screen, small enough that the
// values of a million ranks take a few kilobytes.
const DefaultLimit = 16

// Column is the mergeable summary of one value over ranks: the value of a variable,
// the address of a frame, a process ID.
//
// Up to a limit it keeps every distinct value with its ranks. When there are more,
// all values are dropped for good, and a summary of bounded size remains: counts,
// the lowest and highest numbers with ranks, exact sums. Both representations are
// functions of the pairs (rank, value) only. Therefore merging is associative and
// commutative to the byte of AppendWire, provided that no rank is in two of the
// merged columns.
//
// A Column is immutable and may be used by several goroutines. The zero Column has
// no value.
type Column struct {
	Name string
	// limit is the number of distinct values that are kept, -1 for all; 0 in the
	// zero Column only.
	limit int
	// values are sorted by the bytes of the value; nil after they were dropped.
	values  []ValueCount
	summary *summary // nil until the values are dropped
}

// ValueCount is one distinct value and the ranks that gave it.
type ValueCount struct {
	Value string
	Ranks rank.Set
}

// maxLimit is the highest limit that can be encoded; no column has as many values.
const maxLimit = math.MaxInt32 - 1

// New returns the column of one rank. The limit is as in Args.Limit: 0 is DefaultLimit, -1 keeps
// every value.
func New(name string, r rank.ID, value string, limit int) Column {
	switch {
	case limit < 0:
		limit = -1
	case limit == 0:
		limit = DefaultLimit
	}
	limit = min(limit, maxLimit)
	return Column{Name: name, limit: limit, values: []ValueCount{{value, rank.Range(r, r)}}}
}

// Merge merges two columns of the same name; it panics if the names differ. The
// result has the lower one of the limits.
func (c Column) Merge(d Column) Column {
	if c.Name != d.Name {
		panic(fmt.Sprintf("column: %q cannot be merged with column %q", c.Name, d.Name))
	}
	switch {
	case d.limit == 0:
		return c.Limited()
	case c.limit == 0:
		return d.Limited()
	}
	out := Column{Name: c.Name, limit: lowerLimit(c.limit, d.limit)}
	if c.summary != nil || d.summary != nil {
		out.summary = c.summarized().merge(d.summarized())
		return out
	}
	out.values = mergeValues(c.values, d.values)
	if out.limit >= 0 && len(out.values) > out.limit {
		out.summary, out.values = summarize(out.values), nil
	}
	return out
}

func lowerLimit(a, b int) int {
	if a < 0 || b < 0 {
		return max(a, b)
	}
	return min(a, b)
}

// mergeValues merges two lists that are sorted by value.
func mergeValues(a, b []ValueCount) []ValueCount {
	n := len(a) + len(b)
	if len(a) == len(b) && len(a) > 0 && a[0].Value == b[0].Value {
		n = len(a) // probably the same values on both sides
	}
	out := make([]ValueCount, 0, n)
	for len(a) > 0 && len(b) > 0 {
		switch order := strings.Compare(a[0].Value, b[0].Value); {
		case order < 0:
			out, a = append(out, a[0]), a[1:]
		case order > 0:
			out, b = append(out, b[0]), b[1:]
		default:
			out = append(out, ValueCount{a[0].Value, a[0].Ranks.Union(b[0].Ranks)})
			a, b = a[1:], b[1:]
		}
	}
	return append(append(out, a...), b...)
}

// summarized returns the summary of the column, whether or not the values were
// dropped.
func (c Column) summarized() *summary {
	if c.summary != nil {
		return c.summary
	}
	return summarize(c.values)
}

// Complete reports whether the column still has all values.
func (c Column) Complete() bool { return c.summary == nil }

// Size returns the approximate memory of the column, in bytes.
func (c *Column) Size() int {
	const each = 16
	n := each + len(c.Name)
	for _, v := range c.values {
		n += each + len(v.Value) + v.Ranks.Size()
	}
	if c.summary != nil {
		n += c.summary.size()
	}
	return n
}

// Limit returns the number of distinct values that are kept: -1 for all.
func (c Column) Limit() int { return c.limit }

// Count returns the number of ranks with a value.
func (c Column) Count() int {
	if c.summary != nil {
		return c.summary.count
	}
	n := 0
	for _, v := range c.values {
		n += v.Ranks.Len()
	}
	return n
}

// Distinct returns the number of distinct values. It is exact while the column is
// complete, and up to 64 values afterwards; above that it is an estimate with a
// standard error of 7 %.
func (c Column) Distinct() (n int, exact bool) {
	if c.summary == nil {
		return len(c.values), true
	}
	n, exact = c.summary.distinct.count()
	return min(n, c.summary.count), exact
}

// Values returns the distinct values of a complete column in the order in which
// users see them: numeric if all of them are numbers, else by lowest rank. It
// returns nil if the column is not complete.
func (c Column) Values() []ValueCount {
	type keyed struct {
		ValueCount
		number number
		lowest rank.ID
	}
	all := make([]keyed, len(c.values))
	numeric := true
	for i, v := range c.values {
		all[i] = keyed{ValueCount: v, number: parseNumber(v.Value)}
		all[i].lowest, _ = v.Ranks.Min()
		numeric = numeric && all[i].number.class != text
	}
	slices.SortFunc(all, func(a, b keyed) int {
		if order := a.number.compare(b.number); numeric && order != 0 {
			return order
		}
		return cmp.Or(cmp.Compare(a.lowest, b.lowest), strings.Compare(a.Value, b.Value))
	})
	var out []ValueCount
	for _, k := range all {
		out = append(out, k.ValueCount)
	}
	return out
}

// String formats the column for transcripts: "n=1[0-2]|5[3]".
func (c Column) String() string {
	if c.summary != nil {
		return c.Name + "=" + c.summary.String()
	}
	var parts []string
	for _, v := range c.Values() {
		value := v.Value
		if !isPlain(value) {
			value = fmt.Sprintf("%.*q", maxText, value)
		}
		parts = append(parts, value+"["+v.Ranks.String()+"]")
	}
	return c.Name + "=" + strings.Join(parts, "|")
}

// maxText is the number of bytes of a value that String shows.
const maxText = 256

// isPlain reports whether String shows a value unchanged.
func isPlain(value string) bool {
	odd := func(r rune) bool { return !unicode.IsPrint(r) || strings.ContainsRune("[]|", r) }
	return len(value) <= maxText && utf8.ValidString(value) && !strings.ContainsFunc(value, odd)
}

// Only returns the part of a column that concerns some ranks. A column whose values
// were dropped cannot be split and is returned unchanged.
func (c Column) Only(ranks rank.Set) Column {
	if !c.Complete() {
		return c
	}
	out := Column{Name: c.Name}
	for _, v := range c.values {
		out = out.Merge(Of(c.Name, v.Ranks.Intersect(ranks), v.Value, c.limit))
	}
	return out
}
