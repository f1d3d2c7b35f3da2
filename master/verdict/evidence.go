// What findings are based on.

package verdict

import (
	"fmt"
	"strings"

	"sdm/protocol/rank"
	"sdm/protocol/wait"
)

// rules says for each kind of finding by which rule of docs/hangs.md it was made.
var rules = [kinds]string{
	Cycle:    "ranks that wait for one another cannot go on",
	Mismatch: "all members of a communicator must make the same call with the same arguments",
	Cause:    "a rank for which others wait, and that waits for none itself",
	Progress: "calls, registers or stacks of all ranks differ between the samples",
}

// Evidence returns what a finding of a graph is based on, in lines: the rule, how many samples were compared
// and why that makes it certain or not, and what each of its ranks does.
func Evidence(g *wait.Graph, samples int, f Finding) (lines []string) {
	if f.Kind == NoVerdict {
		return nil
	}
	if f.Kind == Progress {
		return []string{"rule: " + rules[f.Kind], fmt.Sprintf("%d samples", samples)}
	}
	s := newSolver(g, samples)
	lines = append(lines, "rule: "+rules[f.Kind], s.samplesText(f))
	for _, row := range s.rows() {
		if some := row.Ranks.Intersect(f.Ranks); !some.IsEmpty() {
			lines = append(lines, "["+Ranks(some)+"] "+row.Text)
		}
	}
	return lines
}

// samplesText says what the samples tell of the ranks of a finding that wait.
func (s *solver) samplesText(f Finding) string {
	waiting := f.Ranks.Intersect(s.blocked.Minus(s.fixed))
	if s.samples < 2 {
		return "1 sample: the next one may be another"
	}
	if waiting.IsEmpty() {
		waiting = f.Ranks
	}
	var parts []string
	add := func(some rank.Set, one, many string) {
		if some = some.Intersect(f.Ranks); !some.IsEmpty() {
			parts = append(parts, plural(some, one, many))
		}
	}
	add(s.computing(), "computes, and others may wait for its result", "compute, and others may wait for their results")
	add(s.g.Moved(), "has moved", "have moved")
	add(s.unsure, "may wait for something else", "may wait for something else")
	add(s.g.Cut(), "waits for more messages than are kept", "wait for more messages than are kept")
	add(s.g.Unheld(), "was not stopped for some sample", "were not stopped for some sample")
	add(s.g.Doubt().Intersect(waiting), "may have got a message without a trace", "may have got messages without a trace")
	if still := waiting.Minus(s.g.Moved()); !still.IsEmpty() {
		parts = append(parts, plural(still, "is", "are")+" in the same call with the same arguments, registers and stack of the caller in all")
	}
	return fmt.Sprintf("%d samples: ", s.samples) + strings.Join(parts, "; ")
}
