// How numbers are spread, without keeping them: quantiles and histograms.

package column

import (
	"encoding/binary"
	"errors"
	"math"
	"slices"

	"sdm/protocol/decode"
)

const (
	// maxBins bounds a distribution: 1.5 KiB on the wire.
	maxBins = 512
	// firstShift leaves sign, exponent and the 7 highest bits of the fraction of
	// a float64: bins are at most 1/128 of their numbers wide, and whole numbers
	// up to 128 have one each.
	firstShift = 45
	// lastShift leaves one bit, with which there are two bins at most.
	lastShift = 63
)

// bins counts numbers by the upper bits of their floats. When there are too many
// bins, all of them are halved in number by dropping one bit more. The bits that
// are left are as many as the numbers allow, whatever the order in which they
// came: the bins of a part are never more than those of the whole, so no part
// drops a bit that the whole would keep. Hence merging is associative and
// commutative to the byte, which it would not be with buckets that move.
//
// It is a DDSketch (Masson, Rim, Lee, 2019) with the uniform collapse of
// UDDSketch (Epicoco and others, 2020), but with bits instead of logarithms: no
// rounding of a processor shows. It is immutable.
type bins struct {
	shift uint8 // of ordered floats; firstShift at least unless list is empty
	list  []bin // ascending
}

type bin struct {
	at    uint32 // the ordered bits above the shift
	count int
}

// ordered gives the bits of a float such that they compare as the floats do.
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

// newBins takes the list over, whose floats are of the first shift and in any
// order.
func newBins(list []bin) bins {
	slices.SortFunc(list, func(a, b bin) int { return int(a.at) - int(b.at) })
	return bins{firstShift, joinBins(list, 0)}.bounded()
}

func binOf(f float64, count int) bin { return bin{uint32(ordered(f) >> firstShift), count} }

// joinBins drops bits and joins what is then equal, in place.
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

// bounded drops bits, in place, until there are few enough bins.
func (s bins) bounded() bins {
	for len(s.list) > maxBins {
		s = bins{s.shift + 1, joinBins(s.list, 1)}
	}
	return s
}

// coarser gives the same bins with a shift that is not lower. It shares the list
// when nothing changes.
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

// edges gives where a bin begins and ends; the end belongs to the next one.
func (s bins) edges(b bin) (from, to float64) {
	from = fromOrdered(uint64(b.at) << s.shift)
	to = fromOrdered(uint64(b.at)<<s.shift + (1<<s.shift - 1))
	limit := func(f float64) float64 { // beyond the last float are infinities and no numbers
		if math.IsNaN(f) || math.IsInf(f, 0) {
			return math.Copysign(math.MaxFloat64, f)
		}
		return f
	}
	return limit(from), limit(to)
}

// inner is the end of a bin that is nearer to 0: the one of its numbers with the
// shortest fraction, and the only one there is when numbers are small and whole.
func (s bins) inner(b bin) float64 {
	from, to := s.edges(b)
	if to <= 0 {
		return to
	}
	return max(from, 0)
}

// appendWire writes shift, number of bins, and for each how far it is from the
// one before and its count.
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
	if shift < firstShift || n == 0 || n > len(r.Rest)/2 { // a bin takes two bytes
		r.Fail(errors.New("bins are not in their one form"))
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
