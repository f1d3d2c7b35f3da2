// Statistics, and differences from the majority.

package text

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"sdm/protocol"
	"sdm/protocol/column"
	"sdm/protocol/pattern"
	"sdm/protocol/rank"
)

// statistics writes statistics of the numbers of an expression: a line of figures, one of
// quantiles, then the values if they are few, otherwise the extremes and a histogram.
//
//	[0-7]
//	x = 0..7  mean 3.5  deviation 2.29129  (8 values)
//	min 0 [0]  5% 0  25% 1  median 3  75% 5  95% 7  max 7 [7]
//	0 [0], 1 [1], 2 [2], 3 [3], 4 [4], 5 [5], 6 [6], 7 [7]
func statistics(w *Writer, a Asked, g protocol.Group) []answer {
	if x, ok := arrayFigures(a, g); ok {
		return []answer{x}
	}
	c, ok := columns(g)["value"]
	if !ok || a.Full {
		return printed(w, a, g)
	}
	return []answer{{ranks: g.Ranks, lines: append([]string{expression(a, g) + " = " + c.figures()}, c.statLines()...)}}
}

// statLines returns the lines after the figures.
func (c view) statLines() []string {
	switch {
	case c.stats.Numbers == 0:
		return c.counts()
	case len(c.values) == 1:
		return []string{c.quantiles()}
	case c.values != nil && len(c.values) <= maxCounted:
		return []string{c.quantiles(), c.listed()}
	}
	return slices.Concat([]string{c.quantiles()}, c.outliers(), bars(c.Described().Bars()))
}

// maxCounted is the maximal number of distinct numbers that are listed: the number of lines of a
// histogram.
const maxCounted = 10

// listed returns the values and their ranks in one line.
func (c view) listed() string {
	var parts []string
	for _, v := range c.values {
		parts = append(parts, v.Value+" ["+clipped(v.Ranks)+"]")
	}
	return strings.Join(parts, ", ")
}

// counts returns a line for each value that is not a number, such as a constant of an enumeration,
// with the number of its ranks, sorted by that.
func (c view) counts() []string {
	if len(c.values) < 2 {
		return nil
	}
	all := slices.Clone(c.values)
	slices.SortStableFunc(all, func(a, b column.ValueCount) int { return b.Ranks.Len() - a.Ranks.Len() })
	width := len(strconv.Itoa(all[0].Ranks.Len()))
	var lines []string
	for _, v := range all {
		n := strconv.Itoa(v.Ranks.Len())
		lines = append(lines, "  "+strings.Repeat(" ", width-len(n))+n+"  "+oneLine(v.Value)+" ["+clipped(v.Ranks)+"]")
	}
	return lines
}

// oneLine truncates a value to one line.
func oneLine(value string) string {
	short, _, cut := strings.Cut(value, "\n")
	if runes := []rune(short); len(runes) > widest {
		short, cut = string(runes[:widest]), true
	}
	if cut {
		short += "... (print shows all of it)"
	}
	return short
}

// expression returns the expression of the request.
func expression(a Asked, g protocol.Group) string {
	var body struct {
		Expr string `json:"expr"`
	}
	decode(g.Body, &body)
	if a.Label != "" {
		return a.Label
	}
	return body.Expr
}

// figures returns "0..7  mean 3.5  deviation 2.29129  (8 values)", or a text if there are no
// numbers.
func (c view) figures() string {
	if c.stats.Numbers == 0 {
		if s, ok := c.single(); ok {
			return s
		}
		return "(" + c.count() + ", none of them a number" + choose(c.Complete(), "", "; print shows them") + ")"
	}
	parts := []string{c.span(), "mean " + short(c.stats.Mean), "deviation " + short(c.stats.StdDev)}
	parts = append(parts, c.excluded()...)
	return strings.Join(append(parts, "("+c.count()+")"), "  ")
}

// excluded returns the counts of values that are not included in the figures: "2 NaN [3,5]".
func (c view) excluded() []string {
	var parts []string
	for _, t := range []struct {
		column.Tally
		what string
	}{
		{c.stats.NaN, "NaN"},
		{c.stats.Inf, "infinite"},
		{column.Tally{Count: c.stats.Count - c.stats.Numbers - c.stats.NaN.Count - c.stats.Inf.Count}, "no number"},
	} {
		if t.Count > 0 {
			parts = append(parts, strings.TrimSpace(strconv.Itoa(t.Count)+" "+t.what+" "+holders(t.Tally)))
		}
	}
	return parts
}

// holders returns "[3,5]", or "[0-7,…]" if not all ranks are known.
func holders(t column.Tally) string {
	if t.Ranks.IsEmpty() {
		return ""
	}
	more := ""
	if t.Ranks.Len() < t.Count {
		more = ",…"
	}
	return "[" + clipped(t.Ranks) + more + "]"
}

// quantiles returns "min 0 [0]  5% 0  25% 1  median 3  75% 5  95% 7  max 7 [7]".
func (c view) quantiles() string {
	parts := []string{"min " + outermost(c.stats.Lowest[0])}
	for _, q := range []struct {
		at   float64
		name string
	}{{0.05, "5%"}, {0.25, "25%"}, {0.5, "median"}, {0.75, "75%"}, {0.95, "95%"}} {
		f, _ := c.Quantile(q.at)
		parts = append(parts, q.name+" "+short(f))
	}
	return strings.Join(append(parts, "max "+outermost(c.stats.Highest[0])), "  ")
}

// outermost returns a number and the lowest rank that has it.
func outermost(e column.Extreme) string {
	lowest, _ := e.Ranks.Min()
	return e.Value + " [" + rank.Of(lowest).String() + "]"
}

// outliers returns the lowest and highest numbers with their ranks, if there are others.
func (c view) outliers() []string {
	if n := len(c.stats.Lowest); n < 4 || c.distinct <= n {
		return nil
	}
	line := func(what string, all []column.Extreme) string {
		var parts []string
		for _, e := range all {
			parts = append(parts, e.Value+" "+holders(e.Tally))
		}
		return what + " " + strings.Join(parts, ", ")
	}
	return []string{line("lowest", c.stats.Lowest), line("highest", c.stats.Highest)}
}

// widestBar is the number of characters of the longest bar.
const widestBar = 40

// bars draws a histogram: the lower bound of a step, its bar, its count.
func bars(all []column.Bar) []string {
	if len(all) < 2 {
		return nil
	}
	most, widest := 1, 0
	labels := make([]string, len(all))
	for i, b := range all {
		most = max(most, b.Count)
		labels[i] = strconv.FormatFloat(b.From, 'g', 4, 64)
		if b.From == math.Trunc(b.From) && math.Abs(b.From) < 1e9 {
			labels[i] = strconv.FormatFloat(b.From, 'f', 0, 64)
		}
		widest = max(widest, len(labels[i]))
	}
	var lines []string
	for i, b := range all {
		n := (b.Count*widestBar + most - 1) / most // at least one for a count of one
		bar := strings.Repeat("█", max(n, 0))
		if n > 0 {
			bar += " "
		}
		lines = append(lines, "  "+strings.Repeat(" ", widest-len(labels[i]))+labels[i]+"  "+bar+strconv.Itoa(b.Count))
	}
	return lines
}

// short formats a number with six significant digits; more would be noise.
func short(f float64) string { return strconv.FormatFloat(f, 'g', 6, 64) }

// partly matches a truncated value.
var partly = pattern.New(`\.\.\.(?:[})\s,]|$)`)

// differences writes which ranks have the value of the majority and which have not. Answers of
// expand do not name a majority.
//
//	[0-6] (7) n = 0, as the majority
//	[7] n = 5
func differences(w *Writer, a Asked, g protocol.Group) []answer {
	var body struct {
		Side      string  `json:"side"`
		Tolerance float64 `json:"tolerance"`
	}
	if parts, ok := arrayDifferences(g); ok {
		return parts
	}
	decode(g.Body, &body)
	parts := printed(w, a, g)
	if c := columns(g)["value"]; body.Side == "majority" && body.Tolerance > 0 && c.distinct > 1 {
		text := expression(a, g) + " = " + c.summarized("") + ", the same within " + short(body.Tolerance)
		parts = []answer{{ranks: g.Ranks, lines: []string{text}}}
	}
	switch body.Side {
	case "majority":
		last := &parts[0].lines[len(parts[0].lines)-1]
		if partly.MatchString(*last) {
			*last += ", in what is shown"
		}
		*last += ", as the majority"
	case "others":
		for i := range parts {
			parts[i].bad = true
		}
	case "none":
		parts = append([]answer{{ranks: g.Ranks, lines: []string{"no value of " + expression(a, g) + " is that of more than half of the ranks"}}}, parts...)
	}
	return parts
}
