// One leaf of the values of a fold.

package column

import (
	"slices"
	"strings"

	"sdm/protocol/rank"
	"sdm/protocol/shape"
)

// maxKept is the number of distinct texts of a field that are kept with their
// ranks.
const maxKept = 8

// Field summarizes one leaf of the values: one text if all ranks have the same,
// else a summary of the texts. In that summary addresses are ignored: 0x5581a0
// <buf+16> and 0x7f31a0 <buf+16> are both <buf+16>, and all addresses without a
// known symbol are shape.Address.
type Field struct {
	same   string // the text of all ranks, if varied is nil
	varied *varied
}

// varied summarizes texts that differ.
type varied struct {
	raw    sketch       // distinct texts, addresses included
	values []ValueCount // without addresses, sorted, at most maxKept; nil after they were dropped
	span   *span        // nil until they are dropped
}

// span is the summary that remains after the texts were dropped.
type span struct {
	numbers   int // ranks with a finite number
	nan, inf  int
	low, high point // if numbers is not 0
}

// fieldOf returns the field of several texts with disjoint ranks; bare removes
// addresses.
func fieldOf(texts []string, ranks []rank.Set, bare func(string) string) Field {
	differ := func(t string) bool { return t != texts[0] }
	if !slices.ContainsFunc(texts, differ) {
		return Field{same: strings.Clone(texts[0])} // a copy, so that the whole value can be freed
	}
	hashes := make([]uint64, len(texts))
	values := make([]ValueCount, len(texts))
	for i, t := range texts {
		hashes[i] = hash(t)
		values[i] = ValueCount{bare(t), ranks[i]}
	}
	v := &varied{raw: newSketch(hashes)}
	slices.SortFunc(values, func(a, b ValueCount) int { return strings.Compare(a.Value, b.Value) })
	if distinctValues(values) > maxKept {
		v.span = spanOf(values)
	} else {
		v.values = joinValues(values)
	}
	return Field{varied: v}
}

// distinctValues counts distinct values in a sorted list.
func distinctValues(values []ValueCount) int {
	n := min(len(values), 1)
	for i := 1; i < len(values); i++ {
		if values[i].Value != values[i-1].Value {
			n++
		}
	}
	return n
}

// joinValues merges equal values in a sorted list, in place.
func joinValues(values []ValueCount) []ValueCount {
	n := 0
	var sets []rank.Set
	for i := 0; i < len(values); n++ {
		sets = sets[:0]
		j := i
		for ; j < len(values) && values[j].Value == values[i].Value; j++ {
			sets = append(sets, values[j].Ranks)
		}
		values[n] = ValueCount{strings.Clone(values[i].Value), unionOf(sets)}
		i = j
	}
	return slices.Clip(values[:n])
}

// bounded drops the values if there are too many.
func (v varied) bounded() *varied {
	if len(v.values) > maxKept {
		v.span, v.values = spanOf(v.values), nil
	}
	return &v
}

func spanOf(values []ValueCount) *span {
	s := &span{}
	for _, v := range values {
		n := v.Ranks.Len()
		switch number := parseNumber(v.Value); number.class {
		case nan:
			s.nan += n
		case plusInf, minusInf:
			s.inf += n
		case finite:
			s.numbers += n
			s.widen(v, number)
		}
	}
	s.low.Value, s.high.Value = strings.Clone(s.low.Value), strings.Clone(s.high.Value)
	return s
}

// widen adds one value that is a number.
func (s *span) widen(v ValueCount, number number) {
	low, high := -1, -1
	if s.low.Count > 0 {
		low, high = number.compare(s.low.number), s.high.number.compare(number)
	}
	if low > 0 && high > 0 {
		return
	}
	p := point{Extreme{v.Value, Tally{v.Ranks.Len(), v.Ranks.First(maxTallyRanks)}}, number}
	if s.low.Count == 0 {
		s.low, s.high = p, p
		return
	}
	s.low, s.high = outerOf(s.low, p, point.compare), outerOf(s.high, p, point.compareDown)
}

func (s *span) merge(t *span) *span {
	out := &span{numbers: s.numbers + t.numbers, nan: s.nan + t.nan, inf: s.inf + t.inf, low: s.low, high: s.high}
	switch {
	case t.numbers == 0:
	case s.numbers == 0:
		out.low, out.high = t.low, t.high
	default:
		out.low = outerOf(s.low, t.low, point.compare)
		out.high = outerOf(s.high, t.high, point.compareDown)
	}
	return out
}

// outerOf returns the point that is first in the order of compare.
func outerOf(p, q point, compare func(p, q point) int) point {
	switch order := compare(p, q); {
	case order < 0:
		return p
	case order > 0:
		return q
	}
	return p.join(q)
}

// merge merges two fields of the same leaf.
func (f Field) merge(ranks rank.Set, g Field, others rank.Set) Field {
	if f.varied == nil && g.varied == nil && f.same == g.same {
		return f
	}
	v, w := f.spread(ranks), g.spread(others)
	out := varied{raw: v.raw.merge(w.raw)}
	if v.span == nil && w.span == nil {
		out.values = mergeValues(v.values, w.values)
		return Field{varied: out.bounded()}
	}
	out.span = v.spanned().merge(w.spanned())
	return Field{varied: &out}
}

// spread returns a field as one whose texts differ.
func (f Field) spread(ranks rank.Set) *varied {
	if f.varied != nil {
		return f.varied
	}
	return &varied{raw: sketch{hashes: []uint64{hash(f.same)}}, values: []ValueCount{{shape.Bare(f.same), ranks}}}
}

func (v *varied) spanned() *span {
	if v.span != nil {
		return v.span
	}
	return spanOf(v.values)
}

func (f Field) size() int {
	const each, extremes = 48, 200
	n := each + len(f.same)
	if v := f.varied; v != nil {
		n += v.raw.size()
		for _, x := range v.values {
			n += each + len(x.Value) + x.Ranks.Size()
		}
		if v.span != nil {
			n += extremes
		}
	}
	return n
}

// Same returns the text that all ranks have, including the address.
func (f Field) Same() (string, bool) { return f.same, f.varied == nil }

// Values returns the distinct texts without addresses, as Column.Values does; nil
// if all texts are the same or there are too many.
func (f Field) Values() []ValueCount {
	if f.varied == nil {
		return nil
	}
	return Column{values: f.varied.values}.Values()
}

// Distinct returns the number of distinct texts, addresses included, as
// Column.Distinct does.
func (f Field) Distinct() (n int, exact bool) {
	if f.varied == nil {
		return 1, true
	}
	return f.varied.raw.count()
}

// Range returns the lowest and the highest number; false if there is none, or if
// some texts are not numbers.
func (f Field) Range(of rank.Set) (low, high Extreme, ok bool) {
	if f.varied == nil {
		return Extreme{}, Extreme{}, false
	}
	s := f.varied.spanned()
	return s.low.Extreme, s.high.Extreme, s.numbers > 0 && s.numbers == of.Len()
}
