// Folds as JSON, for front ends.

package column

import (
	"strings"

	"sdm/protocol/rank"
	"sdm/protocol/shape"
)

// foldJSON are the values of one shape: the fields that differ, and the common text
// around them, which is one part more than there are fields.
type foldJSON struct {
	Ranks     rank.Set    `json:"ranks"`
	Distinct  int         `json:"distinct"`
	Estimated bool        `json:"estimated,omitempty"`
	Parts     []string    `json:"parts"`
	Fields    []fieldJSON `json:"fields,omitempty"`
}

// fieldJSON is a field that differs. An address without a known symbol has the
// value "0x".
type fieldJSON struct {
	Path      string       `json:"path"`
	Distinct  int          `json:"distinct"` // differing addresses included
	Estimated bool         `json:"estimated,omitempty"`
	Min       *extremeJSON `json:"min,omitempty"`
	Max       *extremeJSON `json:"max,omitempty"`
	Values    []valueJSON  `json:"values,omitempty"`
}

// foldsJSON returns the folds of a column, if its values differ.
func (c Column) foldsJSON() []foldJSON {
	if n, _ := c.Distinct(); n < 2 {
		return nil
	}
	var out []foldJSON
	for _, f := range c.Folds() {
		out = append(out, f.json())
	}
	return out
}

func (f Fold) json() foldJSON {
	out := foldJSON{Ranks: f.ranks}
	var exact bool
	out.Distinct, exact = f.Distinct()
	out.Estimated = !exact
	paths := f.Paths()
	leaves := make([]string, len(f.fields))
	for i, x := range f.fields {
		if same, ok := x.Same(); ok {
			leaves[i] = same
			continue
		}
		leaves[i] = fieldMark
		out.Fields = append(out.Fields, x.json(paths[i]))
	}
	out.Parts = strings.Split(shape.Text(f.template, leaves), fieldMark)
	return out
}

// fieldMark replaces a field in a text; no text of a shape contains it.
const fieldMark = "\x00"

func (f Field) json(path string) fieldJSON {
	out := fieldJSON{Path: path}
	var exact bool
	out.Distinct, exact = f.Distinct()
	out.Estimated = !exact
	if s := f.varied.spanned(); s.numbers > 0 {
		out.Min, out.Max = s.low.json(), s.high.json()
	}
	for _, v := range f.Values() {
		out.Values = append(out.Values, newValueJSON(v))
	}
	return out
}
