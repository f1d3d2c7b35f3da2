package column

import (
	"bytes"
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"sdm/protocol/rank"
)

// shapes are distributions of numbers.
var shapes = map[string]func(r *rand.Rand) float64{
	"few whole ones":  func(r *rand.Rand) float64 { return float64(r.IntN(60)) },
	"whole ones":      func(r *rand.Rand) float64 { return float64(r.IntN(1_000_000)) },
	"around 0":        func(r *rand.Rand) float64 { return r.NormFloat64() },
	"all sizes":       func(r *rand.Rand) float64 { return math.Exp(min(r.NormFloat64()*200, 700)) - 1 },
	"all bit pattern": func(r *rand.Rand) float64 { return someFloat(r) },
	"constant":        func(*rand.Rand) float64 { return -2.5 },
}

func someFloat(r *rand.Rand) float64 {
	for {
		if f := math.Float64frombits(r.Uint64()); !math.IsNaN(f) && !math.IsInf(f, 0) {
			return f + 0
		}
	}
}

// drawNumbers returns n numbers of one distribution.
func drawNumbers(shape string, n int, seed uint64) []float64 {
	r := rand.New(rand.NewPCG(seed, 1))
	out := make([]float64, n)
	for i := range out {
		out[i] = shapes[shape](r)
	}
	return out
}

func columnOfFloats(first int, limit int, values []float64) Column {
	var list []ValueCount
	for i, f := range values {
		list = append(list, ValueCount{strconv.FormatFloat(f, 'g', 17, 64), rank.Of(rank.ID(first + i))})
	}
	return Column{Name: "x", limit: limit, summary: summarize(list)}
}

// Thousands of numbers, split at random and merged in a random tree, have identical
// encodings.
func TestBinsMergeTheSameInAnyTree(t *testing.T) {
	names := []string{"few whole ones", "whole ones", "around 0", "all sizes", "all bit pattern", "constant"}
	rapid.Check(t, func(t *rapid.T) {
		values := drawNumbers(rapid.SampledFrom(names).Draw(t, "shape"), rapid.IntRange(1, 1500).Draw(t, "n"), rapid.Uint64().Draw(t, "seed"))
		whole := columnOfFloats(0, 4, values)
		var parts []Column
		for i := 0; i < len(values); {
			n := min(rapid.IntRange(1, 400).Draw(t, "part"), len(values)-i)
			parts = append(parts, columnOfFloats(i, 4, values[i:i+n]))
			i += n
		}
		got := mergedAtRandom(t, parts)
		if !bytes.Equal(got.AppendWire(nil), whole.AppendWire(nil)) {
			t.Fatalf("in parts\n%v\n%+v\nat once\n%v\n%+v", got, got.summary.bins, whole, whole.summary.bins)
		}
		if n := len(whole.summary.bins.list); n > maxBins {
			t.Fatalf("%d bins", n)
		}
	})
}

func TestQuantilesAreNear(t *testing.T) {
	for shape := range shapes {
		t.Run(shape, func(t *testing.T) {
			values := drawNumbers(shape, 20_000, 7)
			c := columnOfFloats(0, 4, values)
			slices.Sort(values)
			// The width of a bin is 2^(shift-52) of its numbers.
			off := math.Ldexp(1, int(c.summary.bins.shift)-52)
			for _, q := range []float64{0, 0.01, 0.25, 0.5, 0.75, 0.99, 1} {
				got, ok := c.Quantile(q)
				want := values[max(int(math.Ceil(q*20_000)), 1)-1]
				if !ok || math.Abs(got-want) > off*max(math.Abs(want), math.Abs(got)) {
					if c.summary.bins.shift < 52 { // else a bin covers more than a factor of two
						t.Errorf("quantile %v is %v, want %v within %v of it", q, got, want, off)
					} else if math.Signbit(got) != math.Signbit(want) && got != 0 {
						t.Errorf("quantile %v is %v, want the sign of %v", q, got, want)
					}
				}
			}
		})
	}
}

func TestQuantilesOfACompleteColumn(t *testing.T) {
	c := columnOf("x", -1, "5", "1", "inf", "3", "3", "abc", "nan(0x1)")
	for q, want := range map[float64]float64{0: 1, 0.25: 1, 0.5: 3, 0.75: 3, 0.76: 5, 1: 5} {
		if got, ok := c.Quantile(q); !ok || got != want {
			t.Errorf("quantile %v is %v, want %v", q, got, want)
		}
	}
	if _, ok := columnOf("x", 0, "abc").Quantile(0.5); ok {
		t.Error("text has a median")
	}
}

func TestHistogram(t *testing.T) {
	for _, c := range []struct {
		name string
		col  Column
		n    int
		want []Bar
	}{
		{"whole numbers", columnOf("x", -1, "0", "1", "1", "3"), 10, []Bar{{0, 1, 1}, {1, 2, 2}, {2, 3, 0}, {3, 4, 1}}},
		{"the same without the values", columnOf("x", 1, "0", "1", "1", "3"), 10, []Bar{{0, 1, 1}, {1, 2, 2}, {2, 3, 0}, {3, 4, 1}}},
		{"fractions", columnOf("x", -1, "0", "0.5", "2", "-2"), 4, []Bar{{-2, -1, 1}, {-1, 0, 0}, {0, 1, 2}, {1, 2, 1}}},
		{"all equal", columnOf("x", -1, "7", "7"), 10, []Bar{{7, 7, 2}}},
		{"the whole range of floats", columnOf("x", -1, "-1.7e308", "1.7e308"), 2, []Bar{{-1.7e308, 0, 1}, {0, 1.7e308, 1}}},
		{"text", columnOf("x", -1, "a"), 10, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := c.col.Histogram(c.n); !slices.Equal(got, c.want) {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

// For numbers that differ in their last bits only, no count is negative, and the
// starts of the steps do not decrease.
func TestHistogramOfNumbersThatAreClose(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		at := rapid.Float64().Draw(t, "at")
		n := rapid.IntRange(2, 40).Draw(t, "n")
		values := make([]string, n)
		for i := range values {
			values[i] = strconv.FormatFloat(at, 'g', 17, 64)
			for range rapid.IntRange(0, 3).Draw(t, "bits") {
				at = math.Nextafter(at, math.MaxFloat64)
			}
		}
		sum := 0
		bars := columnOf("x", rapid.SampledFrom([]int{-1, 1}).Draw(t, "limit"), values...).Histogram(10)
		for i, b := range bars {
			if sum += b.Count; b.Count < 0 || b.To < b.From || i > 0 && b.From != bars[i-1].To {
				t.Fatalf("%q: %v", values, bars)
			}
		}
		if sum != n {
			t.Fatalf("%d of %d numbers in %v", sum, n, bars)
		}
	})
}

func TestHistogramCountsAllNumbers(t *testing.T) {
	for shape := range shapes {
		c := columnOfFloats(0, 4, drawNumbers(shape, 20_000, 3))
		sum := 0
		bars := c.Histogram(10)
		for i, b := range bars {
			if sum += b.Count; b.Count < 0 || i > 0 && b.From != bars[i-1].To {
				t.Errorf("%s: %v", shape, bars)
			}
		}
		if sum != 20_000 {
			t.Errorf("%s: %d of 20000 numbers in %v", shape, sum, bars)
		}
	}
}

func TestMajority(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.SampledFrom([]string{"0", "0", "0", "0", "1", "2", "", "nan", "{a = 1}"}), 1, 60).Draw(t, "values")
		counts := map[string]int{}
		for _, v := range values {
			counts[v]++
		}
		c := columnOf("x", rapid.SampledFrom([]int{-1, 1}).Draw(t, "limit"), values...)
		hash, ok := c.Majority()
		for v, n := range counts {
			if 2*n > len(values) && (!ok || hash != Hash(v)) {
				t.Fatalf("%q is the majority of %v, not the one with hash %x, %v", v, values, hash, ok)
			}
		}
	})
	if _, ok := (Column{}).Majority(); ok {
		t.Error("no value has a majority")
	}
	if _, ok := columnOf("x", -1, "1", "2").Majority(); ok {
		t.Error("one of two has a majority")
	}
}

// The summary of many ranks with different values must be small. (That of a million
// values takes 3.7 KB, but too long to compute here.)
func TestManyValuesStaySmall(t *testing.T) {
	for shape := range shapes {
		n := 1 << 14
		if shape == "whole ones" {
			n = 1 << 17
		}
		c := columnOfFloats(0, 1, drawNumbers(shape, n, 5))
		wire := len(c.AppendWire(nil))
		text, err := json.Marshal(c.Described())
		if err != nil || wire > 4<<10 || len(text) > 15<<10 {
			t.Errorf("%s: %d bytes, %d as JSON, %v", shape, wire, len(text), err)
		}
	}
}

func BenchmarkSummaryMerge(b *testing.B) {
	for _, shape := range []string{"few whole ones", "whole ones", "all sizes"} {
		x := columnOfFloats(0, 4, drawNumbers(shape, 1<<14, 1))
		y := columnOfFloats(1<<14, 4, drawNumbers(shape, 1<<14, 2))
		b.Run(shape, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				x.Merge(y)
			}
		})
	}
}
