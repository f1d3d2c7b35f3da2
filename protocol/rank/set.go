// Package rank provides sets of ranks: algebra, text and wire format.
package rank

import (
	"fmt"
	"slices"
	"sort"

	"github.com/bits-and-blooms/bitset"
)

// ID is the number of one process of the parallel program, from 0.
type ID int

// MaxID is the highest rank that is accepted as input. It bounds the memory that a
// malicious or mistyped set can require.
const MaxID ID = 1<<24 - 1

// Set is an immutable set of ranks. The zero value is the empty set. A Set may be
// copied and used by several goroutines.
//
// A contiguous range, which most sets are, takes 24 bytes, and so does a set of
// equal runs at equal distances (even ranks, the first four of each 64). Other sets
// take in addition 8 bytes for each run, or 8 bytes for each 64 ranks between the
// first and the last, whichever is less. The representation depends on the members
// only, so equal sets have equal representations.
type Set struct {
	// The hull: ranks first to end-1. end is 0 in the empty set.
	first, end uint32
	// If pace is not 0, the members are two or more runs of the same length at the
	// same distance.
	pace pace
	// The members of a set without a simpler form; nil: pace is set, or every rank
	// of the hull is a member.
	more *members
}

// members are the members of a set without a simpler form, in one of two
// representations.
type members struct {
	runs []run          // two or more, ascending, with gaps between them
	bits *bitset.BitSet // bit i is rank base()+i
}

// pace is the distance between the starts of runs, and their length, in one word: a
// set of four words is passed in registers.
type pace uint64

func paced(step, length uint32) pace { return pace(step)<<32 | pace(length) }

func (p pace) step() uint32   { return uint32(p >> 32) }
func (p pace) length() uint32 { return uint32(p) }

// run is a contiguous sequence of ranks, first to end-1.
type run struct{ first, end uint32 }

// wordBits is the number of ranks in one word of a bit set.
const wordBits = 64

// base returns the rank of bit 0 of the words of the set. It is a multiple of 64,
// so that two sets can be combined word by word.
func (s Set) base() uint32 { return s.first &^ (wordBits - 1) }

// Of returns a set of single ranks, in any order, duplicates permitted. It panics
// if one of them is below 0 or above MaxID.
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

// Range returns the set from first to last, both included; it is empty if last is
// below first. It panics if one of them is below 0 or above MaxID.
func Range(first, last ID) Set {
	if last < first {
		return Set{}
	}
	check(first)
	check(last)
	return Set{first: uint32(first), end: uint32(last) + 1}
}

// check panics on a rank that no set can contain. Callers must validate ranks that
// are input.
func check(id ID) {
	if id < 0 || id > MaxID {
		panic(fmt.Sprintf("rank: %d is not within 0 to %d", id, MaxID))
	}
}

// normalize sorts runs and joins adjacent ones, in place.
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

// fromRuns returns the set of ascending runs with gaps between them, in its
// canonical representation. It keeps no reference to the list.
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

// regular returns the set of n equidistant runs in the hull of s that starts with
// the two given runs. It reports whether there can be such a set; the caller checks
// the other runs with odd.
func (s Set) regular(n int, first, second run) (Set, bool) {
	step := second.first - first.first
	s.pace = paced(step, first.end-first.first)
	return s, s.run(n-1).end == s.end && uint64(n-1)*uint64(step) < uint64(s.end)
}

// odd reports whether a run is not one of the runs of a set with a pace.
func (s Set) odd(r run) bool {
	return r.end-r.first != s.pace.length() || (r.first-s.first)%s.pace.step() != 0
}

// ownRuns copies a list of runs, with one allocation if they are few: most sets of
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

// ownBits returns members of the given words, which it owns.
func ownBits(words []uint64) *members {
	room := &struct {
		members
		set bitset.BitSet
	}{set: *bitset.From(words)}
	room.bits = &room.set
	return &room.members
}

// fromWords returns the set of the given words, in its canonical representation.
// Bit 0 is rank base, a multiple of 64. It owns the words.
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
		words = slices.Clone(words) // release the rest
	}
	s.more = ownBits(words)
	return s
}

// regularWords is regular for sets with more runs than words. It checks all runs.
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

// wordCount returns the number of words that cover the hull.
func (s Set) wordCount() int {
	if s.end == 0 {
		return 0
	}
	return int((s.end-1)/wordBits-s.first/wordBits) + 1
}

// contiguous reports whether every rank of the hull is a member.
func (s Set) contiguous() bool { return s.pace == 0 && s.more == nil }

// bits returns the words of a set that is represented by bits, or nil.
func (s Set) bits() *bitset.BitSet {
	if s.more == nil {
		return nil
	}
	return s.more.bits
}

// sparse reports whether a set has at most as many runs as words. Two such sets are
// combined run by run.
func (s Set) sparse() bool { return s.bits() == nil && (s.pace == 0 || s.runs() <= s.wordCount()) }

// runs returns the number of runs of a set that is not represented by bits.
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

// run returns run i of such a set.
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

// find returns the index of the first run of such a set that ends above the rank.
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

// part returns n runs of a set with a pace, from run i on.
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
