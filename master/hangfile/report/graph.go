// The drawing of who waits for whom.

package report

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"sdm/master/hangfile"
	"sdm/master/text"
	"sdm/protocol/rank"
)

// Drawing is a picture in pixels: boxes are what ranks do, arrows lead to those for which they wait. Boxes are in
// columns: an arrow leads to the right, or within a column if ranks wait for one another.
type Drawing struct {
	Width   int     `json:"width"`
	Height  int     `json:"height"`
	Boxes   []Box   `json:"boxes"`
	Arrows  []Arrow `json:"arrows"`
	Grouped bool    `json:"grouped,omitempty"` // boxes stand for several similar rows
	More    int     `json:"more,omitempty"`    // rows that are not drawn
}

// Box is what some ranks do.
type Box struct {
	X     int    `json:"x"`
	Y     int    `json:"y"`
	W     int    `json:"w"`
	H     int    `json:"h"`
	Lines []Line `json:"lines"` // ranks, then what they do
	Title string `json:"title"`
	Class string `json:"class,omitempty"` // "cycle", "sofar", "cause" or ""
	Set   string `json:"set,omitempty"`   // the ranks; "": their set is too long
}

// Line is a line of text in a box, with the position of its base.
type Line struct {
	X    int    `json:"x"`
	Y    int    `json:"y"`
	Text string `json:"text"`
}

// Arrow leads from ranks to those for which they wait.
type Arrow struct {
	Path   string `json:"path"`
	Label  string `json:"label,omitempty"`
	X      int    `json:"x"` // of the label
	Y      int    `json:"y"`
	Anchor string `json:"anchor"` // of the label: "start" or "end"
	Class  string `json:"class,omitempty"`
	Set    string `json:"set,omitempty"` // the ranks that wait and those for which they wait; "": too long
}

// Sizes in pixels, and bounds of a drawing.
const (
	boxWidth   = 290
	lineHeight = 16
	padding    = 10
	columnGap  = 110
	rowGap     = 26
	margin     = 14
	lineRunes  = 38
	maxLines   = 4
	maxBoxes   = 30
	maxSetText = 4 << 10 // bytes of a set that can be taken
)

// step is a row, or several similar ones.
type step struct {
	hangfile.Rows
	loop bool // a deadlock is about its ranks
	sure bool // the loop is certain
}

// Draw returns the drawing of what ranks do, of which a verdict says why they do not go on; nil if no rank waits for
// another.
func Draw(calls []hangfile.Row, verdict []hangfile.Finding) *Drawing {
	if !slices.ContainsFunc(calls, func(r hangfile.Row) bool { return !r.For.IsEmpty() }) {
		return nil
	}
	d := &Drawing{}
	var steps []step
	d.Grouped = len(calls) > maxBoxes
	for _, r := range hangfile.Alike(calls, maxBoxes) {
		steps = append(steps, step{Rows: r})
	}
	markLoops(steps, verdict)
	if len(steps) > maxBoxes {
		slices.SortStableFunc(steps, func(a, b step) int {
			if a.loop != b.loop {
				return map[bool]int{true: -1, false: 1}[a.loop]
			}
			return cmp.Compare(b.Ranks.Len(), a.Ranks.Len())
		})
		for _, s := range steps[maxBoxes:] {
			d.More += s.Count
		}
		steps = steps[:maxBoxes]
	}
	d.layout(steps)
	return d
}

func markLoops(steps []step, verdict []hangfile.Finding) {
	for i := range steps {
		for _, x := range verdict {
			if x.Kind == "deadlock" && x.Ranks.Intersects(steps[i].Ranks) {
				steps[i].loop = true
				steps[i].sure = steps[i].sure || x.Certain
			}
		}
	}
}

// layout places boxes and arrows.
func (d *Drawing) layout(steps []step) {
	n := len(steps)
	common := make([][]rank.Set, n)
	reach := make([][]bool, n)
	for i := range steps {
		common[i], reach[i] = make([]rank.Set, n), make([]bool, n)
		for k := range steps {
			common[i][k] = steps[i].For.Intersect(steps[k].Ranks)
			reach[i][k] = !common[i][k].IsEmpty()
		}
	}
	for m := range n {
		for i := range n {
			for k := range n {
				reach[i][k] = reach[i][k] || reach[i][m] && reach[m][k]
			}
		}
	}
	levels := levelsOf(common, reach)
	left := margin // wider if an arrow leads up
	for i := range n {
		for k := range i {
			if !common[i][k].IsEmpty() && levels[i] == levels[k] {
				left = columnGap
			}
		}
	}
	deepest := slices.Max(levels)
	bottom := make([]int, deepest+1) // of each column
	for i := range steps {
		column := deepest - levels[i]
		b := boxOf(steps[i])
		b.X, b.Y = left+column*(boxWidth+columnGap), margin+bottom[column]
		for k := range b.Lines {
			b.Lines[k].X, b.Lines[k].Y = b.X+padding, b.Y+padding+(k+1)*lineHeight-4
		}
		bottom[column] += b.H + rowGap
		switch {
		case reach[i][i] && steps[i].loop:
			b.Class = classOf(steps[i])
		case steps[i].For.IsEmpty():
			b.Class = "cause"
		}
		d.Boxes = append(d.Boxes, b)
	}
	d.Width = left + margin + (deepest+1)*(boxWidth+columnGap)
	d.Height = 2*margin + slices.Max(bottom) - rowGap
	for i := range steps {
		for k := range steps {
			if !common[i][k].IsEmpty() {
				label, class := "", ""
				if reach[k][i] && steps[i].loop {
					class = classOf(steps[i])
				}
				if i == k || !common[i][k].Equal(steps[k].Ranks) {
					label = clip(text.Ranks(common[i][k]), 10)
				}
				a := d.arrow(i, k, levels[i] == levels[k], label, class)
				a.Set = setText(steps[i].Ranks.Union(common[i][k]))
				d.Arrows = append(d.Arrows, a)
			}
		}
	}
}

// classOf returns the class of a step that is part of a loop: one that is so far only is dashed, and not red.
func classOf(s step) string {
	if s.sure {
		return "cycle"
	}
	return "sofar"
}

// levelsOf returns for each step the longest way to one that waits for none; steps that wait for one another have the
// same level.
func levelsOf(common [][]rank.Set, reach [][]bool) []int {
	n := len(common)
	levels := make([]int, n)
	for changed, round := true, 0; changed && round < n; round++ {
		changed = false
		for i := range n {
			for k := range n {
				level := levels[k]
				if !reach[k][i] {
					level++
				}
				if reach[i][k] && levels[i] < level {
					levels[i], changed = level, true
				}
			}
		}
	}
	return levels
}

func boxOf(s step) Box {
	count := ""
	if s.Ranks.Len() > 1 {
		count += " (" + strconv.Itoa(s.Ranks.Len()) + ")"
	}
	if s.Count > 1 {
		count += ", " + strconv.Itoa(s.Count) + " rows"
	}
	head := clip("["+text.Ranks(s.Ranks)+"]", lineRunes-len(count)) + count
	b := Box{W: boxWidth, Lines: []Line{{Text: head}}, Set: setText(s.Ranks),
		Title: clean("[" + text.Ranks(s.Ranks) + "] " + s.Text)}
	for _, l := range wrapped(clean(s.Text)) {
		b.Lines = append(b.Lines, Line{Text: l})
	}
	b.H = 2*padding + len(b.Lines)*lineHeight
	return b
}

// arrow connects two boxes: to the right, or within a column by a bow, which is at the right side of the column if it
// leads down, and at the left side if it leads up.
func (d *Drawing) arrow(i, k int, same bool, label, class string) Arrow {
	from, to := d.Boxes[i], d.Boxes[k]
	a := Arrow{Label: label, Anchor: "start", Class: class}
	x1, y1 := from.X+from.W, from.Y+from.H/2
	x2, y2 := to.X, to.Y+to.H/2
	switch {
	case i == k:
		y1, y2 = from.Y+6, from.Y+24
		a.Path = fmt.Sprintf("M%d %d C%d %d %d %d %d %d", x1, y1, x1+40, y1-8, x1+40, y2+8, x1, y2)
		a.X, a.Y = x1+35, y1+6
	case same && y1 < y2:
		x2 = to.X + to.W
		bow := x1 + bowOf(y2-y1)
		a.Path = fmt.Sprintf("M%d %d C%d %d %d %d %d %d", x1, y1+6, bow, y1+6, bow, y2-6, x2, y2-6)
		a.X, a.Y = (x1+3*bow)/4+6, (y1+y2)/2+4
	case same:
		x1, x2 = from.X, to.X
		bow := x1 - bowOf(y1-y2)
		a.Path = fmt.Sprintf("M%d %d C%d %d %d %d %d %d", x1, y1-6, bow, y1-6, bow, y2+6, x2, y2+6)
		a.X, a.Y, a.Anchor = (x1+3*bow)/4-6, (y1+y2)/2+4, "end"
	default:
		mid := (x1 + x2) / 2
		a.Path = fmt.Sprintf("M%d %d C%d %d %d %d %d %d", x1, y1, mid, y1, mid, y2, x2, y2)
		a.X, a.Y = mid-12, (y1+y2)/2-5
	}
	return a
}

// bowOf returns the width of a bow of a height.
func bowOf(height int) int { return min(20+height/5, columnGap-30) }

// setText returns a set as text that can be taken as a focus; "": it is too long.
func setText(s rank.Set) string {
	if t := s.String(); len(t) <= maxSetText {
		return t
	}
	return ""
}

// clip cuts a text to a number of characters.
func clip(s string, most int) string {
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	return string([]rune(s)[:most-1]) + "…"
}

// wrapped cuts a text into at most maxLines lines, at blanks if possible.
func wrapped(s string) (lines []string) {
	rest := []rune(s)
	for len(rest) > lineRunes {
		if len(lines) == maxLines-1 {
			return append(lines, string(rest[:lineRunes-1])+"…")
		}
		at := lineRunes
		for at > lineRunes/2 && rest[at] != ' ' {
			at--
		}
		if rest[at] != ' ' {
			at = lineRunes
		}
		lines = append(lines, string(rest[:at]))
		rest = []rune(strings.TrimLeft(string(rest[at:]), " "))
	}
	return append(lines, string(rest))
}
