// Counting of distinct values without storing them.

package column

import (
	"encoding/binary"
	"errors"
	"math"
	"math/bits"
	"slices"
)

const (
	// maxHashes is the number of distinct values up to which the count is exact.
	maxHashes = 64
	// sketchSize is the number of registers above that: standard error 6.5 %.
	sketchSize = 256
	// maxRegister is the highest value of a register: 56 zeros and a one.
	maxRegister = 57
)

// sketch counts distinct values: by their hashes while there are few, then by a
// HyperLogLog (Flajolet, Fusy, Gandouet, Meunier, 2007), in which each register
// keeps the longest run of zeros of the hashes that begin with its number. It is
// immutable.
type sketch struct {
	hashes    []uint64 // ascending; nil if there are registers
	registers []byte
}

// hash is FNV-1a followed by a mixing step, because a sketch uses the upper bits,
// which FNV mixes poorly.
func hash(value string) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(value) {
		h = (h ^ uint64(value[i])) * 1099511628211
	}
	h = (h ^ h>>33) * 0xff51afd7ed558ccd
	h = (h ^ h>>33) * 0xc4ceb9fe1a85ec53
	return h ^ h>>33
}

// newSketch returns a sketch of hashes in any order, which it owns.
func newSketch(hashes []uint64) sketch {
	slices.Sort(hashes)
	return sketch{hashes: slices.Compact(hashes)}.bounded()
}

// bounded converts hashes to registers if there are too many.
func (s sketch) bounded() sketch {
	if len(s.hashes) <= maxHashes {
		return s
	}
	registers := make([]byte, sketchSize)
	mark(registers, s.hashes)
	return sketch{registers: registers}
}

func mark(registers []byte, hashes []uint64) {
	for _, h := range hashes {
		r := &registers[h>>56]
		*r = max(*r, byte(bits.LeadingZeros64(h<<8|1<<7))+1)
	}
}

func (s sketch) merge(t sketch) sketch {
	if s.registers == nil && t.registers == nil {
		return sketch{hashes: mergeHashes(s.hashes, t.hashes)}.bounded()
	}
	if s.registers == nil {
		s, t = t, s
	}
	registers := slices.Clone(s.registers)
	mark(registers, t.hashes)
	for i, r := range t.registers {
		registers[i] = max(registers[i], r)
	}
	return sketch{registers: registers}
}

// mergeHashes merges two ascending lists.
func mergeHashes(a, b []uint64) []uint64 {
	out := make([]uint64, 0, len(a)+len(b))
	for len(a) > 0 && len(b) > 0 {
		switch {
		case a[0] < b[0]:
			out, a = append(out, a[0]), a[1:]
		case a[0] > b[0]:
			out, b = append(out, b[0]), b[1:]
		default:
			out = append(out, a[0])
			a, b = a[1:], b[1:]
		}
	}
	return append(append(out, a...), b...)
}

// count returns the number of distinct values, exact or estimated.
func (s sketch) count() (n int, exact bool) {
	if s.registers == nil {
		return len(s.hashes), true
	}
	const m = sketchSize
	sum, empty := 0.0, 0
	for _, r := range s.registers {
		sum += math.Ldexp(1, -int(r))
		if r == 0 {
			empty++
		}
	}
	estimate := 0.7213 / (1 + 1.079/m) * m * m / sum
	if estimate <= 2.5*m && empty > 0 {
		estimate = m * math.Log(m/float64(empty))
	}
	return max(int(math.Round(estimate)), maxHashes+1), false
}

func (s sketch) size() int { return 8*len(s.hashes) + len(s.registers) }

// appendWire encodes the number of hashes and the hashes, or a number above
// maxHashes and the registers.
func (s sketch) appendWire(b []byte) []byte {
	if s.registers != nil {
		return append(binary.AppendUvarint(b, maxHashes+1), s.registers...)
	}
	b = binary.AppendUvarint(b, uint64(len(s.hashes)))
	for _, h := range s.hashes {
		b = binary.BigEndian.AppendUint64(b, h)
	}
	return b
}

func (r *reader) sketch() sketch {
	n := r.Uvarint()
	if n > maxHashes {
		registers := r.Take(sketchSize)
		if r.Err == nil && (n > maxHashes+1 || slices.Max(registers) > maxRegister) {
			r.Fail(errors.New("column: a count of values is out of bounds"))
		}
		return sketch{registers: slices.Clone(registers)}
	}
	bytes := r.Take(8 * n)
	if r.Err != nil || n == 0 {
		return sketch{}
	}
	hashes := make([]uint64, n)
	for i := range hashes {
		hashes[i] = binary.BigEndian.Uint64(bytes[8*i:])
		if i > 0 && hashes[i] <= hashes[i-1] {
			r.Fail(errors.New("column: hashes of values are out of order"))
		}
	}
	return sketch{hashes: hashes}
}
