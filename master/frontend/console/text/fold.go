// Values of one shape as one text: structures, arrays and pointers, member by member.

package text

import (
	"slices"
	"strconv"
	"strings"

	"sdm/protocol/column"
	"sdm/protocol/rank"
	"sdm/protocol/shape"
)

// folded gives the text of values of one shape, which names what ranks differ in:
//
//	{x = 0..5, y = <1 [0-3], 7 [4,5]>, w = {0.5, <0.5..9.25, 6 values>}, p = <buf+16>}
//
// In brief, and where ranks differ in many, it does not say which ranks have what: y = <1, 7>.
func folded(f column.Fold, brief bool) string {
	brief = brief || differing(f) > mostNamed
	return f.Text(func(x column.Field) string {
		if same, ok := x.Same(); ok {
			return same
		}
		return fieldText(x, f.Ranks(), brief)
	})
}

// mostNamed is in how many fields ranks may differ for each to name them.
const mostNamed = 8

// differing counts the fields in which ranks differ.
func differing(f column.Fold) int {
	n := 0
	for _, x := range f.Fields() {
		if _, same := x.Same(); !same {
			n++
		}
	}
	return n
}

// fieldText gives what ranks have in a field in which they differ.
func fieldText(x column.Field, of rank.Set, brief bool) string {
	values := x.Values()
	low, high, numeric := x.Range(of)
	n, exact := x.Distinct()
	switch {
	case len(values) == 1 && values[0].Value != shape.Address: // addresses of one thing
		return values[0].Value
	case numeric && (n > 2 || brief) && exact && dense(low.Value, high.Value, n):
		return low.Value + ".." + high.Value
	case len(values) > 1:
		if text, ok := fewTexts(values, n, brief); ok {
			return text
		}
	}
	count := numberOf(n, exact)
	switch {
	case len(values) == 1:
		return "<" + count + " addresses>"
	case numeric:
		return "<" + low.Value + ".." + high.Value + ", " + count + " values>"
	}
	return "<" + count + " values>"
}

// dense tells whether whole numbers leave no gap between the lowest and the highest.
func dense(low, high string, n int) bool {
	lo, err := strconv.ParseInt(low, 10, 64)
	hi, err2 := strconv.ParseInt(high, 10, 64)
	return err == nil && err2 == nil && hi-lo == int64(n)-1
}

// numberOf gives "6", or "about 4100".
func numberOf(n int, exact bool) string {
	if exact {
		return strconv.Itoa(n)
	}
	return "about " + strconv.Itoa(n)
}

// widestField is how long the values of a field may be where each is shown, in bytes.
const widestField = 48

// fewTexts gives "<1 [0-3], 7 [4,5]>" where the values are few and short; n counts addresses apart.
func fewTexts(values []column.ValueCount, n int, brief bool) (string, bool) {
	if len(values) > mostLines {
		return "", false
	}
	parts := make([]string, len(values))
	for i, v := range values {
		if parts[i] = valueText(values, i, n); !brief {
			parts[i] += " [" + clipped(v.Ranks) + "]"
		}
	}
	text := "<" + strings.Join(parts, ", ") + ">"
	return text, len(text) <= widestField && !strings.Contains(text, "\n")
}

// valueText gives value i of a field: as it is, or "5 addresses". n counts the values of ranks,
// addresses apart.
func valueText(values []column.ValueCount, i, n int) string {
	if values[i].Value != shape.Address {
		return values[i].Value
	}
	for j, v := range values { // of which one may have several addresses
		if j != i && strings.ContainsAny(v.Value, "<\"") {
			return "addresses"
		}
	}
	if n == len(values) {
		return "1 address"
	}
	return strconv.Itoa(n-len(values)+1) + " addresses"
}

// folds gives the shapes of the values where that is worth it: some have members, or are addresses
// that say nothing.
func (c view) folds() []column.Fold {
	if c.distinct < 2 {
		return nil
	}
	all := c.Folds()
	if c.hex {
		all = c.FoldsInHex()
	}
	for _, f := range all {
		if n, _ := f.Distinct(); n > 1 && (!f.Flat() || ownAddresses(f, n)) {
			return all
		}
	}
	return nil
}

// ownAddresses tells of n values without members that addresses in them say nothing: each rank has one
// of its own, there are many, or it is known what they point to.
func ownAddresses(f column.Fold, n int) bool {
	return n > mostLines && len(f.Fields()) > 1 || slices.ContainsFunc(f.Fields(), func(x column.Field) bool {
		n, _ := x.Distinct()
		values := x.Values()
		for _, v := range values {
			if v.Value == shape.Address {
				addresses := n - len(values) + 1
				return addresses > mostLines || addresses > 1 && addresses >= v.Ranks.Len()
			}
		}
		_, same := x.Same()
		return !same && n > len(values)
	})
}

// foldedLines gives the values of one shape, one line for those of structures, and of pointers one for
// null and for each thing that is known. The hint stands behind what says less than the values.
func foldedLines(f column.Fold, hint string) []answer {
	n, exact := f.Distinct()
	switch {
	case n == 1:
		hint = ""
	case f.Flat():
		hint = "  (" + hint + ")"
	default:
		hint = "  (" + numberOf(n, exact) + " values; " + hint + ")"
	}
	values := f.Fields()[0].Values()
	if !f.Flat() || len(values) < 2 || len(f.Fields()) > 1 { // of pointers one for null and for each thing that is known
		return []answer{{ranks: f.Ranks(), lines: strings.Split(folded(f, false)+hint, "\n")}}
	}
	var parts []answer
	for i, v := range values {
		text := f.Text(func(column.Field) string {
			if text := valueText(values, i, n); v.Value == shape.Address {
				return "<" + text + ">"
			}
			return v.Value
		})
		parts = append(parts, answer{ranks: v.Ranks, lines: []string{text}})
	}
	return parts
}

// foldedBriefly gives the values as they stand among arguments; false where they are of several shapes.
func (c view) foldedBriefly() (string, bool) {
	all := c.folds()
	if len(all) != 1 {
		return "", false
	}
	return folded(all[0], true), true
}

// widestAmong is how long values may be that stand among others and differ in many fields, in bytes.
const widestAmong = 4 << 10

// foldedAmong gives the values as they stand among others in one answer, where they are of few shapes, with a hint where members have been folded.
func (c view) foldedAmong(hint string) (string, bool) {
	all := c.folds()
	long := func(f column.Fold) bool { return differing(f) > mostNamed && len(folded(f, true)) > widestAmong }
	switch {
	case len(all) == 0 || len(all) > mostLines || slices.ContainsFunc(all, long):
		return "", false
	case len(all) == 1 && all[0].Flat():
		return folded(all[0], false), true
	case len(all) == 1:
		return folded(all[0], false) + "  (" + c.count() + hint + ")", true
	}
	parts := make([]string, len(all))
	for i, f := range all {
		parts[i] = folded(f, false) + " [" + clipped(f.Ranks()) + "]"
	}
	return strings.Join(parts, ", "), true
}
