// Comparison of values with a tolerance.

package master

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"sdm/protocol"
	"sdm/protocol/canonical"
	"sdm/protocol/column"
	"sdm/protocol/rank"
)

// near reports whether two numbers differ by no more than a tolerance: relative to the greater of
// their magnitudes, and absolute if both are below 1.
func near(a, b, tolerance float64) bool {
	return a == b || math.Abs(a-b) <= tolerance*max(1, math.Abs(a), math.Abs(b))
}

// isNear reports whether a column has one value only, or only numbers that are near to one another.
func isNear(c column.Column, tolerance float64) bool {
	if n, exact := c.Distinct(); n < 2 && exact {
		return true
	}
	s := c.Stats()
	if s.Numbers == 0 || s.Numbers != s.Count {
		return false
	}
	low, err1 := strconv.ParseFloat(s.Lowest[0].Value, 64)
	high, err2 := strconv.ParseFloat(s.Highest[0].Value, 64)
	return err1 == nil && err2 == nil && near(low, high, tolerance)
}

// farRanks returns the ranks of a complete column whose values are not near to the majority's, or,
// without a majority, to the median.
func farRanks(c column.Column, tolerance float64) (far rank.Set) {
	middle, _ := c.Quantile(0.5)
	text := ""
	for _, v := range c.Values() {
		if 2*v.Ranks.Len() > c.Count() {
			text = v.Value
			middle, _ = strconv.ParseFloat(v.Value, 64) // 0 for a text; see notNumber
		}
	}
	_, notNumber := strconv.ParseFloat(text, 64)
	for _, v := range c.Values() {
		f, err := strconv.ParseFloat(v.Value, 64)
		if v.Value != text && (err != nil || text != "" && notNumber != nil || !near(f, middle, tolerance)) {
			far = far.Union(v.Ranks)
		}
	}
	return far
}

// maxExamined bounds how many elements of an array are compared with a tolerance; only blocks that
// differ at all are.
const maxExamined = 20_000

// tolerant compares the elements of an array with a tolerance: it asks for the elements of blocks
// whose hashes differ.
type tolerant struct {
	tolerance float64
	left      []protocol.Span // one element each
	asked     []protocol.Span
	found     []differing
	values    map[int]column.Column // of those that differ, by element
	beyond    bool                  // more elements differ than may be examined
}

func newTolerant(h hashes, tolerance float64) *tolerant {
	t := &tolerant{tolerance: tolerance, values: map[int]column.Column{}}
	for k, b := range (protocol.Span{Last: h.body.Shape.Elements() - 1}).Blocks() {
		if n, _ := h.columns[fmt.Sprintf("0.%d", k)].Distinct(); n < 2 {
			continue
		}
		for i := b.First; i <= b.Last && !t.beyond; i++ {
			t.left = append(t.left, protocol.Span{First: i, Last: i})
			t.beyond = len(t.left) == maxExamined && b.Last > i
		}
	}
	return t
}

// next returns the elements to ask for, or none.
func (t *tolerant) next() []protocol.Span {
	n := min(len(t.left), protocol.MaxValues)
	t.asked, t.left = t.left[:n], t.left[n:]
	return t.asked
}

// take processes the values of the elements that were asked for.
func (t *tolerant) take(h hashes) {
	for i, s := range t.asked {
		c, ok := h.columns[fmt.Sprintf("value.%d", i)]
		if ok && isNear(c, t.tolerance) {
			continue
		}
		d := differing{First: s.First, Last: s.First, Exact: true, known: ok && c.Complete()}
		if d.known {
			d.who = farRanks(c, t.tolerance)
		}
		t.found = append(t.found, d)
		t.values[s.First] = c
	}
}

// group makes the answer.
func (t *tolerant) group(h hashes) protocol.Group {
	s := search{found: t.found}
	ranges, more := s.ranges()
	body := arrayDiff{Expr: h.body.Expr, Elements: h.body.Shape.Elements(), Shape: h.body.Shape, Ranges: ranges,
		More: more, Tolerance: t.tolerance}
	if t.beyond {
		body.Examined = maxExamined
	}
	g := protocol.Group{Kind: protocol.KindResult, Ranks: h.ranks, Body: canonical.JSON(body)}
	for k, r := range ranges {
		c := t.values[r.First]
		c.Name = "value." + strconv.Itoa(k)
		g.Columns = append(g.Columns, c)
	}
	slices.SortFunc(g.Columns, func(a, b column.Column) int { return strings.Compare(a.Name, b.Name) })
	return g
}
