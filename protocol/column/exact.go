// Exact sums, which do not depend on the order of addition.

package column

import (
	"encoding/binary"
	"errors"
	"math"
	"math/big"
)

// exact is a sum without rounding: mant * 2^exp. Every float and integer has this
// form. It is immutable; the zero value is 0.
type exact struct {
	mant *big.Int // nil is 0
	exp  int
}

// Limits of a received sum. Squares of floats range from 2^-2148 to 2^2048, plus 64
// bits for their count.
const (
	maxExactExp   = 2200
	maxExactBytes = 640
)

// newExact returns a finite number as an exact sum.
func newExact(n number) exact {
	if n.big != nil {
		return exact{mant: n.big}
	}
	if n.f == math.Trunc(n.f) && math.Abs(n.f) <= maxFloatInt {
		return exact{mant: big.NewInt(int64(n.f))}
	}
	fraction, exp := math.Frexp(n.f)
	return exact{mant: big.NewInt(int64(fraction * (1 << 53))), exp: exp - 53}
}

// wholeSums are sums of whole numbers that fit into a word, which most do: a
// big.Int for each number would take most of the time of a summary.
type wholeSums struct{ sum, squares int64 }

// add adds a number of n ranks; it returns false if the number or the sum does not
// fit.
func (w *wholeSums) add(v number, n int) bool {
	const most, ranks, full = 1 << 26, 1 << 9, 1 << 61 // most*most*ranks is full
	if v.big != nil || v.f != math.Trunc(v.f) || math.Abs(v.f) > most || n > ranks || w.squares > full {
		return false
	}
	x := int64(v.f)
	w.sum, w.squares = w.sum+x*int64(n), w.squares+x*x*int64(n)
	return true
}

func wholeExact(sum int64) exact {
	if sum == 0 {
		return exact{}
	}
	return exact{mant: big.NewInt(sum)}
}

func (x exact) add(y exact) exact {
	switch {
	case x.mant == nil:
		return y
	case y.mant == nil:
		return x
	case x.exp < y.exp:
		x, y = y, x
	}
	sum := new(big.Int)
	if x.exp > y.exp {
		sum.Lsh(x.mant, uint(x.exp-y.exp))
		return exact{sum.Add(sum, y.mant), y.exp}
	}
	return exact{sum.Add(x.mant, y.mant), y.exp}
}

func (x exact) times(n int) exact {
	if x.mant == nil || n == 1 {
		return x
	}
	return exact{new(big.Int).Mul(x.mant, big.NewInt(int64(n))), x.exp}
}

func (x exact) squared() exact {
	if x.mant == nil {
		return x
	}
	return exact{new(big.Int).Mul(x.mant, x.mant), 2 * x.exp}
}

func (x exact) rat() *big.Rat {
	if x.mant == nil {
		return new(big.Rat)
	}
	one := big.NewInt(1)
	if x.exp >= 0 {
		return new(big.Rat).SetInt(new(big.Int).Lsh(x.mant, uint(x.exp)))
	}
	return new(big.Rat).SetFrac(x.mant, one.Lsh(one, uint(-x.exp)))
}

// mean returns the mean of n numbers from their sum.
func mean(sum exact, n int) float64 {
	r := sum.rat()
	f, _ := r.Quo(r, new(big.Rat).SetInt64(int64(n))).Float64()
	return f
}

// deviation returns the population standard deviation of n numbers from their sum
// and the sum of their squares.
func deviation(sum, squares exact, n int) float64 {
	count := new(big.Rat).SetInt64(int64(n))
	m := sum.rat()
	m.Quo(m, count)
	v := squares.rat()
	v.Quo(v, count)
	if v.Sub(v, m.Mul(m, m)); v.Sign() < 0 {
		return 0 // only if received sums are invalid
	}
	variance := new(big.Float).SetPrec(128).SetRat(v) // the range of a float64 may be too small for it
	f, _ := variance.Sqrt(variance).Float64()
	return f
}

// appendWire encodes length and sign, the odd mantissa, the exponent.
func (x exact) appendWire(b []byte) []byte {
	if x.mant == nil || x.mant.Sign() == 0 {
		return append(b, 0)
	}
	zeros := x.mant.TrailingZeroBits()
	mant := x.mant
	if zeros > 0 {
		mant = new(big.Int).Rsh(new(big.Int).Abs(mant), zeros)
	}
	bytes := mant.Bytes()
	head := uint64(len(bytes)) << 1
	if x.mant.Sign() < 0 {
		head |= 1
	}
	b = append(binary.AppendUvarint(b, head), bytes...)
	return binary.AppendVarint(b, int64(x.exp)+int64(zeros))
}

func (r *reader) exact() exact {
	head := r.Uvarint()
	length := head >> 1
	if head == 0 || r.Err != nil {
		return exact{}
	}
	if length > maxExactBytes {
		r.Fail(errors.New("column: a sum is too long"))
		return exact{}
	}
	bytes := r.Take(length)
	exp := r.Varint()
	if r.Err != nil {
		return exact{}
	}
	if length == 0 || bytes[0] == 0 || bytes[length-1]&1 == 0 || exp < -maxExactExp || exp > maxExactExp {
		r.Fail(errors.New("column: a sum is not in canonical form"))
		return exact{}
	}
	mant := new(big.Int).SetBytes(bytes)
	if head&1 == 1 {
		mant.Neg(mant)
	}
	return exact{mant, int(exp)}
}
