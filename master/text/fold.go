// Folding of values of one shape into one text: structures, arrays and pointers, member by member.

package text

import (
	"slices"
	"strconv"
	"strings"

	"sdm/protocol/column"
	"sdm/protocol/rank"
	"sdm/protocol/shape"
)

// folded returns one text for values of one shape, with the values in which ranks differ:
//
//	{x = 0..5, y = <1 [0-3], 7 [4,5]>, w = {0.5, <0.5..9.25, 6 values>}, p = <buf+16>}
//
// If brief, or if ranks differ in many fields, it does not name ranks: y = <1, 7>.
func folded(f column.Fold, brief bool) string {
	brief = brief || differing(f) > maxNamed
	return f.Text(func(x column.Field) string {
		if same, ok := x.Same(); ok {
			return same
		}
		return fieldText(x, f.Ranks(), brief)
	})
}

// maxNamed is the maximal number of differing fields for which ranks are named.
const maxNamed = 8

// differing returns the number of fields in which ranks differ.
func differing(f column.Fold) int {
	n := 0
	for _, x := range f.Fields() {
		if _, same := x.Same(); !same {
			n++
		}
	}
	return n
}

// fieldText returns the values of a field in which ranks differ.
func fieldText(x column.Field, of rank.Set, brief bool) string {
	values := x.Values()
	low, high, numeric := x.Range(of)
	n, exact := x.Distinct()
	switch {
	case len(values) == 1 && values[0].Value != shape.Address: // the same on all ranks
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

// dense reports whether n integers leave no gap between the lowest and the highest.
func dense(low, high string, n int) bool {
	lo, err := strconv.ParseInt(low, 10, 64)
	hi, err2 := strconv.ParseInt(high, 10, 64)
	return err == nil && err2 == nil && hi-lo == int64(n)-1
}

// numberOf returns "6", or "about 4100".
func numberOf(n int, exact bool) string {
	if exact {
		return strconv.Itoa(n)
	}
	return "about " + strconv.Itoa(n)
}

// widestField is the maximal length of the values of a field if each is shown, in bytes.
const widestField = 48

// fewTexts returns "<1 [0-3], 7 [4,5]>" if the values are few and short; n counts each address.
func fewTexts(values []column.ValueCount, n int, brief bool) (string, bool) {
	if len(values) > maxLines {
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

// valueText returns value i of a field: unchanged, or "5 addresses". n is the number of distinct
// values, counting each address.
func valueText(values []column.ValueCount, i, n int) string {
	if values[i].Value != shape.Address {
		return values[i].Value
	}
	for j, v := range values { // a named thing may have several addresses too
		if j != i && strings.ContainsAny(v.Value, "<\"") {
			return "addresses"
		}
	}
	if n == len(values) {
		return "1 address"
	}
	return strconv.Itoa(n-len(values)+1) + " addresses"
}

// folds returns the values by shape if that is useful: if some have members, or are addresses
// without information.
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

// ownAddresses reports whether addresses in n values without members carry no information: each rank
// has its own, there are many, or their target is known.
func ownAddresses(f column.Fold, n int) bool {
	return n > maxLines && len(f.Fields()) > 1 || slices.ContainsFunc(f.Fields(), func(x column.Field) bool {
		n, _ := x.Distinct()
		values := x.Values()
		for _, v := range values {
			if v.Value == shape.Address {
				addresses := n - len(values) + 1
				return addresses > maxLines || addresses > 1 && addresses >= v.Ranks.Len()
			}
		}
		_, same := x.Same()
		return !same && n > len(values)
	})
}

// foldedLines returns the values of one shape: one line for structures, and for pointers one for
// null and for each known target. hint is added if the line says less than the values.
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
	if !f.Flat() || len(values) < 2 || len(f.Fields()) > 1 { // a single line; otherwise pointers
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

// foldedBriefly returns the values for a list of arguments; false if they have several shapes.
func (c view) foldedBriefly() (string, bool) {
	all := c.folds()
	if len(all) != 1 {
		return "", false
	}
	return folded(all[0], true), true
}

// widestAmong is the maximal length, in bytes, of a value that is one of several in an answer and
// differs in many fields.
const widestAmong = 4 << 10

// foldedAmong returns the values for an answer with several values, if they have few shapes. hint
// is added if members have been folded.
func (c view) foldedAmong(hint string) (string, bool) {
	all := c.folds()
	long := func(f column.Fold) bool { return differing(f) > maxNamed && len(folded(f, true)) > widestAmong }
	switch {
	case len(all) == 0 || len(all) > maxLines || slices.ContainsFunc(all, long):
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
