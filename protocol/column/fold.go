// What texts of one shape have in common: structures, arrays and pointers, member by member.

package column

import (
	"cmp"
	"slices"
	"strings"

	"sdm/protocol/rank"
	"sdm/protocol/shape"
)

const (
	// maxFolds is how many shapes a summary keeps. With one more they are dropped.
	maxFolds = 8
	// maxFields bounds the fields of all of them: 0.5 KiB each at most on the wire, where
	// ranks differ in it.
	maxFields = shape.MaxLeaves
)

// Fold is what values of one shape are like. It is a function of the pairs (rank, value), and
// immutable.
type Fold struct {
	template string
	ranks    rank.Set // that have a value of this shape
	distinct sketch   // of the values
	fields   []Field  // one for each leaf
}

// folds are those of a column, in order of template. The zero value has none: no value has a
// shape worth it.
type folds struct {
	list    []Fold
	dropped bool // there were too many
}

// shaped gives the shape of a value; false where it has none, or is a single leaf which is no
// address: a number, a name, a text.
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

// sheaf is the values of one shape.
type sheaf struct {
	template string
	hashes   []uint64
	leaves   [][]string
	ranks    []rank.Set
}

// foldsOf folds values, which are distinct; bare takes the addresses out of leaves.
func foldsOf(values []ValueCount, bare func(string) string) folds {
	var sheaves []*sheaf
	for _, v := range values {
		template, leaves, ok := shaped(v.Value)
		if !ok {
			continue
		}
		i := slices.IndexFunc(sheaves, func(s *sheaf) bool { return s.template == template })
		if i < 0 {
			if len(sheaves) == maxFolds {
				return folds{dropped: true}
			}
			i = len(sheaves)
			sheaves = append(sheaves, &sheaf{template: template})
		}
		s := sheaves[i]
		s.hashes, s.leaves, s.ranks = append(s.hashes, hash(v.Value)), append(s.leaves, leaves), append(s.ranks, v.Ranks)
	}
	var out folds
	for _, s := range sheaves {
		out.list = append(out.list, s.fold(bare))
	}
	slices.SortFunc(out.list, func(a, b Fold) int { return strings.Compare(a.template, b.template) })
	return out.bounded()
}

func (s *sheaf) fold(bare func(string) string) Fold {
	f := Fold{template: s.template, distinct: newSketch(s.hashes), ranks: unionOf(s.ranks), fields: make([]Field, len(s.leaves[0]))}
	texts := make([]string, len(s.leaves))
	for i := range f.fields {
		for j, leaves := range s.leaves {
			texts[j] = leaves[i]
		}
		f.fields[i] = fieldOf(texts, s.ranks, bare)
	}
	return f
}

// unionOf joins sets, neighbours first: few are in pieces on the way.
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

// bounded drops the folds when there are too many.
func (f folds) bounded() folds {
	n := 0
	for _, x := range f.list {
		n += len(x.fields)
	}
	if len(f.list) > maxFolds || n > maxFields {
		return folds{dropped: true}
	}
	return f
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

// merge joins two folds of one template.
func (f Fold) merge(g Fold) Fold {
	out := Fold{template: f.template, ranks: f.ranks.Union(g.ranks), distinct: f.distinct.merge(g.distinct), fields: make([]Field, len(f.fields))}
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

// Folds gives the shapes of the values, those of the most ranks first; nil where a value has no
// shape worth folding, or there are more shapes than are kept.
func (c Column) Folds() []Fold { return c.foldsBy(shape.Bare) }

// FoldsInHex is Folds for values that were asked for in hexadecimal: what looks like an address is a
// number. Of values that were dropped it is not known.
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

// numbersOnly tells whether no value can have a shape.
func (c Column) numbersOnly() bool {
	return !slices.ContainsFunc(c.values, func(v ValueCount) bool { return parseNumber(v.Value).class == text })
}

// Ranks are those that have a value of this shape.
func (f Fold) Ranks() rank.Set { return f.ranks }

// Distinct is how many different values have this shape, as Column.Distinct tells.
func (f Fold) Distinct() (n int, exact bool) {
	n, exact = f.distinct.count()
	return min(n, f.ranks.Len()), exact
}

// Fields are the leaves of the values, in order.
func (f Fold) Fields() []Field { return f.fields }

// Flat tells that the values have no members: pointers, with or without a type.
func (f Fold) Flat() bool { return shape.Flat(f.template) }

// Paths names the fields as the program would reach them: "x", "w[2]", "in.y".
func (f Fold) Paths() []string { return shape.Paths(f.template) }

// Text gives the value with a text for each of its fields.
func (f Fold) Text(field func(Field) string) string {
	leaves := make([]string, len(f.fields))
	for i, x := range f.fields {
		leaves[i] = field(x)
	}
	return shape.Join(f.template, leaves)
}
