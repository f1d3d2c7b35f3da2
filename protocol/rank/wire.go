// Encoding of a set.
//
//	1             then uvarint(first), uvarint(length-1), uvarint(gap), uvarint(n-2):
//	              n runs of this length, with the same gap between any two
//	uvarint(2n)   then n times: uvarint(gap), uvarint(length-1)
//	uvarint(2n+1) then uvarint(base/64), n words of 8 bytes, lowest byte first
//
// A gap is counted from rank 0, then from one rank beyond the end of the previous
// run, because two runs are never adjacent. The first form is used if possible,
// else the shorter one of the others, so the bytes depend on the members only.

package rank

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// AppendWire appends the encoding of the set to b: 5 bytes for a range of a million
// ranks, never more than 8 for each 64 ranks from the first to the last, plus 8.
func (s Set) AppendWire(b []byte) []byte {
	if s.pace != 0 {
		step, length := s.pace.step(), s.pace.length()
		b = append(b, pacedHead)
		for _, v := range [...]uint32{s.first, length - 1, step - length - 1, uint32(s.runs()) - 2} {
			b = binary.AppendUvarint(b, uint64(v))
		}
		return b
	}
	if s.bits() == nil {
		return s.appendWireRuns(b)
	}
	most := len(b) + uvarintLen(uint64(s.bits().Len()/wordBits)<<1|1) +
		uvarintLen(uint64(s.first/wordBits)) + s.wordCount()*8
	return s.appendWireBits(b, most)
}

// appendWireRuns encodes sets that are represented by runs. They have at most as
// many runs as words, but a run may take up to 10 bytes, so words may still be
// shorter.
func (s Set) appendWireRuns(b []byte) []byte {
	start, runs := len(b), s.runs()
	b = binary.AppendUvarint(b, uint64(runs)<<1)
	at := uint32(0)
	for i := range runs {
		r := s.run(i)
		b = binary.AppendUvarint(b, uint64(r.first-at))
		b = binary.AppendUvarint(b, uint64(r.end-r.first-1))
		at = r.end + 1
	}
	if n := s.wordCount(); runs > 1 && len(b)-start > wireBitsLen(n, s.first) {
		words := make([]uint64, n)
		s.paint(words, s.base())
		return appendWords(b[:start], s.base(), words)
	}
	return b
}

// appendWireBits encodes runs, unless they take more than most bytes; then it
// encodes words.
func (s Set) appendWireBits(b []byte, most int) []byte {
	start := len(b)
	words := s.bits().Words()
	runs := countRuns(words)
	if start+1+2*runs > most {
		return appendWords(b, s.base(), words)
	}
	b = binary.AppendUvarint(b, uint64(runs)<<1)
	at, fits := uint32(0), true
	eachRun(s.base(), s.bits(), 0, func(r run) bool {
		b = binary.AppendUvarint(b, uint64(r.first-at))
		b = binary.AppendUvarint(b, uint64(r.end-r.first-1))
		at = r.end + 1
		fits = len(b) <= most
		return fits
	})
	if fits {
		return b
	}
	return appendWords(b[:start], s.base(), words)
}

// pacedHead precedes a set with a pace. It would otherwise mean 0 words.
const pacedHead = 1

func appendWords(b []byte, base uint32, words []uint64) []byte {
	b = binary.AppendUvarint(b, uint64(len(words))<<1|1)
	b = binary.AppendUvarint(b, uint64(base/wordBits))
	for _, w := range words {
		b = binary.LittleEndian.AppendUint64(b, w)
	}
	return b
}

// wireBitsLen returns the length of the encoding by words.
func wireBitsLen(words int, first uint32) int {
	return uvarintLen(uint64(words)<<1|1) + uvarintLen(uint64(first/wordBits)) + 8*words
}

func uvarintLen(v uint64) int {
	n := 1
	for ; v >= 0x80; v >>= 7 {
		n++
	}
	return n
}

var (
	errShort = errors.New("rank set: bytes end too early")
	errHigh  = fmt.Errorf("rank set: a rank is beyond %d", MaxID)
)

// DecodeWire decodes one set from the front of b and returns the remaining bytes.
// It allocates at most four times the bytes that it has decoded, and keeps no
// reference to them.
func DecodeWire(b []byte) (s Set, rest []byte, err error) {
	head, b, err := uvarint(b)
	if err != nil {
		return Set{}, nil, err
	}
	n := head >> 1
	switch {
	case head == pacedHead:
		return decodePaced(b)
	case head&1 == 0:
		return decodeRuns(b, n)
	}
	return decodeWords(b, n)
}

func decodePaced(b []byte) (Set, []byte, error) {
	var v [4]uint64 // first, length-1, gap, n-2
	for i := range v {
		var err error
		if v[i], b, err = uvarint(b); err != nil {
			return Set{}, nil, err
		}
		if v[i] > uint64(MaxID) {
			return Set{}, nil, errHigh
		}
	}
	length := v[1] + 1
	step := length + v[2] + 1
	end := v[0] + (v[3]+1)*step + length
	if end > uint64(MaxID)+1 {
		return Set{}, nil, errHigh
	}
	return Set{first: uint32(v[0]), end: uint32(end), pace: paced(uint32(step), uint32(length))}, b, nil
}

func decodeRuns(b []byte, n uint64) (Set, []byte, error) {
	if n > uint64(len(b))/2 { // a run takes at least two bytes
		return Set{}, nil, errShort
	}
	var few [32]run
	list := few[:0]
	if n > uint64(len(few)) {
		list = make([]run, 0, n)
	}
	at := uint64(0)
	for range n {
		var gap, length uint64
		var err error
		if gap, b, err = uvarint(b); err != nil {
			return Set{}, nil, err
		}
		if length, b, err = uvarint(b); err != nil {
			return Set{}, nil, err
		}
		if gap > uint64(MaxID) || length > uint64(MaxID) || at+gap+length > uint64(MaxID) {
			return Set{}, nil, errHigh
		}
		first := at + gap
		end := first + length + 1
		list = append(list, run{uint32(first), uint32(end)})
		at = end + 1
	}
	return fromRuns(list), b, nil
}

func decodeWords(b []byte, n uint64) (Set, []byte, error) {
	base, b, err := uvarint(b)
	if err != nil {
		return Set{}, nil, err
	}
	if n > uint64(len(b))/8 {
		return Set{}, nil, errShort
	}
	if base > uint64(MaxID)/wordBits || base+n > uint64(MaxID)/wordBits+1 {
		return Set{}, nil, errHigh
	}
	words := make([]uint64, n)
	for i := range words {
		words[i] = binary.LittleEndian.Uint64(b[8*i:])
	}
	return fromWords(uint32(base)*wordBits, words), b[8*n:], nil
}

func uvarint(b []byte) (uint64, []byte, error) {
	v, n := binary.Uvarint(b)
	if n <= 0 {
		return 0, nil, errShort
	}
	return v, b[n:], nil
}
