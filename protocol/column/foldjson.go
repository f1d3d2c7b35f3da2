// Folds as JSON, for front ends.

package column

import (
	"strings"

	"sdm/protocol/rank"
	"sdm/protocol/shape"
)

// foldJSON is the values of one shape: the text between the fields in which ranks differ, which is one
// part more than there are of these.
type foldJSON struct {
	Ranks     rank.Set    `json:"ranks"`
	Distinct  int         `json:"distinct"`
	Estimated bool        `json:"estimated,omitempty"`
	Parts     []string    `json:"parts"`
	Fields    []fieldJSON `json:"fields,omitempty"`
}

// fieldJSON is a field in which ranks differ. An address that nothing is known of has the value "0x".
type fieldJSON struct {
	Path      string       `json:"path"`
	Distinct  int          `json:"distinct"` // addresses count
	Estimated bool         `json:"estimated,omitempty"`
	Min       *extremeJSON `json:"min,omitempty"`
	Max       *extremeJSON `json:"max,omitempty"`
	Values    []valueJSON  `json:"values,omitempty"`
}

// foldsJSON gives the folds of a column whose values differ.
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

// fieldMark stands for a field: no text of a shape has it.
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
