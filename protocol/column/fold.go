// Folds: structures, arrays and pointers of the same shape, merged member by
// member.

package column

import (
	"cmp"
	"slices"
	"strings"

	"sdm/protocol/rank"
	"sdm/protocol/shape"
)

const (
	// maxFolds is the number of shapes that a summary keeps. If there are more, all
	// are dropped.
	maxFolds = 8
	// maxFields bounds the fields of all folds.
	maxFields = shape.MaxLeaves
	// maxVaried bounds the fields that differ between ranks: each takes at most 0.5
	// KiB in a packet.
	maxVaried = 4096
)

// Fold summarizes the values of one shape. It is a function of the pairs (rank,
// value), and immutable.
type Fold struct {
	template string
	ranks    rank.Set // ranks with a value of this shape
	distinct sketch   // distinct values
	fields   []Field  // one for each leaf
}

// folds are the folds of a column, sorted by template. The zero value has none: no
// value has a shape that is worth folding.
type folds struct {
	list    []Fold
	dropped bool // there were too many shapes
}

// shaped returns the shape of a value; false if it has none, or is a single leaf
// that is not an address: a number, a name, a text.
func shaped(value string) (template string, leaves []string, ok bool) {
	if parseNumber(value).class != text {
		return "", nil, false
	}
	template, leaves, ok = shape.Of(value)
	if !ok || len(leaves) == 0 || shape.Single(template) && !strings.HasPrefix(value, "0x") {
		return "", nil, false
	}
	return template, leaves, true
}

// valueGroup is the values of one shape.
type valueGroup struct {
	template string
	hashes   []uint64
	leaves   [][]string
	ranks    []rank.Set
}

// foldsOf folds distinct values; bare removes addresses from leaves.
func foldsOf(values []ValueCount, bare func(string) string) folds {
	var groups []*valueGroup
	for _, v := range values {
		template, leaves, ok := shaped(v.Value)
		if !ok {
			continue
		}
		i := slices.IndexFunc(groups, func(s *valueGroup) bool { return s.template == template })
		if i < 0 {
			if len(groups) == maxFolds {
				return folds{dropped: true}
			}
			i = len(groups)
			groups = append(groups, &valueGroup{template: template})
		}
		s := groups[i]
		s.hashes, s.leaves, s.ranks = append(s.hashes, hash(v.Value)), append(s.leaves, leaves), append(s.ranks, v.Ranks)
	}
	var out folds
	for _, s := range groups {
		out.list = append(out.list, s.fold(bare))
	}
	slices.SortFunc(out.list, func(a, b Fold) int { return strings.Compare(a.template, b.template) })
	return out.bounded()
}

func (s *valueGroup) fold(bare func(string) string) Fold {
	f := Fold{template: s.template, distinct: newSketch(s.hashes), ranks: unionOf(s.ranks),
		fields: make([]Field, len(s.leaves[0]))}
	texts := make([]string, len(s.leaves))
	for i := range f.fields {
		for j, leaves := range s.leaves {
			texts[j] = leaves[i]
		}
		f.fields[i] = fieldOf(texts, s.ranks, bare)
	}
	return f
}

// unionOf joins sets, adjacent ones first, so that few intermediate sets are
// fragmented.
func unionOf(sets []rank.Set) rank.Set {
	if len(sets) == 1 {
		return sets[0]
	}
	sets = slices.Clone(sets)
	slices.SortFunc(sets, func(a, b rank.Set) int {
		x, _ := a.Min()
		y, _ := b.Min()
		return cmp.Compare(x, y)
	})
	for n := len(sets); n > 1; n = (n + 1) / 2 {
		for i := range n / 2 {
			sets[i] = sets[2*i].Union(sets[2*i+1])
		}
		if n%2 == 1 {
			sets[n/2] = sets[n-1]
		}
	}
	return sets[0]
}

// bounded drops the folds if there are too many.
func (f folds) bounded() folds {
	if len(f.list) > maxFolds || !f.fits() {
		return folds{dropped: true}
	}
	return f
}

// fits reports whether the fields are within their limits. Merging never decreases their number,
// nor the number of those that differ, so the order of merging does not matter.
func (f folds) fits() bool {
	fields, varied := 0, 0
	for _, x := range f.list {
		fields += len(x.fields)
		for i := range x.fields {
			if x.fields[i].varied != nil {
				varied++
			}
		}
	}
	return fields <= maxFields && varied <= maxVaried
}

func (f folds) merge(g folds) folds {
	if f.dropped || g.dropped {
		return folds{dropped: true}
	}
	var out folds
	a, b := f.list, g.list
	for len(a) > 0 && len(b) > 0 {
		switch order := strings.Compare(a[0].template, b[0].template); {
		case order < 0:
			out.list, a = append(out.list, a[0]), a[1:]
		case order > 0:
			out.list, b = append(out.list, b[0]), b[1:]
		default:
			out.list = append(out.list, a[0].merge(b[0]))
			a, b = a[1:], b[1:]
		}
	}
	out.list = append(append(out.list, a...), b...)
	return out.bounded()
}

// merge merges two folds with the same template.
func (f Fold) merge(g Fold) Fold {
	out := Fold{template: f.template, ranks: f.ranks.Union(g.ranks), distinct: f.distinct.merge(g.distinct),
		fields: make([]Field, len(f.fields))}
	for i := range out.fields {
		out.fields[i] = f.fields[i].merge(f.ranks, g.fields[i], g.ranks)
	}
	return out
}

func (f folds) size() int {
	n := 0
	for _, x := range f.list {
		n += len(x.template) + x.ranks.Size() + x.distinct.size()
		for i := range x.fields {
			n += x.fields[i].size()
		}
	}
	return n
}

// Folds returns the folds of the values, those with the most ranks first; nil if a
// value has no shape that is worth folding, or there are too many shapes.
func (c Column) Folds() []Fold { return c.foldsBy(shape.Bare) }

// FoldsInHex is Folds for values in hexadecimal format, where a number looks like
// an address. It cannot distinguish them if the values were dropped.
func (c Column) FoldsInHex() []Fold { return c.foldsBy(func(leaf string) string { return leaf }) }

func (c Column) foldsBy(bare func(string) string) []Fold {
	all := folds{}
	if c.summary != nil {
		all = c.summary.folds
	} else if !c.numbersOnly() {
		all = foldsOf(c.values, bare)
	}
	n := 0
	for _, f := range all.list {
		n += f.ranks.Len()
	}
	if n < c.Count() {
		return nil
	}
	out := slices.Clone(all.list)
	slices.SortStableFunc(out, func(a, b Fold) int {
		x, _ := a.ranks.Min()
		y, _ := b.ranks.Min()
		return cmp.Or(cmp.Compare(b.ranks.Len(), a.ranks.Len()), cmp.Compare(x, y))
	})
	return out
}

// numbersOnly reports whether no value can have a shape.
func (c Column) numbersOnly() bool {
	return !slices.ContainsFunc(c.values, func(v ValueCount) bool { return parseNumber(v.Value).class == text })
}

// Ranks returns the ranks with a value of this shape.
func (f Fold) Ranks() rank.Set { return f.ranks }

// Distinct returns the number of distinct values of this shape, as Column.Distinct
// does.
func (f Fold) Distinct() (n int, exact bool) {
	n, exact = f.distinct.count()
	return min(n, f.ranks.Len()), exact
}

// Fields returns the leaves of the values, in order.
func (f Fold) Fields() []Field { return f.fields }

// Flat reports whether the values have no members: they are pointers, with or
// without a type.
func (f Fold) Flat() bool { return shape.Flat(f.template) }

// Paths returns the paths of the fields as a program would write them: "x", "w[2]",
// "in.y".
func (f Fold) Paths() []string { return shape.Paths(f.template) }

// Text returns the text of a value, given a text for each of its fields.
func (f Fold) Text(field func(Field) string) string {
	leaves := make([]string, len(f.fields))
	for i, x := range f.fields {
		leaves[i] = field(x)
	}
	return shape.Join(f.template, leaves)
}
