package column

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"sdm/protocol/rank"
)

// columnOf merges columns of one value each; rank i has values[i].
func columnOf(name string, limit int, values ...string) Column {
	var c Column
	c.Name = name
	for i, v := range values {
		c = c.Merge(New(name, rank.ID(i), v, limit))
	}
	return c
}

// numbered returns the texts of the numbers 0 to n-1.
func numbered(n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = strconv.Itoa(i)
	}
	return out
}

var someValues = rapid.OneOf(
	rapid.SampledFrom([]string{"0", "1", "-1", "7", "1.5", "-0", "0.0", "1e300", "-1e300", "1e-320", "5e-324", "nan(0x8000000000000)",
		"-nan(0x1)", "inf", "-inf", "9223372036854775808", "18446744073709551615", "9007199254740993", "9007199254740992",
		"9.007199254740992e15", "-170141183460469231731687303715884105728", "97 'a'", "0x55", "true", "", "\"abc\"", "{a = 1}", "\xff"}),
	rapid.Map(rapid.IntRange(-50, 50), strconv.Itoa),
	rapid.Map(rapid.Float64(), func(f float64) string { return strconv.FormatFloat(f, 'g', 17, 64) }),
)

// drawColumns draws columns of one rank each.
func drawColumns(t *rapid.T) []Column {
	limit := rapid.SampledFrom([]int{-1, 0, 1, 4, 100}).Draw(t, "limit")
	values := rapid.SliceOfN(someValues, 1, 120).Draw(t, "values")
	out := make([]Column, len(values))
	for i, v := range values {
		l := limit
		if limit > 0 {
			l = limit + i%3 // different limits: the lowest one applies
		}
		out[i] = New("x", rank.ID(i), v, l)
	}
	return out
}

// mergedAtRandom merges columns in a random order and tree.
func mergedAtRandom(t *rapid.T, columns []Column) Column {
	all := slices.Clone(columns)
	for len(all) > 1 {
		i := rapid.IntRange(0, len(all)-1).Draw(t, "i")
		j := rapid.IntRange(0, len(all)-2).Draw(t, "j")
		if j >= i {
			j++
		}
		all[i] = all[i].Merge(all[j])
		all = slices.Delete(all, j, j+1)
	}
	return all[0]
}

func TestColumnMergesTheSameInAnyOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		columns := drawColumns(t)
		want := columns[0]
		for _, c := range columns[1:] {
			want = want.Merge(c)
		}
		got := mergedAtRandom(t, columns)
		if !bytes.Equal(got.AppendWire(nil), want.AppendWire(nil)) {
			t.Fatalf("in one order  %v\nin another one %v", want, got)
		}
		again, rest, err := Decode(append(got.AppendWire(nil), "rest"...))
		if err != nil || string(rest) != "rest" || !bytes.Equal(again.AppendWire(nil), got.AppendWire(nil)) {
			t.Fatalf("decoded as %v, rest %q, %v; want %v", again, rest, err, got)
		}
		text, err := json.Marshal(got)
		if err != nil {
			t.Fatal(err)
		}
		fromText := Column{Name: "x"}
		if err := json.Unmarshal(text, &fromText); err != nil || !bytes.Equal(fromText.AppendWire(nil), got.AppendWire(nil)) {
			t.Fatalf("%s is read as %v, %v; want %v", text, fromText, err, got)
		}
	})
}

// slowStats computes the statistics of values directly.
func slowStats(values []string) (distinct, numbers int, low, high, mean, deviation float64) {
	seen := map[string]bool{}
	sum, squares := new(big.Rat), new(big.Rat)
	low, high = math.Inf(1), math.Inf(-1)
	for _, v := range values {
		seen[v] = true
		f, err := strconv.ParseFloat(v, 64)
		x := new(big.Rat)
		if _, ok := x.SetString(v); !ok || err != nil || strings.HasPrefix(v, "0x") {
			continue
		}
		if strings.ContainsAny(v, ".e") {
			x.SetFloat64(f)
		}
		numbers++
		low, high = min(low, f), max(high, f)
		sum.Add(sum, x)
		squares.Add(squares, x.Mul(x, x))
	}
	if numbers == 0 {
		return len(seen), 0, 0, 0, 0, 0
	}
	n := big.NewRat(int64(numbers), 1)
	sum.Quo(sum, n)
	squares.Quo(squares, n)
	mean, _ = sum.Float64()
	variance := new(big.Float).SetPrec(1000).SetRat(squares.Sub(squares, sum.Mul(sum, sum)))
	deviation, _ = variance.Sqrt(variance).Float64()
	return len(seen), numbers, low, high, mean, deviation
}

// neighbours reports whether two numbers are equal or adjacent floats: a square
// root of 128 bits that lies between the two is rounded twice.
func neighbours(a, b float64) bool { return a == b || math.Nextafter(a, b) == b }

func TestColumnAgreesWithTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(someValues.Filter(func(v string) bool { return v != "97 'a'" }), 1, 60).Draw(t, "values")
		limit := rapid.SampledFrom([]int{-1, 3}).Draw(t, "limit")
		c := columnOf("x", limit, values...)
		distinct, numbers, low, high, mean, deviation := slowStats(values)
		if n, exact := c.Distinct(); n != distinct || !exact || c.Count() != len(values) {
			t.Fatalf("%d values (exact: %v) of %d, want %d of %d", n, exact, c.Count(), distinct, len(values))
		}
		if c.Complete() != (limit < 0 || distinct <= limit) {
			t.Fatalf("%d values, limit %d, but complete is %v", distinct, limit, c.Complete())
		}
		s := c.Stats()
		if s.Numbers != numbers || s.Mean != mean || !neighbours(s.StdDev, deviation) {
			t.Fatalf("got %+v, want %d numbers, mean %v, standard deviation %v", s, numbers, mean, deviation)
		}
		if numbers == 0 {
			return
		}
		least, _ := c.Min()
		most, _ := c.Max()
		if parseNumber(least.Value).f != low || parseNumber(most.Value).f != high {
			t.Fatalf("from %s to %s, want %v to %v", least.Value, most.Value, low, high)
		}
		for _, e := range append(s.Lowest, s.Highest...) {
			holders := 0
			for i, v := range values {
				if p := parseNumber(v); p.class == finite && p.compare(parseNumber(e.Value)) == 0 {
					if holders++; holders <= maxTallyRanks && !e.Ranks.Contains(rank.ID(i)) {
						t.Fatalf("rank %d is not among the ranks of %s: %v", i, e.Value, e.Ranks)
					}
				}
			}
			if e.Count != holders || e.Ranks.Len() != min(holders, maxTallyRanks) {
				t.Fatalf("%s has count %d and ranks %v, want %d", e.Value, e.Count, e.Ranks, holders)
			}
		}
	})
}

// The reference result is just above the middle of two floats here.
func TestDeviationIsRoundedTwiceAtMost(t *testing.T) {
	values := []string{"9007199254740993", "-2.6469779601696886e-23"}
	_, _, _, _, _, deviation := slowStats(values)
	if got := columnOf("x", -1, values...).Stats().StdDev; !neighbours(got, deviation) {
		t.Errorf("%v, want %v", got, deviation)
	}
}

func TestColumnString(t *testing.T) {
	for _, c := range []struct {
		name string
		col  Column
		want string
	}{
		{"one value", columnOf("n", 0, "5", "5", "5"), "n=5[0-2]"},
		{"numbers, in order", columnOf("n", 0, "10", "9", "-1", "10"), "n=-1[2]|9[1]|10[0,3]"},
		{"numbers of all kinds", columnOf("n", 0, "nan(0x8000000000000)", "inf", "1.5", "-inf"),
			"n=-inf[3]|1.5[2]|inf[1]|nan(0x8000000000000)[0]"},
		{"text, by rank", columnOf("n", 0, "b", "a", "b", "3"), "n=b[0,2]|a[1]|3[3]"},
		{"text that needs quotes", columnOf("n", 0, "a|b", "\n"), `n="a|b"[0]|"\n"[1]`},
		{"beyond the limit", columnOf("n", 2, numbered(9)...), "n=<9 values of 9 ranks, 0[0]..8[8] mean 4>"},
		{"text beyond the limit", columnOf("n", 2, "a", "b", "c", "c"), "n=<3 values of 4 ranks>"},
		{"the middle is lost, the ends are not", columnOf("n", 2, "3", "1", "2", "1"), "n=<3 values of 4 ranks, 1[1,3]..3[0] mean 1.75>"},
		{"nothing", Column{Name: "n"}, "n="},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := c.col.String(); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestColumnMergePanicsOnOtherName(t *testing.T) {
	defer func() {
		if got := fmt.Sprint(recover()); !strings.Contains(got, `"a"`) || !strings.Contains(got, `"b"`) {
			t.Errorf("panic %q does not name both", got)
		}
	}()
	New("a", 0, "1", 0).Merge(New("b", 1, "1", 0))
}

func TestColumnDoesNotChangeWhenMerged(t *testing.T) {
	a := columnOf("n", 4, numbered(9)...)
	b := New("n", 20, "3", 4)
	before := string(a.AppendWire(nil)) + string(b.AppendWire(nil))
	a.Merge(b)
	b.Merge(a)
	if after := string(a.AppendWire(nil)) + string(b.AppendWire(nil)); after != before {
		t.Error("a column was changed by merging")
	}
}

func TestColumnDistinctEstimate(t *testing.T) {
	for _, want := range []int{65, 200, 1000, 20_000} {
		c := columnOf("n", 0, numbered(want)...)
		got, exact := c.Distinct()
		if off := math.Abs(float64(got-want)) / float64(want); exact || off > 0.2 {
			t.Errorf("%d values are estimated as %d (exact: %v)", want, got, exact)
		}
	}
}

func TestColumnOfManyRanksIsSmall(t *testing.T) {
	var c Column
	for first := range 100 {
		part := make([]string, 100)
		for i := range part {
			part[i] = strconv.Itoa(first*100 + i)
		}
		c = c.Merge(columnOf("", 0, part...))
	}
	if n := len(c.AppendWire(nil)); n > 2500 {
		t.Errorf("10,000 values take %d bytes", n)
	}
}

func FuzzColumn(f *testing.F) {
	f.Add(columnOf("n", 2, "{x = 1, y = 2}", "{x = 1, y = 3}", "{x = 1, y = nan(0x1)}").AppendWire(nil))
	f.Add(columnOf("n", 2, structures(20)...).AppendWire(nil))
	f.Add(columnOf("n", 0, "5", "5", "abc").AppendWire(nil))
	f.Add(columnOf("n", 2, numbered(9)...).AppendWire(nil))
	f.Add(columnOf("n", 2, numbered(99)...).AppendWire(nil))
	f.Add(columnOf("n", 2, "1.5", "nan(0x1)", "-inf", "1e300", "5e-324").AppendWire(nil))
	f.Add(Column{}.AppendWire(nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		c, _, err := Decode(b)
		if err != nil {
			return
		}
		wire := c.AppendWire(nil)
		again, rest, err := Decode(wire)
		if err != nil || len(rest) > 0 || !bytes.Equal(again.AppendWire(nil), wire) {
			t.Fatalf("%v is decoded as %v, rest %d, %v", c, again, len(rest), err)
		}
		text, err := json.Marshal(c)
		if err != nil {
			t.Fatalf("%v: %v", c, err)
		}
		fromText := Column{Name: c.Name}
		if err := json.Unmarshal(text, &fromText); err != nil || fromText.String() != c.String() {
			t.Fatalf("%s is read as %v, %v", text, fromText, err)
		}
		c.Merge(New(c.Name, rank.MaxID, "1", 0))
		c.Stats()
		c.Distinct()
		c.Majority()
		for _, fold := range c.Folds() {
			fold.Text(func(x Field) string { x.Range(fold.Ranks()); x.Values(); x.Distinct(); return "" })
			fold.Paths()
		}
		sum := 0
		for _, bar := range c.Histogram(7) {
			sum += bar.Count
		}
		if n := c.Stats().Numbers; sum != n {
			t.Fatalf("%v: %d of %d numbers in the histogram", c, sum, n)
		}
		if _, err := json.Marshal(c.Described()); err != nil {
			t.Fatalf("%v: %v", c, err)
		}
	})
}

func BenchmarkColumnMerge(b *testing.B) {
	one := columnOf("n", 0, "5")
	same := New("n", 1, "5", 0)
	sixteen := columnOf("n", 0, numbered(16)...)
	summary := columnOf("n", 0, numbered(100)...)
	for _, c := range []struct {
		name string
		c, d Column
	}{
		{"equal", one, same},
		{"one into 16", sixteen, New("n", 16, "3", 0)},
		{"16 and 16", sixteen, sixteen},
		{"one into summary", summary, New("n", 100, "100", 0)},
		{"summaries", summary, summary},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				c.c.Merge(c.d)
			}
		})
	}
}

// A very large limit can be encoded.
func TestLimitBeyondBounds(t *testing.T) {
	for _, limit := range []int{math.MaxInt32 - 1, math.MaxInt32, math.MaxInt} {
		c := New("value", 3, "x", limit)
		got, rest, err := Decode(c.AppendWire(nil))
		if err != nil || len(rest) > 0 || got.String() != c.String() {
			t.Errorf("%d: got %v, %v", limit, got, err)
		}
	}
}
