package text

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"sdm/protocol"
	"sdm/protocol/column"
	"sdm/protocol/rank"
)

// statistics writes what the numbers of an expression are like: a line of
// figures, one of quantiles, then the values where they are few, or else who is
// outermost and a histogram.
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

// statLines are those below the figures.
func (c view) statLines() []string {
	switch {
	case c.stats.Numbers == 0:
		return c.counts()
	case len(c.values) == 1:
		return []string{c.quantiles()}
	case c.values != nil && len(c.values) <= mostCounted:
		return []string{c.quantiles(), c.listed()}
	}
	return slices.Concat([]string{c.quantiles()}, c.outliers(), bars(c.Described().Bars()))
}

// mostCounted is how many distinct numbers stand there themselves: no more than a histogram has lines.
const mostCounted = 10

// listed gives the values and their ranks in a line.
func (c view) listed() string {
	var parts []string
	for _, v := range c.values {
		parts = append(parts, v.Value+" ["+clipped(v.Ranks)+"]")
	}
	return strings.Join(parts, ", ")
}

// counts gives a line for each value that is no number, such as a constant of an enumeration, with the number of its
// ranks: the most frequent one first.
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

// oneLine gives the beginning of a value where it is long, and a mark.
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

// expression is what was asked for.
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

// figures gives "0..7  mean 3.5  deviation 2.29129  (8 values)", or what else
// there is.
func (c view) figures() string {
	if c.stats.Numbers == 0 {
		if s, ok := c.single(); ok {
			return s
		}
		return "(" + c.count() + ", none of them a number" + choose(c.Complete(), "", "; print shows them") + ")"
	}
	parts := []string{c.span(), "mean " + short(c.stats.Mean), "deviation " + short(c.stats.StdDev)}
	parts = append(parts, c.strangers()...)
	return strings.Join(append(parts, "("+c.count()+")"), "  ")
}

// strangers are the counts of what no figure has in it: "2 NaN [3,5]".
func (c view) strangers() []string {
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

// holders gives "[3,5]", or "[0-7,...]" when there are more than are known.
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

// quantiles gives "min 0 [0]  5% 0  25% 1  median 3  75% 5  95% 7  max 7 [7]".
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

// outermost gives a number and the lowest rank that has it.
func outermost(e column.Extreme) string {
	lowest, _ := e.Ranks.Min()
	return e.Value + " [" + rank.Of(lowest).String() + "]"
}

// outliers gives the lowest and highest numbers with their ranks, where there
// are more than these can show.
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

// widestBar is how many signs the longest bar has.
const widestBar = 40

// bars draws a histogram: where a step begins, its bar, its count.
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
		n := (b.Count*widestBar + most - 1) / most // one rank is seen, too
		bar := strings.Repeat("█", max(n, 0))
		if n > 0 {
			bar += " "
		}
		lines = append(lines, "  "+strings.Repeat(" ", widest-len(labels[i]))+labels[i]+"  "+bar+strconv.Itoa(b.Count))
	}
	return lines
}

// short gives a number with six significant digits: more would be noise on a
// screen.
func short(f float64) string { return strconv.FormatFloat(f, 'g', 6, 64) }

// partly is a value of which something was cut off.
var partly = regexp.MustCompile(`\.\.\.(?:[})\s,]|$)`)

// differences writes who has the value of the majority and who has not. Answers
// that say nothing of a majority are those of expand.
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
