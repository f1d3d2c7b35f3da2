// Compares what sdm and plain gdb show for one rank.

package oracle

import (
	"fmt"
	"strings"
)

// Difference is a difference between what sdm and gdb show to the user of one rank, at one line of
// a session.
type Difference struct {
	Session Session
	Layout  Layout
	Rank    int
	Line    int    // index in Session.Lines
	GDB     string // after the rules are applied
	SDM     string // after the rules are applied
	Known   *Known // the defect that explains it; nil: a new one
}

// String describes the difference for users, with the flags that reproduce it.
func (d Difference) String() string {
	l := d.Session.Lines[d.Line]
	return fmt.Sprintf("-program %s -seed %d -layout %s: rank %d, line %d: %s\n--- gdb\n%s\n+++ sdm\n%s\n",
		d.Session.Program.Name, d.Session.Seed, d.Layout, d.Rank, d.Line+1, strings.Join(l.Typed(), "; "),
		clipped(d.GDB, d.SDM), clipped(d.SDM, d.GDB))
}

// clipped shortens a long text to the part that differs from other.
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

// Result is the result of the comparison of one rank of one session.
type Result struct {
	Words []string     // of the compared lines
	Found []Difference // those after the first may be its consequences
}

// Compare compares the output for one rank.
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
				result.Found = append(result.Found, Difference{s, l, rank, i, want, got,
					KnownAs(s.Program.Name, line.Word, want, got)})
			}
		}
		if rules.fits("over", line, sdm.Text) || rules.fits("off", line, gdb[i].Text) || rules.splits(line, told, i) {
			break
		}
	}
	return result
}
