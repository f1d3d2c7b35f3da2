// Statistics of the numbers of an array.

package values

import (
	"cmp"
	"encoding/binary"
	"math"
	"strconv"

	"sdm/backend/gdb/gdbtext"
)

// numbers receives the memory of an array in pieces and keeps the statistics. Its size
// is constant.
type numbers struct {
	kind gdbtext.Kind
	size int // of an element, in bytes
	rest []byte

	n          int // elements
	finite     int
	min, max   element
	sum, carry float64 // of the finite elements; carry is the rounding error (Neumaier)
	nan, inf   int
	nanAt      int // index of the first
}

// element is a number and its index.
type element struct {
	at   int
	f    float64
	text string
}

// Write adds bytes; it never fails.
func (s *numbers) Write(b []byte) (int, error) {
	all := len(b)
	if len(s.rest) > 0 {
		s.rest = append(s.rest, b...)
		b = s.rest
	}
	for len(b) >= s.size {
		s.add(b[:s.size])
		b = b[s.size:]
	}
	s.rest = append(s.rest[:0:0], b...)
	return all, nil
}

func (s *numbers) add(b []byte) {
	i := s.n
	s.n++
	f, bits := s.value(b)
	switch {
	case math.IsNaN(f):
		if s.nan++; s.nan == 1 {
			s.nanAt = i
		}
		return
	case math.IsInf(f, 0):
		s.inf++
		return
	}
	if s.finite++; s.finite == 1 || s.less(f, bits, s.min) {
		s.min = element{i, f, s.text(f, bits)}
	}
	if s.finite == 1 || s.greater(f, bits, s.max) {
		s.max = element{i, f, s.text(f, bits)}
	}
	t := s.sum + f
	if math.Abs(s.sum) >= math.Abs(f) {
		s.carry += s.sum - t + f
	} else {
		s.carry += f - t + s.sum
	}
	s.sum = t
}

// value decodes an element: as a float and, if it is an integer, its bits.
func (s *numbers) value(b []byte) (f float64, bits uint64) {
	switch {
	case s.kind == gdbtext.Floating && s.size == 4:
		return float64(math.Float32frombits(binary.NativeEndian.Uint32(b))), 0
	case s.kind == gdbtext.Floating && s.size == 8:
		return math.Float64frombits(binary.NativeEndian.Uint64(b)), 0
	case s.kind == gdbtext.Floating:
		return gdbtext.LongDouble(b), 0
	}
	switch s.size {
	case 1:
		bits = uint64(b[0])
	case 2:
		bits = uint64(binary.NativeEndian.Uint16(b))
	case 4:
		bits = uint64(binary.NativeEndian.Uint32(b))
	default:
		bits = binary.NativeEndian.Uint64(b)
	}
	if s.kind == gdbtext.Unsigned {
		return float64(bits), bits
	}
	shift := 64 - 8*s.size
	wide := int64(bits<<shift) >> shift
	return float64(wide), uint64(wide)
}

// less also distinguishes integers beyond 2^53 that are equal as floats.
func (s *numbers) less(f float64, bits uint64, e element) bool {
	return f < e.f || f == e.f && s.kind != gdbtext.Floating && s.order(bits, e) < 0
}

func (s *numbers) greater(f float64, bits uint64, e element) bool {
	return f > e.f || f == e.f && s.kind != gdbtext.Floating && s.order(bits, e) > 0
}

func (s *numbers) order(bits uint64, e element) int {
	if s.kind == gdbtext.Unsigned {
		other, _ := strconv.ParseUint(e.text, 10, 64) // the exact value is only in the text
		return cmp.Compare(bits, other)
	}
	other, _ := strconv.ParseInt(e.text, 10, 64)
	return cmp.Compare(int64(bits), other)
}

// text formats a number as gdb does.
func (s *numbers) text(f float64, bits uint64) string {
	switch {
	case s.kind == gdbtext.Unsigned:
		return strconv.FormatUint(bits, 10)
	case s.kind == gdbtext.Signed:
		return strconv.FormatInt(int64(bits), 10)
	case s.size == 4:
		return strconv.FormatFloat(f, 'g', 9, 64)
	}
	return strconv.FormatFloat(f, 'g', 17, 64)
}

// mean returns the mean of the finite numbers.
func (s *numbers) mean() float64 { return (s.sum + s.carry) / float64(max(s.finite, 1)) }
