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
// sets are, and beyond that 8 bytes for each run, or 8 bytes for each 64 ranks
// between the first and the last, whichever is less. The form depends on the
// members alone, so equal sets are equal in every way that can be seen.
type Set struct {
	// The hull: first to end-1. end is 0 in the empty set.
	first, end uint32
	// At most one of these is there; with neither, every rank of the hull is a
	// member.
	runs *[]run         // two or more, ascending, with gaps between them
	bits *bitset.BitSet // bit i is rank base()+i
}

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
	switch n := s.wordCount(); {
	case len(list) == 1:
	case len(list) > n:
		words := make([]uint64, n)
		for _, r := range list {
			fill(words, r.first-s.base(), r.end-s.base())
		}
		s.bits = bitset.From(words)
	default:
		s.runs = own(list)
	}
	return s
}

// own copies a list of runs, with one allocation when they are few: most sets that
// are not a single run have two or three, and there are many of them.
func own(list []run) *[]run {
	switch n := len(list); {
	case n <= 2:
		room := &struct {
			list []run
			runs [2]run
		}{}
		room.list = append(room.runs[:0], list...)
		return &room.list
	case n <= 4:
		room := &struct {
			list []run
			runs [4]run
		}{}
		room.list = append(room.runs[:0], list...)
		return &room.list
	case n <= 8:
		room := &struct {
			list []run
			runs [8]run
		}{}
		room.list = append(room.runs[:0], list...)
		return &room.list
	}
	clone := slices.Clone(list)
	return &clone
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
	if n := countRuns(words); n <= len(words) {
		return fromRuns(appendRuns(make([]run, 0, n), base, words))
	}
	if len(words) < all/2 {
		words = slices.Clone(words) // let the rest go
	}
	return Set{
		first: base + lowest(words[0]),
		end:   base + uint32(len(words)-1)*wordBits + highest(words[len(words)-1]) + 1,
		bits:  bitset.From(words),
	}
}

// wordCount is how many words cover the hull.
func (s Set) wordCount() int {
	if s.end == 0 {
		return 0
	}
	return int((s.end-1)/wordBits-s.first/wordBits) + 1
}

// list gives the runs of a set that is not held as bits. The array is memory
// for the most common case, a single run.
func (s *Set) list(one *[1]run) []run {
	switch {
	case s.end == 0:
		return nil
	case s.runs != nil:
		return *s.runs
	}
	one[0] = run{s.first, s.end}
	return one[:]
}

// contiguous tells whether every rank of the hull is a member.
func (s Set) contiguous() bool { return s.runs == nil && s.bits == nil }

// find gives the index of the first run that ends above the rank.
func find(list []run, id uint32) int {
	return sort.Search(len(list), func(i int) bool { return list[i].end > id })
}
