package whole

import (
	"bytes"
	"fmt"
	"image/png"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"sdm/protocol"
	"sdm/protocol/rank"
)

func TestOffset(t *testing.T) {
	values := map[string]int64{"begin": 7, "nb": 2, "rank": 1, "p->low": 5, "t[2].n": 9, "m::first": 3, "*q": 4, "d(1,2)": 6}
	for expr, want := range map[string]string{
		"begin":                             "7 8 9",
		"$i":                                "0 1 2",
		"begin + 2*nb - 1":                  "10 11 12",
		"($i / nb * 4 + rank) * nb + $i%nb": "2 3 10",
		"-begin + 10/3*(p->low)":            "8 9 10",
		"t[2].n+m::first-*q*-1":             "16 17 18",
		"d(1,2)*begin":                      "42 43 44",
		"10 - $i":                           "10 9 8",
		"$i / (nb - 2)":                     "? ? ?",
		"1000000000*1000000000*1000000000":  "? ? ?",
		"":                                  "error: the offset has \"\" where a number, a name or $i is expected",
		"begin +":                           "error: the offset has \"\" where a number, a name or $i is expected",
		"(begin":                            "error: the offset \"(begin\" ends too early",
		"begin nb":                          "error: the offset has \"nb\" where an operator of + - * / % is expected",
		"a[$i]":                             "error: in the offset, a[$i] cannot depend on $i: the ranks evaluate names once",
		"a[3":                               "error: the offset has an open \"[\"",
		"99999999999999999999":              "error: the offset has the number 99999999999999999999, which no array needs",
	} {
		o, err := ParseOffset(expr)
		if err != nil {
			if got := "error: " + err.Error(); got != want {
				t.Errorf("%q: %s, want %s", expr, got, want)
			}
			continue
		}
		var of []int64
		for _, n := range o.Names() {
			v, ok := values[n]
			if !ok {
				t.Errorf("%q has the name %q", expr, n)
			}
			of = append(of, v)
		}
		var got []string
		for i := range int64(3) {
			if at, ok := o.At(of, i); ok {
				got = append(got, fmt.Sprint(at))
			} else {
				got = append(got, "?")
			}
		}
		if s := strings.Join(got, " "); s != want {
			t.Errorf("%q: %s, want %s", expr, s, want)
		}
	}
}

func FuzzOffset(f *testing.F) {
	f.Add("($i / nb * ranks + rank) * nb + $i % nb")
	f.Add("*p->low[2] - 1")
	f.Fuzz(func(t *testing.T, text string) {
		o, err := ParseOffset(text)
		if err != nil {
			return
		}
		values := make([]int64, len(o.Names()))
		for i := range values {
			values[i] = math.MaxInt64 - int64(i)
		}
		if at, ok := o.At(values, 5); ok && (at >= maxPlace || at <= -maxPlace) {
			t.Errorf("%d", at)
		}
	})
}

func mustOffset(t interface{ Fatal(...any) }, text string) *Offset {
	o, err := ParseOffset(text)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func TestLay(t *testing.T) {
	for _, c := range []struct {
		name, by string
		pieces   []Piece
		want     string
	}{
		{"blocks", "at", []Piece{{0, 10, []int64{0}}, {1, 10, []int64{10}}}, "20 20 [] [] []"},
		{"a gap at the beginning and one within", "at", []Piece{{0, 5, []int64{2}}, {1, 5, []int64{9}}}, "14 10 [0-1 7-8] [] []"},
		{"an overlap", "at", []Piece{{0, 10, []int64{0}}, {1, 10, []int64{8}}, {2, 2, []int64{9}}}, "18 18 [] [8-9 on 0-1 9-10 on 1-2] []"},
		{"negative places", "at", []Piece{{0, 5, []int64{-2}}, {1, 2, []int64{-9}}}, "3 3 [] [] [1: -9--8 from 0 0: -2--1 from 0]"},
		{"dealt out", "($i / 2 * 2 + at) * 2 + $i % 2", []Piece{{0, 4, []int64{0}}, {1, 4, []int64{1}}}, "8 8 [] [] []"},
		{"backwards", "3 - $i", []Piece{{0, 4, nil}}, "4 4 [] [] []"},
		{"all in one place", "0 * $i", []Piece{{3, 3, nil}}, "1 1 [] [0 on 3] []"},
		{"no elements", "at", []Piece{{0, 0, []int64{5}}}, "0 0 [] [] []"},
	} {
		l, err := Lay(mustOffset(t, c.by), c.pieces)
		var overlaps, negative []string
		for _, o := range l.Overlaps {
			overlaps = append(overlaps, fmt.Sprintf("%s on %s", o.Range, o.Ranks))
		}
		for _, n := range l.Negative {
			negative = append(negative, fmt.Sprintf("%d: %s from %d", n.Rank, n.Range, n.Local))
		}
		if got := fmt.Sprint(l.Elements, l.Covered, l.Gaps, overlaps, negative); got != c.want || err != nil {
			t.Errorf("%s: %s, %v; want %s", c.name, got, err, c.want)
		}
	}
	if _, err := Lay(mustOffset(t, "1 / at"), []Piece{{4, 2, []int64{0}}}); err == nil {
		t.Error("a division by zero has a place")
	}
}

// The layout has as many places, gaps and overlaps as a count of each place.
func TestLayCounts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		by := rapid.SampledFrom([]string{"at", "at + $i * step", "at + $i / 2", "at - $i"}).Draw(t, "by")
		o := mustOffset(t, by)
		var pieces []Piece
		count := map[int64]int{}
		for r := range rapid.IntRange(1, 4).Draw(t, "ranks") {
			p := Piece{Rank: rank.ID(r), Elements: rapid.IntRange(0, 6).Draw(t, "n")}
			for range o.Names() {
				p.Values = append(p.Values, int64(rapid.IntRange(-2, 12).Draw(t, "value")))
			}
			for i := range p.Elements {
				at, _ := o.At(p.Values, int64(i))
				count[at]++
			}
			pieces = append(pieces, p)
		}
		l, err := Lay(o, pieces)
		if err != nil {
			t.Fatal(err)
		}
		var covered, highest int64 = 0, -1
		several := map[int64]bool{}
		for at, n := range count {
			if at >= 0 {
				covered++
				highest = max(highest, at)
			}
			if n > 1 && at >= 0 {
				several[at] = true
			}
		}
		if l.Covered != covered || l.Elements != highest+1 {
			t.Fatalf("%d places of %d, want %d of %d", l.Covered, l.Elements, covered, highest+1)
		}
		var gaps int64
		for _, g := range l.Gaps {
			gaps += g.Len()
		}
		if l.MoreGaps == 0 && gaps != l.Elements-l.Covered {
			t.Fatalf("gaps %v of %d places, want %d", l.Gaps, gaps, l.Elements-l.Covered)
		}
		for _, o := range l.Overlaps {
			for at := o.First; at <= o.Last; at++ {
				if !several[at] {
					t.Fatalf("overlap %v at %d, where there is one element", o, at)
				}
				count[at] = 0
			}
		}
		for at := range several {
			if l.MoreOverlaps == 0 && count[at] != 0 {
				t.Fatalf("no overlap at %d: %v", at, l.Overlaps)
			}
		}
	})
}

func parts() []Part {
	index := protocol.Shape{Dims: []protocol.Dim{{Count: 4}}}.Index
	return []Part{
		{Piece{0, 4, []int64{0}}, protocol.ArrayStat{Elements: 4, Min: "1", Max: "4", MaxAt: 3, Sum: 10}, 1, []float64{1, 2, 3, 4}, index},
		{Piece{1, 4, []int64{6}}, protocol.ArrayStat{Elements: 4, Min: "-5", MinAt: 1, Max: "6", MaxAt: 3, Sum: 1, NaN: 2, NaNAt: 0}, 2,
			[]float64{math.NaN(), math.NaN()}, index},
	}
}

func TestJoin(t *testing.T) {
	a, err := Join(mustOffset(t, "at"), parts())
	if err != nil {
		t.Fatal(err)
	}
	const want = ` as one array: 8 elements in the pieces of 2 ranks, places 0-9
  min -5 at 7 ([1] of rank 1), max 6 at 9 ([3] of rank 1), mean 1.83333
  2 NaN, the first at 6 ([0] of rank 1)
  gap: no rank has places 4-5 (2)`
	if got := a.String(); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

func TestPNG(t *testing.T) {
	a, err := Join(mustOffset(t, "at"), parts())
	if err != nil {
		t.Fatal(err)
	}
	b, size := a.PNG(5)
	img, err := png.Decode(bytes.NewReader(b))
	if err != nil || size.X != 5 || size.Y != 2 || img.Bounds().Max != size {
		t.Fatalf("%v, %v", size, err)
	}
	for at, want := range map[[2]int]any{{0, 0}: scale[0], {3, 0}: scale[4], {4, 0}: missing, {1, 1}: strange, {2, 1}: strange} {
		r, g, b, _ := img.At(at[0], at[1]).RGBA()
		if got := fmt.Sprint(r>>8, g>>8, b>>8); !strings.HasPrefix(fmt.Sprint(want), "{"+got) {
			t.Errorf("%v is %s, want %v", at, got, want)
		}
	}
}
