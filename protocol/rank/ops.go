// Operations on two sets.

package rank

import (
	"github.com/bits-and-blooms/bitset"
)

// op is a truth table: bit 0 is unused; bit 1 is the result for a rank in the left
// set only, bit 2 for one in the right set only, bit 3 for one in both.
type op uint8

const (
	opUnion     op = 0b1110
	opIntersect op = 0b1000
	opMinus     op = 0b0010
	opXor       op = 0b0110
)

// Union returns the ranks that are in s or in t.
func (s Set) Union(t Set) Set {
	switch {
	case s.covers(t):
		return s
	case t.covers(s):
		return t
	case s.contiguous() && t.contiguous() && s.first <= t.end && t.first <= s.end:
		return Set{first: min(s.first, t.first), end: max(s.end, t.end)}
	}
	if u, ok := s.followedBy(t); ok {
		return u
	}
	if u, ok := t.followedBy(s); ok {
		return u
	}
	return s.join(t, opUnion, min(s.first, t.first), max(s.end, t.end))
}

// Intersect returns the ranks that are in both s and t.
func (s Set) Intersect(t Set) Set {
	first, end := max(s.first, t.first), min(s.end, t.end)
	switch {
	case first >= end:
		return Set{}
	case s.covers(t):
		return t
	case t.covers(s):
		return s
	case s.contiguous() && t.contiguous():
		return Set{first: first, end: end}
	case s.pace != 0 && t.contiguous() && s.whole(first) && s.whole(end):
		i := s.find(first)
		return s.part(i, s.find(end)-i)
	case t.pace != 0 && s.contiguous():
		return t.Intersect(s)
	}
	return s.join(t, opIntersect, first, end)
}

// whole reports whether a set with a pace can be split before a rank without
// splitting a run.
func (s *Set) whole(id uint32) bool {
	i := s.find(id)
	return i == s.runs() || s.run(i).first >= id
}

// Minus returns the ranks that are in s and not in t.
func (s Set) Minus(t Set) Set {
	switch {
	case s.first >= t.end || t.first >= s.end:
		return s
	case t.covers(s):
		return Set{}
	case t.contiguous() && t.first <= s.first:
		return s.Intersect(Set{first: t.end, end: s.end})
	case t.contiguous() && t.end >= s.end:
		return s.Intersect(Set{first: s.first, end: t.first})
	}
	return s.join(t, opMinus, s.first, s.end)
}

// Xor returns the ranks that are in exactly one of s and t.
func (s Set) Xor(t Set) Set {
	switch {
	case s.end == 0:
		return t
	case t.end == 0:
		return s
	}
	return s.join(t, opXor, min(s.first, t.first), max(s.end, t.end))
}

// followedBy returns the union of s and t if all runs of t follow the runs of s at the same pace,
// as is common for sets of adjacent subtrees.
func (s Set) followedBy(t Set) (Set, bool) {
	if t.first < s.end || s.more != nil || t.more != nil {
		return Set{}, false
	}
	a, b := s.run(s.runs()-1), t.run(0)
	u := Set{first: s.first, end: t.end, pace: paced(b.first-a.first, a.end-a.first)}
	ok := b.first > a.end && b.end-b.first == a.end-a.first && (s.pace == 0 || s.pace == u.pace) &&
		(t.pace == 0 || t.pace == u.pace)
	return u, ok
}

// covers reports, in constant time, whether t is a subset of s; false means
// "unknown".
func (s Set) covers(t Set) bool {
	return t.end == 0 || s.contiguous() && s.first <= t.first && t.end <= s.end
}

// join applies a truth table to two sets; first and end are a hull of the result.
func (s Set) join(t Set, o op, first, end uint32) Set {
	if s.sparse() && t.sparse() {
		return joinRuns(&s, &t, o)
	}
	if s.pace != 0 && !s.sparse() {
		s = s.spelled()
	}
	if t.pace != 0 && !t.sparse() {
		t = t.spelled()
	}
	base := first &^ (wordBits - 1)
	words := make([]uint64, (end-base+wordBits-1)/wordBits)
	s.paint(words, base)
	t.apply(words, base, o)
	return fromWords(base, words)
}

// joinRuns does the same by iterating over the borders of the runs of both sets.
func joinRuns(s, t *Set, o op) Set {
	a, b := walk(s), walk(t)
	var few [32]run
	out := few[:0]
	if n := (a.borders + b.borders) / 2; n > len(few) {
		out = make([]run, 0, n)
	}
	var start uint32
	var state int
	for a.i < a.borders || b.i < b.borders {
		at := min(a.at, b.at)
		if a.at == at {
			a.next()
		}
		if b.at == at {
			b.next()
		}
		now := int(o>>(a.i&1|b.i&1<<1)) & 1
		if now > state {
			start = at
		} else if now < state {
			out = append(out, run{start, at})
		}
		state = now
	}
	return fromRuns(out)
}

// walker iterates over the borders of the runs of a set: the first and the end of
// each.
type walker struct {
	set        *Set
	at         uint32 // the next border; above all ranks at the end
	i, borders int    // number of passed borders, and of all; odd i: within a run
}

func walk(s *Set) walker {
	w := walker{set: s, borders: 2 * s.runs(), i: -1}
	w.next()
	return w
}

func (w *walker) next() {
	w.i++
	switch {
	case w.i >= w.borders:
		w.at = ^uint32(0)
	case w.i&1 == 0:
		w.at = w.set.run(w.i / 2).first
	default:
		w.at = w.set.run(w.i / 2).end
	}
}

// paint sets the bits of the members that are within the words; bit 0 is rank base.
func (s Set) paint(words []uint64, base uint32) {
	if s.bits() != nil {
		dst, src := overlap(words, base, s)
		copy(dst, src)
		return
	}
	s.eachWithin(words, base, func(first, end uint32) { fill(words, first, end) })
}

// apply applies a truth table to words of the left set and this set as the right
// one, within the words.
func (s Set) apply(words []uint64, base uint32, o op) {
	if s.bits() != nil {
		dst, src := overlap(words, base, s)
		left, right := bitset.From(dst), bitset.From(src)
		switch o {
		case opUnion:
			left.InPlaceUnion(right)
		case opIntersect: // the words are within both hulls
			left.InPlaceIntersection(right)
		case opMinus:
			left.InPlaceDifference(right)
		case opXor:
			left.InPlaceSymmetricDifference(right)
		}
		return
	}
	gap := uint32(0)
	s.eachWithin(words, base, func(first, end uint32) {
		switch o {
		case opUnion:
			fill(words, first, end)
		case opIntersect:
			clearBits(words, gap, first)
			gap = end
		case opMinus:
			clearBits(words, first, end)
		case opXor:
			flip(words, first, end)
		}
	})
	if o == opIntersect {
		clearBits(words, gap, uint32(len(words))*wordBits)
	}
}

// eachWithin calls do with the runs of a set that is not represented by bits, cut
// to the words and relative to their base.
func (s Set) eachWithin(words []uint64, base uint32, do func(first, end uint32)) {
	limit := base + uint32(len(words))*wordBits
	for i, n := s.find(base), s.runs(); i < n; i++ {
		r := s.run(i)
		if r.first >= limit {
			return
		}
		do(max(r.first, base)-base, min(r.end, limit)-base)
	}
}

// overlap returns the parts of the words and of the words of s that represent the
// same ranks.
func overlap(words []uint64, base uint32, s Set) (dst, src []uint64) {
	src = s.bits().Words()
	if skip := (int(s.base()) - int(base)) / wordBits; skip >= 0 {
		words = words[min(skip, len(words)):]
	} else {
		src = src[min(-skip, len(src)):]
	}
	n := min(len(words), len(src))
	return words[:n], src[:n]
}
