// Joining two sets.

package rank

import (
	"github.com/bits-and-blooms/bitset"
)

// op is a truth table: bit 0 is unused, bit 1 tells what becomes of a rank that
// is only in the left set, bit 2 only in the right one, bit 3 in both.
type op uint8

const (
	opUnion     op = 0b1110
	opIntersect op = 0b1000
	opMinus     op = 0b0010
	opXor       op = 0b0110
)

// Union gives the ranks that are in s or in t.
func (s Set) Union(t Set) Set {
	switch {
	case s.covers(t):
		return s
	case t.covers(s):
		return t
	case s.contiguous() && t.contiguous() && s.first <= t.end && t.first <= s.end:
		return Set{first: min(s.first, t.first), end: max(s.end, t.end)}
	}
	return s.join(t, opUnion, min(s.first, t.first), max(s.end, t.end))
}

// Intersect gives the ranks that are in both s and t.
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
	}
	return s.join(t, opIntersect, first, end)
}

// Minus gives the ranks that are in s and not in t.
func (s Set) Minus(t Set) Set {
	switch {
	case s.first >= t.end || t.first >= s.end:
		return s
	case t.covers(s):
		return Set{}
	case s.contiguous() && t.contiguous() && t.first <= s.first:
		return Set{first: t.end, end: s.end}
	case s.contiguous() && t.contiguous() && t.end >= s.end:
		return Set{first: s.first, end: t.first}
	}
	return s.join(t, opMinus, s.first, s.end)
}

// Xor gives the ranks that are in exactly one of s and t.
func (s Set) Xor(t Set) Set {
	switch {
	case s.end == 0:
		return t
	case t.end == 0:
		return s
	}
	return s.join(t, opXor, min(s.first, t.first), max(s.end, t.end))
}

// covers tells, at no cost, that t is a subset of s: false is "perhaps".
func (s Set) covers(t Set) bool {
	return t.end == 0 || s.contiguous() && s.first <= t.first && t.end <= s.end
}

// join applies a truth table to two sets; first and end are a hull of the
// result.
func (s Set) join(t Set, o op, first, end uint32) Set {
	if s.bits == nil && t.bits == nil {
		return joinRuns(s, t, o)
	}
	base := first &^ (wordBits - 1)
	words := make([]uint64, (end-base+wordBits-1)/wordBits)
	s.paint(words, base)
	t.apply(words, base, o)
	return fromWords(base, words)
}

// joinRuns walks along the borders of the runs of both sets.
func joinRuns(s, t Set, o op) Set {
	var oneS, oneT [1]run
	a, b := s.list(&oneS), t.list(&oneT)
	var few [32]run
	out := few[:0]
	if len(a)+len(b) > len(few) {
		out = make([]run, 0, len(a)+len(b))
	}
	var start uint32
	var state, i, j int // i and j count borders: even is outside, odd inside
	for i < 2*len(a) || j < 2*len(b) {
		x, y := border(a, i), border(b, j)
		at := min(x, y)
		if x == at {
			i++
		}
		if y == at {
			j++
		}
		now := int(o>>(i&1|j&1<<1)) & 1
		if now > state {
			start = at
		} else if now < state {
			out = append(out, run{start, at})
		}
		state = now
	}
	return fromRuns(out)
}

// border gives the i-th border of the runs: the first and the end of each.
func border(list []run, i int) uint32 {
	switch {
	case i >= 2*len(list):
		return ^uint32(0)
	case i&1 == 0:
		return list[i/2].first
	}
	return list[i/2].end
}

// paint sets the bits of the members that lie within the words; bit 0 is rank
// base.
func (s Set) paint(words []uint64, base uint32) {
	if s.bits != nil {
		dst, src := overlap(words, base, s)
		copy(dst, src)
		return
	}
	s.eachWithin(words, base, func(first, end uint32) { fill(words, first, end) })
}

// apply joins the set into words that hold the left set, within the words.
func (s Set) apply(words []uint64, base uint32, o op) {
	if s.bits != nil {
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

// eachWithin hands out the runs of a set that is not held as bits, cut to the
// words and counted from their base.
func (s Set) eachWithin(words []uint64, base uint32, do func(first, end uint32)) {
	var one [1]run
	list := s.list(&one)
	limit := base + uint32(len(words))*wordBits
	for _, r := range list[find(list, base):] {
		if r.first >= limit {
			return
		}
		do(max(r.first, base)-base, min(r.end, limit)-base)
	}
}

// overlap gives the parts of the words and of the words of s that stand for the
// same ranks.
func overlap(words []uint64, base uint32, s Set) (dst, src []uint64) {
	src = s.bits.Words()
	if skip := (int(s.base()) - int(base)) / wordBits; skip >= 0 {
		words = words[min(skip, len(words)):]
	} else {
		src = src[min(-skip, len(src)):]
	}
	n := min(len(words), len(src))
	return words[:n], src[:n]
}
