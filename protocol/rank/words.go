// Runs of ranks as bits in words, and back.

package rank

import (
	"math/bits"

	"github.com/bits-and-blooms/bitset"
)

func lowest(word uint64) uint32  { return uint32(bits.TrailingZeros64(word)) }
func highest(word uint64) uint32 { return uint32(wordBits - 1 - bits.LeadingZeros64(word)) }

// eachMask calls do for every word that the bits from first to end-1 touch,
// with a mask of those bits.
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

// flip turns over the bits from first to end-1.
func flip(words []uint64, first, end uint32) {
	eachMask(words, first, end, func(w *uint64, mask uint64) { *w ^= mask })
}

// countRuns counts the unbroken sequences of ones.
func countRuns(words []uint64) int {
	n := 0
	before := uint64(0) // the highest bit of the word before
	for _, w := range words {
		n += bits.OnesCount64(w &^ (w<<1 | before))
		before = w >> (wordBits - 1)
	}
	return n
}

// appendRuns adds the unbroken sequences of ones to list; bit 0 is rank base.
func appendRuns(list []run, base uint32, words []uint64) []run {
	eachRun(base, bitset.From(words), 0, func(r run) bool {
		list = append(list, r)
		return true
	})
	return list
}

// eachRun hands out the unbroken sequences of ones from bit from on, until
// yield says stop; bit 0 is rank base.
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
