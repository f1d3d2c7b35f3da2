// Package rank provides sets of ranks.
package rank

import (
	"fmt"
	"slices"
	"sort"

	"github.com/bits-and-blooms/bitset"
)

// ID is the number of one process of the parallel program, from 0.
type ID int

// MaxID is the highest rank that is accepted from outside. It bounds the memory
// that a hostile or mistyped set can ask for.
const MaxID ID = 1<<24 - 1

// Set is an immutable set of ranks. The zero value is the empty set. A Set may
// be copied and used by several goroutines.
//
// It costs what it holds: 24 bytes for one contiguous range, which is what most
// sets are, and for one that comes again at equal distances (even ranks, the first
// four of each 64), and beyond that 8 bytes for each run, or 8 bytes for each 64 ranks
// between the first and the last, whichever is less. The form depends on the
// members alone, so equal sets are equal in every way that can be seen.
type Set struct {
	// The hull: first to end-1. end is 0 in the empty set.
	first, end uint32
	// With a pace, the members are two or more runs of the same length at the same
	// distance; 0: the set is no such one.
	pace pace
	// What has neither form; nil: it has, or every rank of the hull is a member.
	more *members
}

// members are those of a set without a simple form: one of the two.
type members struct {
	runs []run          // two or more, ascending, with gaps between them
	bits *bitset.BitSet // bit i is rank base()+i
}

// pace is a step from one run to the next, and the length of each, in one word: a set
// of four words is handed on in registers.
type pace uint64

func paced(step, length uint32) pace { return pace(step)<<32 | pace(length) }

func (p pace) step() uint32   { return uint32(p >> 32) }
func (p pace) length() uint32 { return uint32(p) }

// run is an unbroken sequence of ranks, first to end-1.
type run struct{ first, end uint32 }

// wordBits is the number of ranks in one word of a bit set.
const wordBits = 64

// base gives the rank of bit 0 of the words of the set: bit sets begin at a
// multiple of 64, so that those of two sets can be joined word by word.
func (s Set) base() uint32 { return s.first &^ (wordBits - 1) }

// Of makes a set of single ranks, in any order, each named once or more. It
// panics when one of them is below 0 or above MaxID.
func Of(ids ...ID) Set {
	if len(ids) == 1 {
		return Range(ids[0], ids[0])
	}
	list := make([]run, len(ids))
	for i, id := range ids {
		check(id)
		list[i] = run{uint32(id), uint32(id) + 1}
	}
	return fromRuns(normalize(list))
}

// Range makes the set from first to last, both included; it is empty when last
// is below first. It panics when one of them is below 0 or above MaxID.
func Range(first, last ID) Set {
	if last < first {
		return Set{}
	}
	check(first)
	check(last)
	return Set{first: uint32(first), end: uint32(last) + 1}
}

// check panics on a rank that no set can hold: whoever takes ranks from outside
// has to refuse them before.
func check(id ID) {
	if id < 0 || id > MaxID {
		panic(fmt.Sprintf("rank: %d is not within 0 to %d", id, MaxID))
	}
}

// normalize sorts runs, joins those that touch, in place.
func normalize(list []run) []run {
	ascending := func(a, b run) int { return int(a.first) - int(b.first) }
	if !slices.IsSortedFunc(list, ascending) {
		slices.SortFunc(list, ascending)
	}
	out := list[:0]
	for _, r := range list {
		if n := len(out); n > 0 && r.first <= out[n-1].end {
			out[n-1].end = max(out[n-1].end, r.end)
			continue
		}
		out = append(out, r)
	}
	return out
}

// fromRuns chooses the form of a set given as ascending runs with gaps between
// them. It keeps no reference to the list.
func fromRuns(list []run) Set {
	if len(list) == 0 {
		return Set{}
	}
	s := Set{first: list[0].first, end: list[len(list)-1].end}
	if len(list) == 1 {
		return s
	}
	if r, ok := s.regular(len(list), list[0], list[1]); ok && !slices.ContainsFunc(list, r.odd) {
		return r
	}
	if n := s.wordCount(); len(list) > n {
		words := make([]uint64, n)
		for _, r := range list {
			fill(words, r.first-s.base(), r.end-s.base())
		}
		s.more = ownBits(words)
	} else {
		s.more = ownRuns(list)
	}
	return s
}

// regular gives the set of n runs in the hull of s of which these are the first two,
// if they may be at equal distances: then those are that are not odd.
func (s Set) regular(n int, first, second run) (Set, bool) {
	step := second.first - first.first
	s.pace = paced(step, first.end-first.first)
	return s, s.run(n-1).end == s.end && uint64(n-1)*uint64(step) < uint64(s.end)
}

// odd tells that a run is not one of those of a set with a pace.
func (s Set) odd(r run) bool {
	return r.end-r.first != s.pace.length() || (r.first-s.first)%s.pace.step() != 0
}

// ownRuns copies a list of runs, with one allocation when they are few: most sets of
// several runs have two or three, and there are many of them.
func ownRuns(list []run) *members {
	switch n := len(list); {
	case n <= 2:
		room := &struct {
			members
			few [2]run
		}{}
		room.runs = append(room.few[:0], list...)
		return &room.members
	case n <= 4:
		room := &struct {
			members
			few [4]run
		}{}
		room.runs = append(room.few[:0], list...)
		return &room.members
	case n <= 8:
		room := &struct {
			members
			few [8]run
		}{}
		room.runs = append(room.few[:0], list...)
		return &room.members
	}
	return &members{runs: slices.Clone(list)}
}

// ownBits takes words over.
func ownBits(words []uint64) *members {
	room := &struct {
		members
		set bitset.BitSet
	}{set: *bitset.From(words)}
	room.bits = &room.set
	return &room.members
}

// fromWords chooses the form of a set given as words, bit 0 of which is rank
// base, a multiple of 64. It takes the words over.
func fromWords(base uint32, words []uint64) Set {
	all := len(words)
	for len(words) > 0 && words[0] == 0 {
		words = words[1:]
		base += wordBits
	}
	for len(words) > 0 && words[len(words)-1] == 0 {
		words = words[:len(words)-1]
	}
	n := countRuns(words)
	if n <= len(words) {
		return fromRuns(appendRuns(make([]run, 0, n), base, words, n))
	}
	s := Set{
		first: base + lowest(words[0]),
		end:   base + uint32(len(words)-1)*wordBits + highest(words[len(words)-1]) + 1,
	}
	if r, ok := s.regularWords(n, words); ok {
		return r
	}
	if len(words) < all/2 {
		words = slices.Clone(words) // let the rest go
	}
	s.more = ownBits(words)
	return s
}

// regularWords is regular for more runs than there are words that hold them, and
// looks at all of them.
func (s Set) regularWords(n int, words []uint64) (Set, bool) {
	two := appendRuns(make([]run, 0, 2), s.base(), words, 2)
	r, ok := s.regular(n, two[0], two[1])
	if !ok {
		return s, false
	}
	c := r.comb()
	for i, w := range words {
		if c.word(i) != w {
			return s, false
		}
	}
	return r, true
}

// wordCount is how many words cover the hull.
func (s Set) wordCount() int {
	if s.end == 0 {
		return 0
	}
	return int((s.end-1)/wordBits-s.first/wordBits) + 1
}

// contiguous tells whether every rank of the hull is a member.
func (s Set) contiguous() bool { return s.pace == 0 && s.more == nil }

// bits gives the words of a set that is held as such, or nil.
func (s Set) bits() *bitset.BitSet {
	if s.more == nil {
		return nil
	}
	return s.more.bits
}

// sparse tells that a set has no more runs than words: those of two such sets are
// joined run by run.
func (s Set) sparse() bool { return s.bits() == nil && (s.pace == 0 || s.runs() <= s.wordCount()) }

// runs counts the runs of a set that is not held as bits.
func (s Set) runs() int {
	switch {
	case s.end == 0:
		return 0
	case s.pace != 0:
		return int((s.end-s.first-s.pace.length())/s.pace.step()) + 1
	case s.more != nil:
		return len(s.more.runs)
	}
	return 1
}

// run is the i-th of those.
func (s *Set) run(i int) run {
	switch {
	case s.pace != 0:
		first := s.first + uint32(i)*s.pace.step()
		return run{first, first + s.pace.length()}
	case s.more != nil:
		return s.more.runs[i]
	}
	return run{s.first, s.end}
}

// find gives the index of the first of those that ends above the rank.
func (s *Set) find(id uint32) int {
	switch {
	case id < s.first:
		return 0
	case id >= s.end:
		return s.runs()
	case s.pace != 0:
		return int((id - s.first + s.pace.step() - s.pace.length()) / s.pace.step())
	case s.more != nil:
		list := s.more.runs
		return sort.Search(len(list), func(i int) bool { return list[i].end > id })
	}
	return 0
}

// part gives n of those runs of a set with a pace, from number i on.
func (s Set) part(i, n int) Set {
	if n <= 0 {
		return Set{}
	}
	s.first, s.end = s.run(i).first, s.run(i+n-1).end
	if n == 1 {
		s.pace = 0
	}
	return s
}
