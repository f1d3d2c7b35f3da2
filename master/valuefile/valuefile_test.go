package valuefile

import (
	"encoding/binary"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"sdm/protocol"
	"sdm/protocol/canonical"
	"sdm/protocol/column"
	"sdm/protocol/rank"
)

// doubles returns an array of float64 of some ranks.
func doubles(expr, ranks string, numbers ...float64) Value {
	var data []byte
	for _, f := range numbers {
		data = binary.LittleEndian.AppendUint64(data, math.Float64bits(f))
	}
	return Value{Expr: expr, Type: "double [*]", Ranks: setOf(ranks), Kind: protocol.FloatingKind, Size: 8, Stride: 1, Data: data,
		Shape: protocol.Shape{Dims: []protocol.Dim{{Count: len(numbers)}}}}
}

func text(expr, ranks, typ, value string) Value {
	return Value{Expr: expr, Type: typ, Ranks: setOf(ranks), Text: value}
}

// piece returns a piece of a whole array, which begins at a place.
func piece(v Value, at int64) Value {
	v.By, v.At = "at", []int64{at}
	return v
}

func setOf(s string) rank.Set {
	var set rank.Set
	if set.UnmarshalText([]byte(s)) != nil {
		panic(s)
	}
	return set
}

var when = time.Date(2026, 11, 29, 17, 0, 0, 0, time.UTC)

// twoSnapshots is a file.
func twoSnapshots() ([]byte, *File) {
	f := &File{Head: Head{FormatName, FormatVersion, "1.2", when}, Snapshots: []Snapshot{
		{Number: 1, Ranks: setOf("0-3"), Values: []Value{
			text("n", "0-2", "int", "5"), text("n", "3", "int", "nan(0x8000000000000)"),
			doubles("u", "0-3", 1.5, math.NaN(), math.Inf(-1)), {Expr: "p->x", Ranks: setOf("0-3"), Trouble: "Cannot access memory"},
		}},
		{Number: 2, Ranks: setOf("0-1"), Values: []Value{piece(doubles("u", "0", 1, 2), 0), piece(doubles("u", "1", 3, 4), 2)}},
	}}
	b := AppendHead(nil, "1.2", when)
	for _, s := range f.Snapshots {
		b = s.Append(b)
	}
	return b, f
}

func TestParse(t *testing.T) {
	b, want := twoSnapshots()
	got, err := Parse(b)
	if err != nil {
		t.Fatal(err)
	}
	equal := cmp.Comparer(func(a, b rank.Set) bool { return a.Equal(b) })
	if d := cmp.Diff(want, got, equal, cmpopts.EquateEmpty()); d != "" {
		t.Error(d)
	}
}

// A file that was cut off anywhere is read up to there, and says so.
func TestTorn(t *testing.T) {
	b, _ := twoSnapshots()
	first := slices.Index(b, '\n') + 1
	for n := range b {
		f, err := Parse(b[:n])
		if n < first-1 {
			if err == nil {
				t.Fatalf("%d bytes of the head are a file", n)
			}
			continue
		}
		if err != nil {
			t.Fatalf("%d bytes: %v", n, err)
		}
		whole := n < first || b[n-1] == '\n'
		if whole != (f.Torn == 0) {
			t.Fatalf("%d bytes, of which the last is %q: torn in line %d", n, b[n-1], f.Torn)
		}
		for i, s := range f.Snapshots {
			if s.Torn && i != len(f.Snapshots)-1 {
				t.Fatalf("%d bytes: snapshot %d is torn, and not the last", n, s.Number)
			}
		}
	}
	for n := first; n < len(b); n++ { // another byte
		c := slices.Clone(b)
		c[n] ^= 1
		if f, err := Parse(c); err == nil && f.Torn == 0 {
			t.Fatalf("byte %d is another, and nobody says so", n)
		}
	}
}

func TestRefusals(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"nothing":    {"", ErrOther.Error()},
		"other text": {"{\"format\":\"sdm hang file\"}\n", ErrOther.Error()},
		"newer":      {string(appendLine(nil, Head{FormatName, "2.0", "9.9", when})), "format 2, written by sdm 9.9; this sdm reads format 1 (use a newer one)"},
		"no version": {string(appendLine(nil, Head{FormatName, "x", "", when})), "has \"x\" as its version"},
	} {
		if _, err := Parse([]byte(c.text)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
	bad := doubles("u", "0", 1, 2)
	bad.Data = bad.Data[:9]
	b := Snapshot{Number: 1, Ranks: setOf("0"), Values: []Value{bad}}.Append(AppendHead(nil, "", when))
	if f, err := Parse(b); err != nil || f.Torn != 3 {
		t.Errorf("an array without all of its elements: %+v, %v", f, err)
	}
}

func FuzzParse(f *testing.F) {
	b, _ := twoSnapshots()
	f.Add(b)
	f.Add(b[:len(b)/2])
	f.Fuzz(func(t *testing.T, b []byte) {
		file, err := Parse(b)
		if err != nil {
			return
		}
		for _, s := range file.Snapshots {
			Compare(s.Values, s.Values, 0)
			Compare(s.Values, file.Snapshots[0].Values, 1e-9)
		}
	})
}

// FuzzLines parses lines that have their hash, so that what is in them is looked at.
func FuzzLines(f *testing.F) {
	f.Add(`{"snapshot":1,"ranks":"0-3"}`, `{"expr":"u","ranks":"0","by":"at","at":[3],"kind":"signed","size":4,"shape":{"dims":[{"count":2}]},"stride":1,"data":"AQAAAAIAAAA="}`, `{"end":1,"values":1}`)
	f.Fuzz(func(t *testing.T, first, second, third string) {
		b := AppendHead(nil, "", when)
		for _, s := range []string{first, second, third} {
			b = append(b, string(appendRaw(nil, s))...)
		}
		file, err := Parse(b)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range file.Snapshots {
			Compare(s.Values, s.Values, 0)
			Compare(s.Values, nil, 1e-9)
		}
	})
}

func TestCompare(t *testing.T) {
	strided := func(v Value, sum string) Value {
		v.Stride, v.Data, v.Sum = 2, append(slices.Clone(v.Data[:8]), v.Data[16:24]...), sum
		return v
	}
	integers := func(size byte, kind string, data ...byte) Value {
		return Value{Expr: "k", Type: "short [2]", Ranks: setOf("0"), Kind: kind, Size: int(size), Stride: 1, Data: data,
			Shape: protocol.Shape{Dims: []protocol.Dim{{Count: len(data) / int(size)}}}}
	}
	nan := math.NaN()
	for _, c := range []struct {
		name        string
		before, now []Value
		tolerance   float64
		want        string
	}{
		{"the same", []Value{text("n", "0-3", "int", "5")}, []Value{text("n", "0-1", "int", "5"), text("n", "2-3", "int", "5")}, 0,
			"0-3 n is as in the file"},
		{"other texts", []Value{text("n", "0-3", "int", "5")}, []Value{text("n", "0-1", "int", "5"), text("n", "2-3", "int", "6")}, 0,
			"2-3! n was 5, is 6 on 2, the first of 2 ranks; 0-1 n is as in the file"},
		{"another type", []Value{text("n", "0", "int", "5")}, []Value{text("n", "0", "long", "5")}, 0, "0! n was of type int, is of type long"},
		{"NaN and tolerance", []Value{text("x", "0", "double", "nan(0x8000000000000)"), text("x", "1", "double", "1")},
			[]Value{text("x", "0", "double", "-nan(0x8000000000000)"), text("x", "1", "double", "1.0000001")}, 1e-6,
			"0-1 x is as in the file, within 1e-06"},
		{"addresses", []Value{text("p", "0", "int *", "0x5581a0 <buf+16>")}, []Value{text("p", "0", "int *", "0x7f31a0 <buf+16>")}, 0,
			"0 p is as in the file"},
		{"fewer ranks, and others", []Value{text("n", "0-3", "int", "5")}, []Value{text("n", "2-5", "int", "5")}, 0,
			"2-3 n is as in the file; 0-1 n of these ranks is in the file only; 4-5 n of these ranks is not in the file"},
		{"an element", []Value{doubles("u", "0-1", 1, 2, nan)}, []Value{doubles("u", "0", 1, 2, nan), doubles("u", "1", 1, 2.5, 3)}, 0,
			"1! u differs first in [1]: was 2, is 2.5; in 2 of 3 elements; 0 u is as in the file"},
		{"an element within the tolerance", []Value{doubles("u", "0", 1, 200)}, []Value{doubles("u", "0", 1, 200.0001)}, 1e-6, "0 u is as in the file, within 1e-06"},
		{"infinite", []Value{doubles("u", "0", math.Inf(1))}, []Value{doubles("u", "0", 1e308)}, 1, "0! u differs first in [0]: was +Inf, is 1e+308; in 1 of 1 elements"},
		{"another shape", []Value{doubles("u", "0", 1, 2)}, []Value{doubles("u", "0", 1)}, 0, "0! u had 2 elements, has 1 elements"},
		{"signs", []Value{integers(2, protocol.SignedKind, 255, 255, 1, 0)}, []Value{integers(2, protocol.SignedKind, 254, 255, 1, 0)}, 0,
			"0! k differs first in [0]: was -1, is -2; in 1 of 2 elements"},
		{"between the samples", []Value{strided(doubles("u", "0", 1, 2, 3, 4), "#1")}, []Value{strided(doubles("u", "0", 1, 2, 3, 4), "#2")}, 0,
			"0! u differs in elements that were not taken: each 2th was"},
		{"a sample with all", []Value{strided(doubles("u", "0", 1, 2, 3, 4), "#1")}, []Value{doubles("u", "0", 1, 2, 4, 4)}, 0,
			"0! u differs first in [2]: was 3, is 4; in 1 of 2 elements, of which each 2th was taken"},
		{"no value", []Value{text("n", "0", "int", "5")}, []Value{{Expr: "n", Ranks: setOf("0"), Trouble: "No symbol"}}, 0, "0! n has no value: No symbol"},
		{"whole, of other ranks", []Value{piece(doubles("u", "0", 1, 2, 3, 4), 0)}, []Value{piece(doubles("u", "0", 1, 2), 0), piece(doubles("u", "1", 3, 5), 2)}, 0,
			"1! u as a whole differs first at 3, [1] of rank 1: was 4, is 5; in 1 of 4 elements"},
		{"whole, the same", []Value{piece(doubles("u", "0", 1, 2, 3, 4), 0)}, []Value{piece(doubles("u", "1", 3, 4), 2), piece(doubles("u", "0", 1, 2), 0)}, 0,
			"0-1 u as a whole is as in the file: 4 elements"},
		{"whole, with other places", []Value{piece(doubles("u", "0", 1, 2, 3), 0)}, []Value{piece(doubles("u", "0", 2, 3, 4), 1)}, 0,
			"0! u has places in the file only, within 0; 0! u has places that are not in the file, within 3"},
		{"other expressions", []Value{text("n", "0", "int", "5")}, []Value{text("m", "0", "int", "5")}, 0, "0! n is in the file only; 0! m is not in the file"},
	} {
		var got []string
		for _, f := range Compare(c.before, c.now, c.tolerance) {
			mark := ""
			if f.Differ {
				mark = "!"
			}
			got = append(got, f.Ranks.String()+mark+" "+f.Text)
		}
		if s := strings.Join(got, "; "); s != c.want {
			t.Errorf("%s: %s\nwant %s", c.name, s, c.want)
		}
	}
}

func TestFromAnswer(t *testing.T) {
	wanted := []Wanted{{Expr: "n"}, {Expr: "u", By: "2 * at"}}
	exprs, err := Exprs(wanted)
	if err != nil || !slices.Equal(exprs, []string{"n", "u", "at"}) {
		t.Fatal(exprs, err)
	}
	g := protocol.Group{Kind: protocol.KindResult, Ranks: setOf("0-1"), Body: canonical.JSON(protocol.Values{Values: []protocol.ValueInfo{
		{Expr: "n", Type: "int"}, {Expr: "u", Type: "short [2]", Kind: protocol.SignedKind, Size: 2, Stride: 1, Shape: protocol.Shape{Dims: []protocol.Dim{{Count: 2}}}},
		{Expr: "at", Type: "int"},
	}})}
	for name, values := range map[string][2]string{
		"data.1": {"AQACAA==", "AQACAA=="}, "stat.1": {`{"n":2,"min":"1","max":"2","max_at":1,"sum":3}`, `{"n":2,"min":"1","max":"2","max_at":1,"sum":3}`},
		"sum.1": {"#1", "#1"}, "value.0": {"5", "5"}, "value.2": {"0", "1"},
	} {
		g.Columns = append(g.Columns, column.New(name, 0, values[0], -1).Merge(column.New(name, 1, values[1], -1)))
	}
	all := FromAnswer(g, wanted)
	if len(all) != 3 || all[0].Text != "5" || all[0].Ranks.Len() != 2 || !slices.Equal(all[1].At, []int64{0}) ||
		!slices.Equal(all[2].At, []int64{1}) || all[2].Stat.Sum != 3 || !slices.Equal(all[2].Numbers(), []float64{1, 2}) {
		t.Errorf("%+v", all)
	}
}
