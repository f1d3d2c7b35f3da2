package column

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"sdm/protocol/rank"
	"sdm/protocol/shape"
)

// someStructures draws values of few shapes, with numbers, names, texts and
// addresses.
var someStructures = rapid.Custom(func(t *rapid.T) string {
	from := func(values ...string) string { return rapid.SampledFrom(values).Draw(t, "value") }
	number := fmt.Sprint(rapid.IntRange(0, 20).Draw(t, "number"))
	address := fmt.Sprintf("0x55550000%x", rapid.IntRange(0, 20).Draw(t, "address"))
	switch rapid.IntRange(0, 3).Draw(t, "shape") {
	case 0:
		return "{x = " + number + ", y = " + from("1", "2", "nan(0x1)", "RED") + ", p = " + from("0x0", address, address+" <buf+4>") + "}"
	case 1:
		return "(int *) " + from("0x0", address, address+" <buf>")
	case 2:
		return "{" + strings.Repeat("0, ", rapid.IntRange(0, 12).Draw(t, "length")) + number + "}"
	}
	return from(address, "RED", "<optimized out>")
})

// structures returns n values of one shape.
func structures(n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = fmt.Sprintf("{x = %d, y = %d, p = 0x5555%04x, w = {0.5, %d.5}}", i, -i, i, i%3)
	}
	return out
}

// slowFolds folds values in a simple way: text for text, field for field. ok is
// false if there are too many shapes.
func slowFolds(values []string) (folds map[string]string, ok bool) {
	byShape := map[string][]rank.ID{}
	for i, v := range values {
		if template, _, ok := shaped(v); ok {
			byShape[template] = append(byShape[template], rank.ID(i))
		}
	}
	if len(byShape) > maxFolds {
		return nil, false
	}
	folds = map[string]string{}
	for template, ids := range byShape {
		n, _ := shape.Leaves(template)
		var fields []string
		for i := range n {
			raw, bare, numbers := map[string]bool{}, map[string][]rank.ID{}, 0
			for _, id := range ids {
				_, leaves, _ := shape.Of(values[id])
				raw[leaves[i]] = true
				bare[shape.Bare(leaves[i])] = append(bare[shape.Bare(leaves[i])], id)
				if parseNumber(shape.Bare(leaves[i])).class == finite {
					numbers++
				}
			}
			fields = append(fields, describeByHand(raw, bare, numbers))
		}
		folds[template] = rank.Of(ids...).String() + ": " + strings.Join(fields, "; ")
	}
	return folds, true
}

func describeByHand(raw map[string]bool, bare map[string][]rank.ID, numbers int) string {
	if len(raw) == 1 {
		return slices.Collect(maps.Keys(raw))[0]
	}
	text := fmt.Sprint(len(raw), " ")
	if len(bare) > maxKept {
		return text + fmt.Sprint(numbers, " numbers")
	}
	for _, v := range slices.Sorted(maps.Keys(bare)) {
		text += v + "[" + rank.Of(bare[v]...).String() + "]"
	}
	return text
}

// describe formats a fold as slowFolds does.
func describe(f Fold) string {
	var fields []string
	for _, x := range f.fields {
		if same, ok := x.Same(); ok {
			fields = append(fields, same)
			continue
		}
		n, _ := x.Distinct()
		text := fmt.Sprint(n, " ")
		if x.varied.span != nil {
			text += fmt.Sprint(x.varied.span.numbers, " numbers")
		}
		for _, v := range x.varied.values {
			text += v.Value + "[" + v.Ranks.String() + "]"
		}
		fields = append(fields, text)
	}
	return f.ranks.String() + ": " + strings.Join(fields, "; ")
}

func TestFoldsAgreeWithTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(someStructures, 1, 60).Draw(t, "values")
		columns := make([]Column, len(values))
		for i, v := range values {
			columns[i] = New("x", rank.ID(i), v, 1)
		}
		c := mergedAtRandom(t, columns)
		all := c.foldsNow()
		want, ok := slowFolds(values)
		got := map[string]string{}
		for _, f := range all.list {
			got[f.template] = describe(f)
		}
		if all.dropped == ok || ok && !maps.Equal(got, want) {
			t.Fatalf("%q\nare folded as %q (dropped: %v)\nwant %q", values, got, all.dropped, want)
		}
		whole, rest, err := Decode(c.AppendWire(nil))
		if err != nil || len(rest) > 0 || !bytes.Equal(whole.AppendWire(nil), c.AppendWire(nil)) {
			t.Fatalf("%v, rest %d, %v", whole, len(rest), err)
		}
	})
}

// foldsNow returns the folds even if some values have none.
func (c Column) foldsNow() folds {
	if c.summary != nil {
		return c.summary.folds
	}
	return foldsOf(c.values, shape.Bare)
}

func TestFoldsOfStructures(t *testing.T) {
	for _, n := range []int{4, 100} { // complete and summarized
		c := columnOf("p", 0, structures(n)...)
		all := c.Folds()
		if len(all) != 1 || all[0].Ranks().Len() != n {
			t.Fatalf("%d values: %v", n, all)
		}
		text := all[0].Text(func(f Field) string {
			if same, ok := f.Same(); ok {
				return same
			}
			low, high, ok := f.Range(all[0].Ranks())
			if !ok {
				return "?"
			}
			return low.Value + ".." + high.Value
		})
		last := n - 1
		want := fmt.Sprintf("{x = 0..%d, y = -%d..0, p = ?, w = {0.5, 0.5..2.5}}", last, last)
		if text != want {
			t.Errorf("%d values are folded as %s, want %s", n, text, want)
		}
	}
}

// An object with vectors has many fields, and few of them differ.
func TestFoldsOfBigObjects(t *testing.T) {
	big := "{e = {" + strings.Repeat("0.125, ", 20000) + "1}, n = %d}"
	for _, limit := range []int{1, -1} {
		c := columnOf("p", limit, fmt.Sprintf(big, 1), fmt.Sprintf(big, 2), fmt.Sprintf(big, 7))
		all := c.Folds()
		if len(all) != 1 || len(all[0].Fields()) != 20002 {
			t.Fatalf("limit %d: %d folds", limit, len(all))
		}
		differ := slices.DeleteFunc(slices.Clone(all[0].Fields()), func(f Field) bool { _, same := f.Same(); return same })
		if len(differ) != 1 || len(differ[0].Values()) != 3 {
			t.Errorf("limit %d: %v differ", limit, differ)
		}
		read, rest, err := Decode(c.AppendWire(nil))
		if err != nil || len(rest) > 0 || len(read.Folds()) != 1 {
			t.Errorf("limit %d: read as %v, %v", limit, read.Folds(), err)
		}
	}
}

func TestValuesWithoutAFold(t *testing.T) {
	for name, values := range map[string][]string{
		"numbers":           numbered(3),
		"names":             {"RED", "BLUE"},
		"a name in between": {"{x = 1}", "{x = 2}", "RED"},
		"many shapes":       {"{a = 1}", "{b = 1}", "{c = 1}", "{d = 1}", "{e = 1}", "{f = 1}", "{g = 1}", "{h = 1}", "{i = 1}"},
		"many leaves":       {"{" + strings.Repeat("1, ", 20000) + "1}", "{" + strings.Repeat("1, ", 20001) + "1}"},
		"many that differ":  {"{" + strings.Repeat("1, ", 4096) + "1}", "{" + strings.Repeat("2, ", 4096) + "2}"},
	} {
		for _, limit := range []int{1, -1} {
			if got := columnOf("x", limit, values...).Folds(); got != nil {
				t.Errorf("%s, limit %d: %v", name, limit, got)
			}
		}
	}
}

// The majority does not depend on the address spaces of ranks.
func TestMajorityOfPlaces(t *testing.T) {
	var values []string
	for i := range 40 {
		values = append(values, fmt.Sprintf("{n = %d, p = 0x5555%04x <buf>}", i/30, i))
	}
	for _, limit := range []int{2, -1} {
		hash, ok := columnOf("x", limit, values...).Majority()
		if !ok || hash != Hash("{n = 0, p = 0x7777 <buf>}") {
			t.Errorf("limit %d: %d, %v", limit, hash, ok)
		}
		if !columnOf("x", limit, values[:30]...).Alike() || columnOf("x", limit, values...).Alike() {
			t.Errorf("limit %d: values are not alike as they should be", limit)
		}
	}
	for _, differ := range [][]string{{"0x55555", "0x55556"}, {"0x0", "0x5555 <buf>"}, {"0x5555 <a>", "0x5555 <b>"}, {`0x55555 "a"`, `0x55556 "b"`}} {
		if Hash(differ[0]) == Hash(differ[1]) || columnOf("x", -1, differ...).Alike() || columnOf("x", 1, differ...).Alike() {
			t.Errorf("%q are alike", differ)
		}
	}
}

// The encoding is small even if all fields differ in all ranks: a field takes at
// most as much as a number.
func TestFoldsAreSmall(t *testing.T) {
	c := columnOf("p", 0, structures(4096)...)
	if n := len(c.AppendWire(nil)); n > 6000 {
		t.Errorf("%d bytes", n)
	}
}

func BenchmarkFoldMerge(b *testing.B) {
	values := func(from int) []string {
		out := make([]string, 64)
		for i := range out {
			out[i] = "{" + strings.Repeat(fmt.Sprintf("field = %d, ", from+i), 99) + "last = 1}"
		}
		return out
	}
	c, d := columnOf("p", 0, values(0)...), Column{Name: "p"}
	for i, v := range values(64) {
		d = d.Merge(New("p", rank.ID(64+i), v, 0))
	}
	b.Run("summaries", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			c.Merge(d)
		}
	})
	b.Run("values", func(b *testing.B) {
		b.ReportAllocs()
		list := columnOf("p", -1, values(0)...).values
		for b.Loop() {
			OfValues("p", slices.Clone(list), 0).Limited()
		}
	})
}
