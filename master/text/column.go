// Columns as text.

package text

import (
	"fmt"
	"strconv"
	"strings"

	"sdm/protocol"
	"sdm/protocol/column"
)

// view is one column of a group, with values that are used repeatedly.
type view struct {
	column.Column
	values   []column.ValueCount // nil if they were dropped
	distinct int
	about    string // "about " before an estimated number
	stats    column.Stats
	hex      bool // printed in hexadecimal: no value is an address
}

// written returns the column for values that were printed in a format, gdb's letters.
func (c view) written(format string) view {
	c.hex = strings.ContainsAny(format, "xz")
	return c
}

// columns returns the columns of a group by name.
func columns(g protocol.Group) map[string]view {
	all := make(map[string]view, len(g.Columns))
	for _, c := range g.Columns {
		x := view{Column: c, values: c.Values(), stats: c.Stats()}
		n, exact := c.Distinct()
		if x.distinct = n; !exact {
			x.about = "about "
		}
		all[c.Name] = x
	}
	return all
}

// single returns the value that all ranks share.
func (c view) single() (string, bool) {
	if len(c.values) == 1 {
		return c.values[0].Value, true
	}
	return "", false
}

// numeric reports whether all values are numbers, including NaN and infinities.
func (c view) numeric() bool {
	return c.stats.Numbers > 0 && c.stats.Numbers+c.stats.NaN.Count+c.stats.Inf.Count == c.stats.Count
}

// span returns "0..7", or the only number.
func (c view) span() string {
	low, high := c.stats.Lowest[0].Value, c.stats.Highest[0].Value
	if low == high {
		return low
	}
	return low + ".." + high
}

// dense reports whether the values are all integers of the span.
func (c view) dense() bool {
	lo, err := strconv.ParseInt(c.stats.Lowest[0].Value, 10, 64)
	hi, err2 := strconv.ParseInt(c.stats.Highest[0].Value, 10, 64)
	return err == nil && err2 == nil && c.about == "" && hi-lo == int64(c.distinct)-1
}

// argument returns the value for a list of arguments: "5", "<0..7>", "<0..7, 7 values>", "<3
// values>".
func (c view) argument() string {
	s, ok := c.single()
	switch {
	case ok:
		return s
	case c.distinct == 0:
		return "?"
	case !c.numeric():
		if text, ok := c.foldedBriefly(); ok {
			return text
		}
		return "<" + c.count() + ">"
	case c.dense():
		return "<" + c.span() + ">"
	}
	return fmt.Sprintf("<%s, %s>", c.span(), c.count())
}

func (c view) count() string {
	if c.distinct == 1 {
		return "1 value"
	}
	return c.about + strconv.Itoa(c.distinct) + " values"
}

// summary returns the text after "n = ": the value, or "0..7  mean 3.5  (8 values; expand for
// all)".
func (c view) summary() string { return c.summarized(expandForAll) }

const expandForAll = "; expand for all"

// spread returns the value for an answer with several values: as summary, or all values if they are
// few and short: "0 [0-2], 10 [3]". folded tells that expand would show more.
func (c view) spread() (text string, folded bool) {
	if text, ok := c.foldedAmong(expandForAll); ok {
		return text, true
	}
	if len(c.values) < 2 || len(c.values) > maxLines {
		return c.summary(), len(c.values) != 1
	}
	var parts []string
	for _, v := range c.values {
		parts = append(parts, v.Value+" ["+clipped(v.Ranks)+"]")
	}
	text = strings.Join(parts, ", ")
	if len(text) > widest || strings.Contains(text, "\n") {
		return c.summary(), true
	}
	return text, false
}

// widest is the maximal length of a spread in one line, in bytes.
const widest = 72

// inEvent is spread for values that expand cannot show: values of events, or parts of an answer.
func (c view) inEvent() string {
	if text, ok := c.foldedAmong(""); ok {
		return text
	}
	if text, folded := c.spread(); !folded {
		return text
	}
	return c.summarized("")
}

func (c view) summarized(hint string) string {
	if s, ok := c.single(); ok {
		return s
	}
	hint = "(" + c.count() + hint + ")"
	if c.stats.Numbers == 0 {
		return hint
	}
	// A mean has six significant digits; more would be noise.
	parts := []string{c.span(), "mean " + strconv.FormatFloat(c.stats.Mean, 'g', 6, 64)}
	for _, more := range []struct {
		n    int
		what string
	}{
		{c.stats.NaN.Count, "NaN"},
		{c.stats.Inf.Count, "infinite"},
		{c.stats.Count - c.stats.Numbers - c.stats.NaN.Count - c.stats.Inf.Count, "no number"},
	} {
		if more.n > 0 {
			parts = append(parts, strconv.Itoa(more.n)+" "+more.what)
		}
	}
	return strings.Join(append(parts, hint), "  ")
}

// Spread returns the values of a column in one line: "5", "0 [0-2], 10 [3]", or "0..7  mean 3.5  (8 values)".
func Spread(c column.Column) string {
	return Clean(columns(protocol.Group{Columns: []column.Column{c}})[c.Name].inEvent())
}
