// The differences of arrays.

package text

import (
	"fmt"
	"strconv"

	"sdm/protocol"
	"sdm/protocol/rank"
)

// arrayRange is a range of elements that differ, in the result of diff.
type arrayRange struct {
	First int      `json:"first"`
	Last  int      `json:"last"`
	Exact bool     `json:"exact"`
	Ranks rank.Set `json:"ranks"`
}

// arrayDifference is the result of diff for an array.
type arrayDifference struct {
	Expr     string         `json:"expr"`
	Side     string         `json:"side"`
	Elements int            `json:"elements"`
	Shape    protocol.Shape `json:"shape"`
	Ranges   []arrayRange   `json:"ranges"`
	More     int            `json:"more"`
	// Tolerance is the tolerance within which elements agree; 0: they are equal.
	Tolerance float64 `json:"tolerance"`
	// Examined is how many elements were compared with the tolerance, if not all that differ; 0:
	// all.
	Examined int `json:"examined"`
}

// arrayDifferences writes which elements of an array differ, on which ranks, and their values;
// false if the result is not of an array.
//
//	[0-63] (64) field: 3 of 100000 elements differ
//	  field[500] on 17: 500 [0-16,18-63], -1 [17]
//	  field[700]..[701] on 3, first 700 [0-2,4-63], 0 [3]
func arrayDifferences(g protocol.Group) ([]answer, bool) {
	var d arrayDifference
	if !decode(g.Body, &d) || d.Elements == 0 {
		return nil, false
	}
	x := answer{ranks: g.Ranks}
	switch {
	case d.Side != "":
		x.bad = true
		x.lines = []string{d.Expr + " is an array of another shape: " + shapeText(d.Shape)}
	case len(d.Ranges) == 0:
		x.lines = []string{fmt.Sprintf("%s: all %d elements are the same", d.Expr, d.Elements) + d.within()}
	default:
		x.bad = true
		x.lines = []string{d.heading()}
		cols := columns(g)
		for k, r := range d.Ranges {
			x.lines = append(x.lines, d.line(r, cols["value."+strconv.Itoa(k)]))
		}
		if d.More > 0 {
			x.lines = append(x.lines, fmt.Sprintf("  and %d more ranges", d.More))
		}
	}
	if d.Examined > 0 {
		x.bad = true
		x.lines = append(x.lines, fmt.Sprintf("  of those that differ at all, only the first %d were compared with the tolerance", d.Examined))
	}
	return []answer{x}, true
}

// within returns the text of the tolerance.
func (d arrayDifference) within() string {
	if d.Tolerance == 0 {
		return ""
	}
	return " within " + short(d.Tolerance)
}

// heading returns how many elements differ, or that many do, if not all have been examined.
func (d arrayDifference) heading() string {
	n, exact := 0, d.More == 0
	for _, r := range d.Ranges {
		n += r.Last - r.First + 1
		exact = exact && r.Exact
	}
	switch {
	case exact && n == 1:
		return fmt.Sprintf("%s: 1 of %d elements differs", d.Expr, d.Elements) + d.within()
	case exact:
		return fmt.Sprintf("%s: %d of %d elements differ", d.Expr, n, d.Elements) + d.within()
	}
	return fmt.Sprintf("%s: many of %d elements differ", d.Expr, d.Elements)
}

func (d arrayDifference) line(r arrayRange, value view) string {
	text := "  " + d.Expr + d.Shape.Index(r.First)
	what := ": "
	if r.Last > r.First {
		text += ".." + d.Shape.Index(r.Last)
		what = ", the first "
	}
	if !r.Exact {
		text += " (some of them)"
	}
	if !r.Ranks.IsEmpty() {
		text += " on " + clipped(r.Ranks)
	}
	if value.distinct > 0 {
		text += what + value.inEvent()
	}
	return text
}

// shapeText returns "[10][20]" or "(0:9,20)".
func shapeText(s protocol.Shape) string {
	text := ""
	for i, d := range s.Dims {
		switch {
		case !s.Fortran:
			text += "[" + strconv.Itoa(d.Count) + "]"
			continue
		case i > 0:
			text += ","
		}
		if d.Low != 1 {
			text += strconv.Itoa(d.Low) + ":"
		}
		text += strconv.Itoa(d.Low + d.Count - 1)
	}
	if s.Fortran {
		return "(" + text + ")"
	}
	return text
}
