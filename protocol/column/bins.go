// Distribution of numbers without storing them: quantiles and histograms.

package column

import (
	"encoding/binary"
	"errors"
	"math"
	"slices"

	"sdm/protocol/decode"
)

const (
	// maxBins bounds a distribution: 1.5 KiB in a packet.
	maxBins = 512
	// firstShift keeps sign, exponent and the 7 highest bits of the fraction of a
	// float64: the width of a bin is at most 1/128 of its numbers, and whole
	// numbers up to 128 have one bin each.
	firstShift = 45
	// lastShift keeps one bit, which makes two bins at most.
	lastShift = 63
)

// bins counts numbers by the upper bits of their floats. If there are too many
// bins, one bit less is used, which halves their number. The final number of bits
// depends on the numbers only and not on the order of merging: a part never has
// more bins than the whole, so no part drops a bit that the whole keeps. Therefore
// merging is associative and commutative to the byte, which is not possible with
// buckets that adapt their borders.
//
// It is a DDSketch (Masson, Rim, Lee, 2019) with the uniform collapse of UDDSketch
// (Epicoco and others, 2020), but with bits instead of logarithms, so that it does
// not depend on the rounding of a processor. It is immutable.
type bins struct {
	shift uint8 // of ordered floats; at least firstShift unless list is empty
	list  []bin // ascending
}

type bin struct {
	at    uint32 // the bits of the ordered float above the shift
	count int
}

// ordered returns bits that compare like the floats.
func ordered(f float64) uint64 {
	b := math.Float64bits(f)
	if b>>63 == 1 {
		return ^b
	}
	return b | 1<<63
}

func fromOrdered(b uint64) float64 {
	if b>>63 == 1 {
		return math.Float64frombits(b &^ (1 << 63))
	}
	return math.Float64frombits(^b)
}

// newBins returns bins of floats with firstShift, in any order. It owns the list.
func newBins(list []bin) bins {
	slices.SortFunc(list, func(a, b bin) int { return int(a.at) - int(b.at) })
	return bins{firstShift, joinBins(list, 0)}.bounded()
}

func binOf(f float64, count int) bin { return bin{uint32(ordered(f) >> firstShift), count} }

// joinBins drops bits and merges bins that are then equal, in place.
func joinBins(list []bin, drop uint8) []bin {
	n := 0
	for _, b := range list {
		b.at >>= drop
		if n > 0 && list[n-1].at == b.at {
			list[n-1].count += b.count
			continue
		}
		list[n] = b
		n++
	}
	return list[:n]
}

// bounded drops bits, in place, until the number of bins is within its limit.
func (s bins) bounded() bins {
	for len(s.list) > maxBins {
		s = bins{s.shift + 1, joinBins(s.list, 1)}
	}
	return s
}

// coarser returns the bins with a shift that is not lower. It shares the list if
// the shift is the same.
func (s bins) coarser(shift uint8) bins {
	if shift == s.shift {
		return s
	}
	return bins{shift, joinBins(slices.Clone(s.list), shift-s.shift)}
}

func (s bins) merge(t bins) bins {
	switch {
	case len(t.list) == 0:
		return s
	case len(s.list) == 0:
		return t
	}
	shift := max(s.shift, t.shift)
	a, b := s.coarser(shift).list, t.coarser(shift).list
	out := make([]bin, 0, len(a)+len(b))
	for len(a) > 0 && len(b) > 0 {
		switch {
		case a[0].at < b[0].at:
			out, a = append(out, a[0]), a[1:]
		case a[0].at > b[0].at:
			out, b = append(out, b[0]), b[1:]
		default:
			out = append(out, bin{a[0].at, a[0].count + b[0].count})
			a, b = a[1:], b[1:]
		}
	}
	return bins{shift, append(append(out, a...), b...)}.bounded()
}

func (s bins) total() int {
	n := 0
	for _, b := range s.list {
		n += b.count
	}
	return n
}

// edges returns the start and the end of a bin; the end belongs to the next one.
func (s bins) edges(b bin) (from, to float64) {
	from = fromOrdered(uint64(b.at) << s.shift)
	to = fromOrdered(uint64(b.at)<<s.shift + (1<<s.shift - 1))
	limit := func(f float64) float64 { // beyond the last float there are infinities and NaN
		if math.IsNaN(f) || math.IsInf(f, 0) {
			return math.Copysign(math.MaxFloat64, f)
		}
		return f
	}
	return limit(from), limit(to)
}

// inner returns the end of a bin that is nearer to 0: the number of the bin with
// the shortest fraction, and the only one of the bin if numbers are small and
// whole.
func (s bins) inner(b bin) float64 {
	from, to := s.edges(b)
	if to <= 0 {
		return to
	}
	return max(from, 0)
}

// appendWire encodes the shift, the number of bins, and for each bin the distance
// from the previous one and its count.
func (s bins) appendWire(b []byte) []byte {
	if len(s.list) == 0 {
		return append(b, 0)
	}
	b = append(b, s.shift)
	b = binary.AppendUvarint(b, uint64(len(s.list)))
	last := uint32(0)
	for _, x := range s.list {
		b = binary.AppendUvarint(b, uint64(x.at-last))
		b = binary.AppendUvarint(b, uint64(x.count))
		last = x.at
	}
	return b
}

func (r *reader) bins() bins {
	shift := r.Number("shift of bins", lastShift)
	if shift == 0 || r.Err != nil {
		return bins{}
	}
	n := r.Number("count of bins", maxBins)
	if shift < firstShift || n == 0 || n > len(r.Rest)/2 { // a bin takes at least two bytes
		r.Fail(errors.New("bins are not in canonical form"))
		return bins{}
	}
	s := bins{uint8(shift), make([]bin, n)}
	at, most := 0, 1<<(64-shift)-1
	for i := range s.list {
		step := r.Number("step of bins", most)
		at += step
		s.list[i] = bin{uint32(at), r.Number("count", decode.MaxCount)}
		if at > most || i > 0 && step == 0 || s.list[i].count == 0 {
			r.Fail(errors.New("bins are out of order"))
		}
		if r.Err != nil {
			return bins{}
		}
	}
	return s
}
