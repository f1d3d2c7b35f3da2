// Quantiles and histograms of a column.

package column

import (
	"cmp"
	"math"
	"slices"
)

// spread is a sorted list of numbers with the number of ranks of each.
type spread struct {
	points []counted
	total  int
	// wide: a point represents all numbers up to its end.
	wide bool
}

type counted struct {
	from, to float64
	count    int
}

// spread returns the finite numbers of the column: the values while it is complete,
// else the bins.
func (c Column) spread() spread {
	var out spread
	if c.summary == nil {
		for _, v := range c.values {
			if n := parseNumber(v.Value); n.class == finite {
				out.add(n.f, n.f, v.Ranks.Len())
			}
		}
		slices.SortFunc(out.points, func(a, b counted) int { return cmp.Compare(a.from, b.from) })
		return out
	}
	s := c.summary.bins
	out.wide = s.shift > firstShift
	for _, b := range s.list {
		from, to := s.edges(b)
		if !out.wide {
			from, to = s.inner(b), s.inner(b)
		}
		out.add(from, to, b.count)
	}
	if n := len(out.points); n > 0 && len(c.summary.low) > 0 {
		low, high := c.summary.low[0].number.f, c.summary.high[0].number.f
		for i := range out.points { // limit the outermost bins to the range of the numbers
			out.points[i].from = min(max(out.points[i].from, low), high)
			out.points[i].to = min(max(out.points[i].to, low), high)
		}
	}
	return out
}

func (s *spread) add(from, to float64, n int) {
	s.points = append(s.points, counted{from, to, n})
	s.total += n
}

// Quantile returns the least number such that a fraction q of the finite numbers is
// not greater: 0.5 is the median. A number counts once for each of its ranks. While
// the column is complete the result is one of the numbers. Afterwards its error may
// be 0.8 % for a few hundred different numbers and 3 % if they range over six
// decades; if there are few, whole numbers up to 128 are exact. It returns false if
// there are no numbers.
func (c Column) Quantile(q float64) (float64, bool) {
	all := c.spread()
	return all.quantile(q)
}

func (s spread) quantile(q float64) (float64, bool) {
	if s.total == 0 {
		return 0, false
	}
	want := min(max(int(math.Ceil(q*float64(s.total))), 1), s.total)
	before := 0
	for _, p := range s.points {
		if before+p.count < want {
			before += p.count
			continue
		}
		share := (float64(want-before) - 0.5) / float64(p.count)
		return between(p.from, p.to, share), true
	}
	return s.points[len(s.points)-1].to, true
}

// between interpolates from one number to another. Its result is always between the
// two and never decreases when share grows, however close they are, because each
// operation rounds monotonically.
func between(from, to, share float64) float64 {
	way := to - from
	if math.IsInf(way, 0) { // halves, because the difference overflows
		return min(max(2*(from/2+(to/2-from/2)*share), from), to)
	}
	return min(max(from+way*share, from), to)
}

// Bar is one of the steps of equal width of a histogram.
type Bar struct {
	From, To float64 // To is excluded, except in the last step
	Count    int     // ranks
}

// Histogram counts the finite numbers in up to n steps of equal width. If all
// numbers are whole, there are at most as many steps as whole numbers between the
// least and the greatest; if they are very close, at most as many as floats. The
// counts add up to the number of numbers; after the values were dropped each count
// may have the error of a quantile. There are no steps if there are no numbers, and
// one if all are equal.
func (c Column) Histogram(n int) []Bar {
	all := c.spread()
	if all.total == 0 || n < 1 {
		return nil
	}
	from, to := all.points[0].from, all.points[len(all.points)-1].to
	if from == to {
		return []Bar{{from, to, all.total}}
	}
	whole := to/2-from/2 < float64(n)/2 && !all.wide && all.whole()
	if whole {
		n = int(to-from) + 1
	}
	step := func(i int) float64 { return between(from, to, float64(i)/float64(n)) }
	if whole {
		step = func(i int) float64 { return from + float64(i) }
	}
	return all.bars(n, step)
}

// bars counts the numbers between ascending steps. It omits steps of zero width.
func (s spread) bars(n int, step func(i int) float64) []Bar {
	bars := make([]Bar, 0, n)
	before := 0
	for i := range n {
		b := Bar{From: step(i), To: step(i + 1)}
		through := s.total
		if i < n-1 {
			if b.To <= b.From {
				continue
			}
			through = max(s.below(b.To), before)
		}
		b.Count = through - before
		before = through
		bars = append(bars, b)
	}
	return bars
}

func (s spread) whole() bool {
	return !slices.ContainsFunc(s.points, func(p counted) bool { return p.from != math.Trunc(p.from) })
}

// below returns the approximate number of numbers less than f.
func (s spread) below(f float64) int {
	n := 0.0
	for _, p := range s.points {
		switch {
		case p.from >= f:
			return int(math.Round(n))
		case p.to <= f:
			n += float64(p.count)
		default:
			n += float64(p.count) * ((f/2 - p.from/2) / (p.to/2 - p.from/2)) // halves: avoids overflow
		}
	}
	return int(math.Round(n))
}
