// Answers and the ranks that gave them.

package text

import (
	"slices"
	"strconv"
	"strings"

	"sdm/protocol/rank"
)

// answer is one distinct text and the ranks that gave it.
type answer struct {
	ranks rank.Set
	note  string // before the text: "late: "
	lines []string
	bad   bool // a failure: red
	bare  bool // the lines contain their ranks and are clean
	words bool // a text of gdb, which may contain addresses
	// below are lines after the first one that are not indented, even if that is the only one: the
	// source line of a stop.
	below []string
}

// sortAnswers sorts by descending number of ranks, then by lowest rank.
func sortAnswers(all []answer) {
	slices.SortStableFunc(all, func(a, b answer) int {
		if d := b.ranks.Len() - a.ranks.Len(); d != 0 {
			return d
		}
		x, _ := a.ranks.Min()
		y, _ := b.ranks.Min()
		return int(x - y)
	})
}

// write writes a single line after its ranks; several lines below them, as gdb prints them.
func (w *Writer) write(b *strings.Builder, x answer, whole rank.Set) {
	if len(x.lines) == 0 {
		return
	}
	if x.bare {
		b.WriteString(strings.Join(x.lines, "\n") + "\n")
		return
	}
	head := x.note
	if !x.ranks.IsEmpty() {
		head = w.header(x.ranks, whole) + " " + x.note
	}
	if len(x.lines) == 1 {
		b.WriteString(head + w.paint(x.bad, Clean(x.lines[0])) + "\n")
	} else {
		b.WriteString(strings.TrimSuffix(head, " ") + "\n")
		for _, line := range x.lines {
			b.WriteString(w.paint(x.bad, Clean(line)) + "\n")
		}
	}
	for _, line := range x.below {
		b.WriteString(Clean(line) + "\n")
	}
}

// header returns "[0-2,4-7] (7)". The count is added from 2 on, except for a contiguous set that is
// the whole.
func (w *Writer) header(s, whole rank.Set) string {
	text := "[" + clipped(s) + "]"
	n := s.Len()
	if n >= 2 && !(s.Equal(whole) && contiguous(s)) {
		text += " (" + strconv.Itoa(n) + ")"
	}
	if w.Color {
		return cyan + text + reset
	}
	return text
}

func contiguous(s rank.Set) bool {
	first, _ := s.Min()
	last, _ := s.Max()
	return int(last-first)+1 == s.Len()
}

// maxRanges is the maximal number of ranges of a set in a line, to leave room for the answer. The
// count and NDJSON are complete.
const maxRanges = 24

// Ranks returns the text of a set for a line, which may be truncated.
func Ranks(s rank.Set) string { return clipped(s) }

// clipped returns the canonical text of a set; if it has many ranges, the first ones and the last.
func clipped(s rank.Set) string {
	n := 0
	for range s.Ranges() {
		if n++; n > maxRanges {
			break
		}
	}
	if n <= maxRanges {
		return s.String()
	}
	var head []string
	var last [2]rank.ID
	for first, end := range s.Ranges() {
		if len(head) < maxRanges-1 {
			head = append(head, rangeText(first, end))
		}
		last = [2]rank.ID{first, end}
	}
	return strings.Join(head, ",") + ",…," + rangeText(last[0], last[1])
}

func rangeText(first, last rank.ID) string {
	return rank.Range(first, last).String()
}

// The colours are SGR sequences (ECMA-48).
const (
	cyan  = "\x1b[36m"
	red   = "\x1b[31m"
	dim   = "\x1b[2m"
	reset = "\x1b[0m"
)

func (w *Writer) paint(bad bool, s string) string {
	if bad && w.Color {
		return red + s + reset
	}
	return s
}
