// Numbers and characters in memory.

package gdbtext

import (
	"bytes"
	"encoding/binary"
	"math"
)

// LongDouble reads an x87 number of 80 bits (Intel 64 manual, Double Extended-Precision Floating-Point Format).
func LongDouble(b []byte) float64 {
	fraction, head := binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint16(b[8:])
	f := math.Ldexp(float64(fraction), int(head&0x7fff)-16383-63)
	switch {
	case head&0x7fff == 0x7fff && fraction<<1 != 0:
		return math.NaN()
	case head&0x7fff == 0x7fff:
		f = math.Inf(1)
	}
	if head>>15 == 1 {
		return -f
	}
	return f
}

// IndexZero returns the byte offset of the first character of size bytes that is zero, or the length.
func IndexZero(b []byte, size int) int {
	zero := make([]byte, size)
	for i := 0; i+size <= len(b); i += size {
		if bytes.Equal(b[i:i+size], zero) {
			return i
		}
	}
	return len(b)
}
