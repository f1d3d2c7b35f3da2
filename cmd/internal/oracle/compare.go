package oracle

import (
	"fmt"
	"strings"
)

// Difference is what sdm and gdb tell a rank's user differently, at one line of
// a session.
type Difference struct {
	Session Session
	Layout  Layout
	Rank    int
	Line    int
	GDB     string // after the rules
	SDM     string // after the rules
	Known   *Known // the defect that it is; nil if it is a new one
}

// String gives it for a person, with what plays it again.
func (d Difference) String() string {
	l := d.Session.Lines[d.Line]
	return fmt.Sprintf("-program %s -seed %d -layout %s: rank %d, line %d: %s\n--- gdb\n%s\n+++ sdm\n%s\n",
		d.Session.Program.Name, d.Session.Seed, d.Layout, d.Rank, d.Line+1, strings.Join(l.Typed(), "; "), clipped(d.GDB, d.SDM), clipped(d.SDM, d.GDB))
}

// clipped leaves out of a long text what the other has as well.
func clipped(text, other string) string {
	const long, around = 2000, 200 // bytes
	if len(text) < long {
		return text
	}
	at := 0
	for at < min(len(text), len(other)) && text[at] == other[at] {
		at++
	}
	return "..." + text[max(at-around, 0):min(at+around, len(text))] + "..."
}

// Result is what the comparison of one rank of one session came to.
type Result struct {
	Words []string     // of the lines that were compared
	Found []Difference // what stands behind the first may follow from it
}

// Compare compares what a rank's user was told.
func Compare(rules Rules, s Session, l Layout, rank int, gdb []Block, told *Told) Result {
	var result Result
	for i, line := range s.Lines {
		if i > told.Ended || rules.leaves(line, "end") {
			break
		}
		sdm := told.Ranks[rank][i]
		if !rules.leaves(line, "skip") {
			result.Words = append(result.Words, line.Word)
			want, got := rules.apply(line, "gdb", gdb[i]), rules.apply(line, "sdm", sdm)
			got = rules.uncut(line, want, got)
			if want != got && !rules.fits("any", line, sdm.Text) && !rules.fits("free", line, gdb[i].Text) {
				result.Found = append(result.Found, Difference{s, l, rank, i, want, got, KnownAs(s.Program.Name, line.Word, want, got)})
			}
		}
		if rules.fits("over", line, sdm.Text) || rules.fits("off", line, gdb[i].Text) || rules.splits(line, told, i) {
			break
		}
	}
	return result
}
