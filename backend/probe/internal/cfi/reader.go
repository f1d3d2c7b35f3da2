// Bytes of tables: numbers and encoded pointers.

package cfi

import "encoding/binary"

// reader takes values from bytes. A value that is cut short is 0 and sets bad.
type reader struct {
	b   []byte
	pos int
	bad bool
	at  uint64 // address of b[0]
}

func (r *reader) more() bool { return !r.bad && r.pos < len(r.b) }

// take returns the next n bytes; nil if there are fewer.
func (r *reader) take(n uint64) []byte {
	if n > uint64(len(r.b)-r.pos) {
		r.bad, r.pos = true, len(r.b)
		return nil
	}
	r.pos += int(n)
	return r.b[r.pos-int(n) : r.pos]
}

// unsigned reads an integer of n bytes, 8 at most, little endian.
func (r *reader) unsigned(n uint64) uint64 {
	var b [8]byte
	copy(b[:], r.take(n))
	return binary.LittleEndian.Uint64(b[:])
}

// signed reads an integer of n bytes, 1 to 8, and extends its sign.
func (r *reader) signed(n uint64) uint64 {
	unused := 64 - 8*n
	return uint64(int64(r.unsigned(n)<<unused) >> unused)
}

func (r *reader) u8() byte { return byte(r.unsigned(1)) }

// leb reads a LEB128 number (DWARF 5, 7.6); bits is the number of bits read, sign its highest bit.
func (r *reader) leb() (v uint64, bits uint, sign bool) {
	for {
		c := r.u8()
		if bits < 64 {
			v |= uint64(c&0x7f) << bits
		}
		bits += 7
		if c&0x80 == 0 || r.bad {
			return v, bits, c&0x40 != 0
		}
	}
}

func (r *reader) uleb() uint64 {
	v, _, _ := r.leb()
	return v
}

func (r *reader) sleb() int64 {
	v, bits, negative := r.leb()
	if negative && bits < 64 {
		v |= ^uint64(0) << bits
	}
	return int64(v)
}

// block reads a length, and that number of bytes.
func (r *reader) block() []byte { return r.take(r.uleb()) }

// Encodings of pointers (Linux Standard Base, DWARF Exception Header Encoding).
const (
	omitted      = 0xff
	relativeToPC = 0x10
	relativeData = 0x30
)

// pointer reads an encoded pointer; data is the base of pointers with relativeData.
func (r *reader) pointer(encoding byte, data uint64) uint64 {
	at := r.at + uint64(r.pos)
	v := r.value(encoding)
	switch encoding & 0x70 {
	case 0:
	case relativeToPC:
		v += at
	case relativeData:
		v += data
	default:
		r.bad = true
	}
	return v
}

// value reads a number in the format of the lower 4 bits of an encoding.
func (r *reader) value(encoding byte) uint64 {
	switch encoding & 0x0f {
	case 0x00, 0x04, 0x0c:
		return r.unsigned(8)
	case 0x01:
		return r.uleb()
	case 0x02:
		return r.unsigned(2)
	case 0x03:
		return r.unsigned(4)
	case 0x09:
		return uint64(r.sleb())
	case 0x0a:
		return r.signed(2)
	case 0x0b:
		return r.signed(4)
	}
	r.bad = true
	return 0
}
