// Numbers in AIF.

package ptp

import (
	"math"
	"math/big"
	"slices"
	"strconv"
)

// extended converts the 80-bit format of x86: a 64-bit fraction with its leading
// one, and an exponent with the sign.
func extended(fraction uint64, exponent uint16) float64 {
	const bias, infinite = 16383, 0x7fff
	v := math.Ldexp(float64(fraction), int(exponent&infinite)-bias-63)
	if exponent&infinite == infinite {
		if v = math.Inf(1); fraction<<1 != 0 {
			v = math.NaN()
		}
	}
	if exponent > infinite {
		v = -v
	}
	return v
}

// isBeyondDouble reports whether a finite number in the 80-bit format of x86 is none as a double, or one
// with fewer digits.
func isBeyondDouble(fraction uint64, exponent uint16) bool {
	v := math.Abs(extended(fraction, exponent))
	return fraction != 0 && exponent&0x7fff != 0x7fff && (math.IsInf(v, 0) || v < SmallestNormal)
}

// SmallestNormal is the smallest double with all digits.
const SmallestNormal = 0x1p-1022

// extendedText writes a finite number in the 80-bit format of x86 with the digits that gdb writes.
func extendedText(fraction uint64, exponent uint16) string {
	const bias, digits = 16383, 21
	v := new(big.Float).SetPrec(64).SetUint64(fraction)
	v.SetMantExp(v, int(exponent&0x7fff)-bias-63)
	if exponent > 0x7fff {
		v.Neg(v)
	}
	return v.Text('g', digits)
}

// truth is a truth value of any size in the one byte that Java reads.
func truth(mem []byte) byte {
	for _, c := range mem {
		if c != 0 {
			return 1
		}
	}
	return 0
}

// littleEndian returns the number in the lowest eight bytes.
func littleEndian(mem []byte, signed bool) int64 {
	mem = mem[:min(len(mem), 8)]
	var v uint64
	for i, c := range mem {
		v |= uint64(c) << (8 * i)
	}
	if shift := 64 - 8*len(mem); signed && shift < 64 {
		return int64(v) << shift >> shift
	}
	return int64(v)
}

// bigEndian appends the lowest bytes of a number, highest byte first; bytes beyond eight are its sign.
func bigEndian(b []byte, v uint64, size int) []byte {
	for i := size - 1; i >= 0; i-- {
		b = append(b, byte(int64(v)>>min(8*i, 63)))
	}
	return b
}

// decimal returns a number of any size.
func decimal(mem []byte, signed bool) string {
	b := slices.Clone(mem)
	slices.Reverse(b)
	n := new(big.Int).SetBytes(b)
	if signed && len(b) > 0 && b[0] >= 0x80 {
		n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(8*len(b))))
	}
	return n.String()
}

func appendNumber(b []byte, n int) []byte { return strconv.AppendInt(b, int64(n), 10) }
