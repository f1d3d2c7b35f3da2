package column

import (
	"bytes"
	"math"
	"testing"

	"pgregory.net/rapid"
)

// wholeSums give the same results as exact sums, also beyond the point where they
// do not fit any more.
func TestWholeSumsAgreeWithExactOnes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var whole wholeSums
		var sum, squares, restSum, restSquares exact
		for range rapid.IntRange(0, 200).Draw(t, "values") {
			f := rapid.SampledFrom([]float64{0, 1, -1, 7, 1 << 26, -1 << 26, 1<<26 + 1, -1<<26 - 1, 0.5, 1e300, math.MaxFloat64}).Draw(t, "value")
			n := rapid.SampledFrom([]int{1, 2, 1 << 9, 1<<9 + 1, 1 << 20}).Draw(t, "ranks")
			v := number{class: finite, f: f}
			x, y := newExact(v).times(n), newExact(v).squared().times(n)
			sum, squares = sum.add(x), squares.add(y)
			if !whole.add(v, n) {
				restSum, restSquares = restSum.add(x), restSquares.add(y)
			}
		}
		restSum, restSquares = restSum.add(wholeExact(whole.sum)), restSquares.add(wholeExact(whole.squares))
		if got, want := restSum.appendWire(nil), sum.appendWire(nil); !bytes.Equal(got, want) {
			t.Fatalf("sum %x, want %x", got, want)
		}
		if got, want := restSquares.appendWire(nil), squares.appendWire(nil); !bytes.Equal(got, want) {
			t.Fatalf("squares %x, want %x", got, want)
		}
	})
}
