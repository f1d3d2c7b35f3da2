// Conversion between runs and words of bits.

package rank

import (
	"math/bits"

	"github.com/bits-and-blooms/bitset"
)

func lowest(word uint64) uint32  { return uint32(bits.TrailingZeros64(word)) }
func highest(word uint64) uint32 { return uint32(wordBits - 1 - bits.LeadingZeros64(word)) }

// eachMask calls do for every word that contains some of the bits from first to
// end-1, with a mask of those bits.
func eachMask(words []uint64, first, end uint32, do func(word *uint64, mask uint64)) {
	if first >= end {
		return
	}
	low, high := first/wordBits, (end-1)/wordBits
	head := ^uint64(0) << (first % wordBits)
	tail := ^uint64(0) >> (wordBits - 1 - (end-1)%wordBits)
	if low == high {
		do(&words[low], head&tail)
		return
	}
	do(&words[low], head)
	for i := low + 1; i < high; i++ {
		do(&words[i], ^uint64(0))
	}
	do(&words[high], tail)
}

// fill sets the bits from first to end-1.
func fill(words []uint64, first, end uint32) {
	eachMask(words, first, end, func(w *uint64, mask uint64) { *w |= mask })
}

// clearBits clears the bits from first to end-1.
func clearBits(words []uint64, first, end uint32) {
	eachMask(words, first, end, func(w *uint64, mask uint64) { *w &^= mask })
}

// flip inverts the bits from first to end-1.
func flip(words []uint64, first, end uint32) {
	eachMask(words, first, end, func(w *uint64, mask uint64) { *w ^= mask })
}

// countRuns returns the number of contiguous sequences of ones.
func countRuns(words []uint64) int {
	n := 0
	before := uint64(0) // the highest bit of the previous word
	for _, w := range words {
		n += bits.OnesCount64(w &^ (w<<1 | before))
		before = w >> (wordBits - 1)
	}
	return n
}

// appendRuns appends the first n contiguous sequences of ones to list; bit 0 is
// rank base.
func appendRuns(list []run, base uint32, words []uint64, n int) []run {
	eachRun(base, bitset.From(words), 0, func(r run) bool {
		list = append(list, r)
		n--
		return n > 0
	})
	return list
}

// comb computes the words of a set with a pace that is not sparse, so that the step
// is below 64. They are parts of one repeated pattern of bits.
type comb struct {
	low, high          uint64 // the pattern, starting with the first rank of a run
	step, phase        uint32 // phase: where in the pattern the next word starts
	first, last, words int    // bits of the first and the last rank in their words; word count
}

func (s Set) comb() comb {
	d, step := s.first-s.base(), s.pace.step()
	c := comb{step: step, phase: (step - d%step) % step,
		first: int(d), last: int((s.end - 1) % wordBits), words: s.wordCount()}
	for i := range uint32(2 * wordBits) {
		switch {
		case i%step >= s.pace.length():
		case i < wordBits:
			c.low |= 1 << i
		default:
			c.high |= 1 << (i - wordBits)
		}
	}
	return c
}

// word returns word i. It must be called for ascending i.
func (c *comb) word(i int) uint64 {
	w := c.low>>c.phase | c.high<<(wordBits-c.phase)
	c.phase = (c.phase + wordBits) % c.step
	if i == 0 {
		w &= ^uint64(0) << c.first
	}
	if i == c.words-1 {
		w &= ^uint64(0) >> (wordBits - 1 - c.last)
	}
	return w
}

// spelled returns a set with a pace that is not sparse in its representation by
// words, which is not its canonical one.
func (s Set) spelled() Set {
	c := s.comb()
	words := make([]uint64, c.words)
	for i := range words {
		words[i] = c.word(i)
	}
	return Set{first: s.first, end: s.end, more: ownBits(words)}
}

// eachRun calls yield with the contiguous sequences of ones from bit from on, until
// it returns false; bit 0 is rank base.
func eachRun(base uint32, b *bitset.BitSet, from uint, yield func(run) bool) {
	for {
		first, ok := b.NextSet(from)
		if !ok {
			return
		}
		end, ok := b.NextClear(first)
		if !ok {
			end = b.Len()
		}
		if !yield(run{base + uint32(first), base + uint32(end)}) {
			return
		}
		from = end
	}
}
