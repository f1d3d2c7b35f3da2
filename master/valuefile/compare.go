// Comparison of values with those of a file.

package valuefile

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"sdm/master/whole"
	"sdm/protocol"
	"sdm/protocol/column"
	"sdm/protocol/rank"
)

// Finding is what the comparison of one expression has found.
type Finding struct {
	Text   string
	Ranks  rank.Set // that it is about
	Differ bool
}

// Compare returns what differs between the values of a file and those of now. Two numbers are equal if they differ by
// no more than the tolerance, or, if the magnitude of one is above 1, by no more than the tolerance times the greater
// magnitude; a NaN is equal to a NaN. Pieces of whole arrays are compared by their places in the whole, so the ranks
// need not be the same.
func Compare(before, now []Value, tolerance float64) []Finding {
	var all []Finding
	for _, key := range keysOf(before, now) {
		a, b := ofKey(before, key), ofKey(now, key)
		switch {
		case len(a) == 0:
			all = append(all, Finding{Text: key.String() + " is not in the file", Ranks: ranksOf(b), Differ: true})
		case len(b) == 0:
			all = append(all, Finding{Text: key.String() + " is in the file only", Ranks: ranksOf(a), Differ: true})
		case key.By != "":
			all = append(all, compareWhole(key, a, b, tolerance)...)
		default:
			all = append(all, compareRanks(key.Expr, a, b, tolerance)...)
		}
	}
	return all
}

// String names what is wanted.
func (w Wanted) String() string {
	if w.By != "" {
		return w.Expr + " --by " + w.By
	}
	return w.Expr
}

// Keys returns the expressions of values, in order.
func Keys(values []Value) []Wanted { return keysOf(values, nil) }

func keysOf(a, b []Value) (keys []Wanted) {
	for _, v := range slices.Concat(a, b) {
		if k := (Wanted{v.Expr, v.By}); !slices.Contains(keys, k) {
			keys = append(keys, k)
		}
	}
	return keys
}

func ofKey(values []Value, key Wanted) []Value {
	return slices.DeleteFunc(slices.Clone(values), func(v Value) bool { return v.Expr != key.Expr || v.By != key.By })
}

func ranksOf(values []Value) (all rank.Set) {
	for _, v := range values {
		all = all.Union(v.Ranks)
	}
	return all
}

// compareRanks compares each rank with itself.
func compareRanks(expr string, before, now []Value, tolerance float64) []Finding {
	var same, differ rank.Set
	var first string
	var lowest rank.ID
	for _, a := range before {
		for _, b := range now {
			both := a.Ranks.Intersect(b.Ranks)
			if both.IsEmpty() {
				continue
			}
			why := difference(a, b, tolerance)
			if why == "" {
				same = same.Union(both)
				continue
			}
			if least, _ := both.Min(); differ.IsEmpty() || least < lowest {
				lowest, first = least, why
			}
			differ = differ.Union(both)
		}
	}
	var all []Finding
	if !differ.IsEmpty() {
		text := expr + " " + first
		if n := differ.Len(); n > 1 {
			text += fmt.Sprintf(" on %d, the first of %d ranks", lowest, n)
		}
		all = append(all, Finding{text, differ, true})
	}
	if !same.IsEmpty() {
		all = append(all, Finding{Text: expr + " is as in the file" + within(tolerance), Ranks: same})
	}
	was, is := ranksOf(before), ranksOf(now)
	if gone := was.Minus(is); !gone.IsEmpty() {
		all = append(all, Finding{Text: expr + " of these ranks is in the file only", Ranks: gone})
	}
	if more := is.Minus(was); !more.IsEmpty() {
		all = append(all, Finding{Text: expr + " of these ranks is not in the file", Ranks: more})
	}
	return all
}

func within(tolerance float64) string {
	if tolerance == 0 {
		return ""
	}
	return ", within " + strconv.FormatFloat(tolerance, 'g', -1, 64)
}

// difference describes how a value differs; "": it does not.
func difference(a, b Value, tolerance float64) string {
	switch {
	case a.Trouble != "" && b.Trouble != "":
		return ""
	case b.Trouble != "":
		return "has no value: " + b.Trouble
	case a.Trouble != "":
		return "had no value: " + a.Trouble
	case a.Kind != b.Kind || a.Kind == "" && a.Type != b.Type:
		return fmt.Sprintf("was of type %s, is of type %s", cmp.Or(a.Type, "?"), cmp.Or(b.Type, "?"))
	case a.Kind == "":
		if sameText(a.Text, b.Text, tolerance) {
			return ""
		}
		return "was " + protocol.Clip(a.Text) + ", is " + protocol.Clip(b.Text)
	case a.Size != b.Size:
		return fmt.Sprintf("was of type %s, is of type %s", cmp.Or(a.Type, "?"), cmp.Or(b.Type, "?"))
	case !slices.Equal(a.Shape.Dims, b.Shape.Dims):
		return fmt.Sprintf("had %s, has %s", extent(a.Shape), extent(b.Shape))
	}
	return elementDifference(a, b, tolerance)
}

func extent(s protocol.Shape) string {
	var dims []string
	for _, d := range s.Dims {
		dims = append(dims, strconv.Itoa(d.Count))
	}
	return strings.Join(dims, " by ") + " elements"
}

// elementDifference compares the elements that both have.
func elementDifference(a, b Value, tolerance float64) string {
	step := max(a.Stride, b.Stride)
	first, count, n := -1, 0, a.Shape.Elements()
	for i := 0; i < n; i += step {
		if !a.same(i/a.Stride, b, i/b.Stride, tolerance) {
			if count++; first < 0 {
				first = i
			}
		}
	}
	switch {
	case count == 0 && step > 1 && a.Sum != b.Sum && a.Sum != "" && b.Sum != "" && tolerance == 0:
		return fmt.Sprintf("differs in elements that were not taken: each %dth was", step)
	case count == 0:
		return ""
	}
	text := fmt.Sprintf("differs first in %s: was %s, is %s; in %d of %d elements", a.Shape.Index(first), a.text(first/a.Stride),
		b.text(first/b.Stride), count, (n+step-1)/step)
	if step > 1 {
		text += fmt.Sprintf(", of which each %dth was taken", step)
	}
	return text
}

// same compares element i of the data with element k of another value's.
func (v *Value) same(i int, w Value, k int, tolerance float64) bool {
	if v.Kind != protocol.FloatingKind && tolerance == 0 {
		return v.bits(i) == w.bits(k)
	}
	return near(v.float(i), w.float(k), tolerance)
}

// near is as in Compare.
func near(a, b, tolerance float64) bool {
	return a == b || math.IsNaN(a) && math.IsNaN(b) || math.Abs(a-b) <= tolerance*max(1, math.Abs(a), math.Abs(b)) &&
		!math.IsInf(a, 0) && !math.IsInf(b, 0)
}

// bits returns element i of the data: of a signed number extended by its sign.
func (v *Value) bits(i int) uint64 {
	var b [8]byte
	copy(b[:], v.Data[i*v.Size:(i+1)*v.Size])
	n := binary.LittleEndian.Uint64(b[:])
	if shift := 64 - 8*v.Size; v.Kind == protocol.SignedKind {
		return uint64(int64(n<<shift) >> shift)
	}
	return n
}

func (v *Value) float(i int) float64 {
	switch bits := v.bits(i); {
	case v.Kind == protocol.SignedKind:
		return float64(int64(bits))
	case v.Kind == protocol.UnsignedKind:
		return float64(bits)
	case v.Size == 4:
		return float64(math.Float32frombits(uint32(bits)))
	default:
		return math.Float64frombits(bits)
	}
}

// Numbers returns the elements of the data.
func (v *Value) Numbers() []float64 {
	if v.Kind == "" {
		return nil
	}
	all := make([]float64, len(v.Data)/v.Size)
	for i := range all {
		all[i] = v.float(i)
	}
	return all
}

func (v *Value) text(i int) string {
	switch bits := v.bits(i); {
	case v.Kind == protocol.SignedKind:
		return strconv.FormatInt(int64(bits), 10)
	case v.Kind == protocol.UnsignedKind:
		return strconv.FormatUint(bits, 10)
	}
	return strconv.FormatFloat(v.float(i), 'g', -1, 8*v.Size)
}

// sameText compares two texts of gdb: as numbers if they are, else without addresses.
func sameText(a, b string, tolerance float64) bool {
	if a == b || column.Placeless(a) == column.Placeless(b) {
		return true
	}
	x, ok := number(a)
	y, ok2 := number(b)
	return ok && ok2 && (tolerance > 0 || math.IsNaN(x) || strings.ContainsAny(a+b, ".e")) && near(x, y, tolerance)
}

// number reads a number of gdb, which may be nan(0x8000000000000).
func number(text string) (float64, bool) {
	if strings.HasPrefix(strings.TrimPrefix(text, "-"), "nan(") {
		return math.NaN(), true
	}
	f, err := strconv.ParseFloat(text, 64)
	return f, err == nil
}

// placed is an element of a whole array.
type placed struct {
	place int64
	rank  rank.ID
	of    *Value
	i     int // in its data
}

// maxPlaced bounds the elements of a whole array that are compared.
const maxPlaced = 1 << 23

// place returns the elements of a whole array in the order of their places. Of a place that several ranks have, it
// returns the element of the lowest one.
func place(key Wanted, values []Value) ([]placed, string) {
	o, err := whole.ParseOffset(key.By)
	if err != nil {
		return nil, err.Error()
	}
	var all []placed
	for n := range values {
		v := &values[n]
		if v.Trouble != "" {
			return nil, "no value on " + v.Ranks.String() + ": " + v.Trouble
		}
		if v.Kind == "" || len(v.At) != len(o.Names()) {
			return nil, "on " + v.Ranks.String() + " it is not an array of numbers"
		}
		r, _ := v.Ranks.Min() // others with the same place and content add nothing
		taken := len(v.Data) / v.Size
		if len(all)+taken > maxPlaced {
			return nil, fmt.Sprintf("more than %d elements", maxPlaced)
		}
		for i := range taken {
			at, ok := o.At(v.At, int64(i)*int64(v.Stride))
			if !ok {
				return nil, fmt.Sprintf("on %d the offset is not a number", r)
			}
			all = append(all, placed{at, r, v, i})
		}
	}
	slices.SortStableFunc(all, func(a, b placed) int {
		return cmp.Or(cmp.Compare(a.place, b.place), cmp.Compare(a.rank, b.rank))
	})
	return slices.CompactFunc(all, func(a, b placed) bool { return a.place == b.place }), ""
}

// compareWhole compares the elements at the same places.
func compareWhole(key Wanted, before, now []Value, tolerance float64) []Finding {
	ranks := ranksOf(now)
	a, why := place(key, before)
	if why != "" {
		return []Finding{{key.Expr + " cannot be compared as a whole: in the file, " + why, ranks, true}}
	}
	b, why := place(key, now)
	if why != "" {
		return []Finding{{key.Expr + " cannot be compared as a whole: " + why, ranks, true}}
	}
	var first *placed
	var text string
	var differ rank.Set
	compared, count, onlyA, onlyB := 0, 0, whole.Range{First: -1}, whole.Range{First: -1}
	i, k := 0, 0
	for i < len(a) || k < len(b) {
		switch {
		case k == len(b) || i < len(a) && a[i].place < b[k].place:
			onlyA = widened(onlyA, a[i].place)
			i++
		case i == len(a) || b[k].place < a[i].place:
			onlyB = widened(onlyB, b[k].place)
			k++
		default:
			compared++
			x, y := &a[i], &b[k]
			if x.of.Kind != y.of.Kind || x.of.Size != y.of.Size {
				return []Finding{{fmt.Sprintf("%s was of type %s, is of type %s", key.Expr, x.of.Type, y.of.Type), ranks, true}}
			}
			if !x.of.same(x.i, *y.of, y.i, tolerance) {
				differ = differ.Union(rank.Of(y.rank))
				if count++; first == nil {
					first = y
					text = fmt.Sprintf("%s as a whole differs first at %d, %s of rank %d: was %s, is %s", key.Expr, y.place,
						y.of.Shape.Index(y.i*y.of.Stride), y.rank, x.of.text(x.i), y.of.text(y.i))
				}
			}
			i, k = i+1, k+1
		}
	}
	var all []Finding
	if count > 0 {
		all = append(all, Finding{fmt.Sprintf("%s; in %d of %d elements", text, count, compared), differ, true})
	}
	sampled := slices.ContainsFunc(slices.Concat(before, now), func(v Value) bool { return v.Stride > 1 })
	if !sampled {
		if onlyA.First >= 0 {
			all = append(all, Finding{fmt.Sprintf("%s has places in the file only, within %s", key.Expr, onlyA), ranks, true})
		}
		if onlyB.First >= 0 {
			all = append(all, Finding{fmt.Sprintf("%s has places that are not in the file, within %s", key.Expr, onlyB), ranks, true})
		}
	}
	if len(all) == 0 {
		text := fmt.Sprintf("%s as a whole is as in the file%s: %d elements", key.Expr, within(tolerance), compared)
		if sampled {
			text += ", a sample"
		}
		if compared == 0 {
			return []Finding{{key.Expr + " as a whole has no place that was taken both times", ranks, true}}
		}
		all = append(all, Finding{Text: text, Ranks: ranks})
	}
	return all
}

func widened(r whole.Range, at int64) whole.Range {
	if r.First < 0 {
		return whole.Range{First: max(at, 0), Last: at}
	}
	return whole.Range{First: r.First, Last: at}
}
