// The summary of a column whose values were dropped.

package column

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"sdm/protocol/rank"
	"sdm/protocol/shape"
)

const (
	// maxExtremes is the number of distinct lowest and highest numbers that are
	// kept.
	maxExtremes = 4
	// maxTallyRanks is the number of ranks that are kept for each.
	maxTallyRanks = 8
)

// Tally is a count of ranks with the lowest of them.
type Tally struct {
	Count int
	Ranks rank.Set // the lowest 8
}

// Extreme is one of the lowest or highest numbers of a column.
type Extreme struct {
	Value string // as printed for the lowest of its ranks
	Tally
}

// summary is a summary of bounded size. It is a function of the pairs (rank,
// value), and merge computes the summary of two disjoint sets of pairs from their
// summaries. It is immutable.
type summary struct {
	count     int // ranks
	distinct  sketch
	numbers   int // ranks with a finite number
	nan, inf  Tally
	low, high []point // outermost first
	sum       exact   // of the finite numbers
	squares   exact
	bins      bins  // of the finite numbers
	votes     votes // of all
	folds     folds // of texts that have a shape
}

// size returns the approximate memory of the summary, in bytes.
func (s *summary) size() int {
	const fixed, each = 1 << 10, 16 // fixed: votes, sums, extremes with at most 8 ranks; each: a bin
	return fixed + each*len(s.bins.list) + s.distinct.size() + s.folds.size()
}

// point is an Extreme with its value as a number.
type point struct {
	Extreme
	number number
}

// summarize returns the summary of values with their ranks.
func summarize(values []ValueCount) *summary {
	s := &summary{}
	hashes := make([]uint64, 0, len(values))
	var points []point
	var spread []bin
	var whole wholeSums
	var texts []ValueCount
	for _, v := range values {
		n := v.Ranks.Len()
		tally := Tally{n, v.Ranks.First(maxTallyRanks)}
		s.count += n
		hashes = append(hashes, hash(v.Value))
		s.votes.cast(v.Value, n)
		switch number := parseNumber(v.Value); number.class {
		case nan:
			s.nan = s.nan.merge(tally)
		case plusInf, minusInf:
			s.inf = s.inf.merge(tally)
		case text:
			texts = append(texts, v)
		case finite:
			s.numbers += n
			if !whole.add(number, n) {
				x := newExact(number)
				s.sum = s.sum.add(x.times(n))
				s.squares = s.squares.add(x.squared().times(n))
			}
			points = append(points, point{Extreme{v.Value, tally}, number})
			spread = append(spread, binOf(number.f, n))
		}
	}
	s.sum, s.squares = s.sum.add(wholeExact(whole.sum)), s.squares.add(wholeExact(whole.squares))
	s.distinct = newSketch(hashes)
	s.folds = foldsOf(texts, shape.Bare)
	if len(spread) > 0 {
		s.bins = newBins(spread)
	}
	s.low = outermost(points, point.compare)
	s.high = outermost(points, point.compareDown)
	return s
}

func (s *summary) merge(t *summary) *summary {
	return &summary{
		count:    s.count + t.count,
		distinct: s.distinct.merge(t.distinct),
		numbers:  s.numbers + t.numbers,
		nan:      s.nan.merge(t.nan),
		inf:      s.inf.merge(t.inf),
		low:      mergePoints(s.low, t.low, point.compare),
		high:     mergePoints(s.high, t.high, point.compareDown),
		sum:      s.sum.add(t.sum),
		squares:  s.squares.add(t.squares),
		bins:     s.bins.merge(t.bins),
		votes:    s.votes.merge(t.votes),
		folds:    s.folds.merge(t.folds),
	}
}

func (t Tally) merge(u Tally) Tally {
	if t.Count == 0 {
		return u
	}
	if u.Count == 0 {
		return t
	}
	if covers(u.Ranks, t.Ranks) {
		t, u = u, t
	}
	if covers(t.Ranks, u.Ranks) { // usual for two subtrees; avoids the union
		return Tally{t.Count + u.Count, t.Ranks}
	}
	return Tally{t.Count + u.Count, t.Ranks.Union(u.Ranks).First(maxTallyRanks)}
}

// covers reports whether s has the maximum number of ranks and t has no lower one.
func covers(s, t rank.Set) bool {
	last, _ := s.Max()
	first, _ := t.Min()
	return last < first && s.Len() == maxTallyRanks
}

func (p point) compare(q point) int     { return p.number.compare(q.number) }
func (p point) compareDown(q point) int { return q.number.compare(p.number) }

// outermost returns the first maxExtremes points in the order of compare, equal
// ones merged. It does not modify the list and keeps no reference to it.
func outermost(points []point, compare func(p, q point) int) []point {
	var out []point
	for _, p := range points {
		at := len(out)
		for at > 0 && compare(p, out[at-1]) < 0 {
			at--
		}
		switch {
		case at > 0 && compare(p, out[at-1]) == 0:
			out[at-1] = out[at-1].join(p)
		case at == maxExtremes:
		case len(out) == maxExtremes:
			copy(out[at+1:], out[at:])
			out[at] = p
		default:
			out = slices.Insert(out, at, p)
		}
	}
	return out
}

// mergePoints merges the outermost points of two parts. A point that is outermost
// in the whole is outermost in each part that has it, so none is missed.
func mergePoints(a, b []point, compare func(p, q point) int) []point {
	if len(b) == 0 || len(a) == maxExtremes && compare(a[len(a)-1], b[0]) < 0 {
		return a
	}
	if len(a) == 0 || len(b) == maxExtremes && compare(b[len(b)-1], a[0]) < 0 {
		return b
	}
	var all [2 * maxExtremes]point
	return outermost(append(append(all[:0], a...), b...), compare)
}

// join merges two points of the same value.
func (p point) join(q point) point {
	low, _ := p.Ranks.Min()
	other, _ := q.Ranks.Min()
	value := p.Value
	if order := cmp.Compare(other, low); order < 0 || order == 0 && q.Value < value {
		value = q.Value
	}
	return point{Extreme{value, p.Tally.merge(q.Tally)}, p.number}
}

// String formats the summary for transcripts.
func (s *summary) String() string {
	n, exact := s.distinct.count()
	about := ""
	if !exact {
		about = "~"
	}
	text := fmt.Sprintf("<%s%d values of %d ranks", about, min(n, s.count), s.count)
	if s.numbers > 0 {
		text += fmt.Sprintf(", %s[%v]..%s[%v] mean %s", s.low[0].Value, s.low[0].Ranks,
			s.high[0].Value, s.high[0].Ranks, strconv.FormatFloat(mean(s.sum, s.numbers), 'g', 6, 64))
	}
	return text + ">"
}
