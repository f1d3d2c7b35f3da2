// Package verdict determines from a graph of waits why ranks do not go on: which ranks wait for which, and what the
// ranks do that do not wait and for which others wait. It is pure.
//
// The rules are in docs/hangs.md.
package verdict

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"sdm/protocol"
	"sdm/protocol/rank"
	"sdm/protocol/wait"
)

// Finding is one cause, as one sentence.
type Finding struct {
	Kind  Kind
	Ranks rank.Set // the ranks that wait, and those for which they wait
	Text  string   // without a full stop
	// Certain: several samples were compared, and none of the waiting ranks has moved. Otherwise the
	// finding holds for one instant, and messages may be under way.
	Certain bool
}

// Kind is what has been found.
type Kind uint8

const (
	// Cycle are ranks that wait for one another.
	Cycle Kind = iota
	// Mismatch are different calls, or arguments, in one communicator.
	Mismatch
	// Cause are ranks for which others wait, and that do not wait themselves.
	Cause
	// Progress: no rank is stuck.
	Progress
	// NoVerdict says why no finding is possible.
	NoVerdict
	kinds // number of values
)

// String returns the kind as in JSON: "deadlock".
func (k Kind) String() string {
	return [kinds]string{"deadlock", "mismatch", "cause", "progress", "none"}[k]
}

// Label returns how sure a finding with this kind is, as words in front of its text: "certain", "so far" or "no
// verdict".
func Label(kind string, certain bool) string {
	switch {
	case kind == NoVerdict.String():
		return "no verdict"
	case certain:
		return "certain"
	}
	return "so far"
}

// GraphOf returns what the ranks of answers to stacks wait for, and how many samples were compared. Ranks
// that did not answer are in the graph, and those that have ended. It numbers ranks as in the session, if these
// numbers are known for all ranks of MPI_COMM_WORLD. It is nil if no answer has a graph.
func GraphOf(answers []protocol.Group, ended rank.Set) (g *wait.Graph, samples int) {
	samples = 1
	var silent rank.Set
	graphs := make([]*wait.Graph, len(answers))
	for i, x := range answers {
		graphs[i] = x.Waits
		var body struct {
			Samples int `json:"samples"`
		}
		switch x.Kind {
		case protocol.KindResult:
			if json.Unmarshal(x.Body, &body) == nil {
				samples = max(samples, body.Samples)
			}
		case protocol.KindMissing, protocol.KindLost:
			silent = silent.Union(x.Ranks)
		}
	}
	if g = wait.MergeAll(graphs); g == nil {
		return nil, samples
	}
	g = g.Merge(wait.Of(silent, wait.Rank{Doing: wait.Doing{State: wait.Silent}}))
	g = g.Merge(wait.Of(ended, wait.Rank{Doing: wait.Doing{State: wait.Dead}}))
	if h, err := g.Renumbered(); err == nil {
		g = h
	}
	return g, samples
}

// Of returns the findings of a graph: certain ones first, then in the order of Kind. samples is the number of
// samples that were compared; with one, nothing is certain. Without calls of MPI there are only findings about
// threads, locks and pipes. A panic becomes a finding that says so: it costs the verdict and nothing else.
func Of(g *wait.Graph, samples int) (found []Finding) {
	return guarded(func() []Finding { return of(g, samples) })
}

// guarded returns the findings of a function, or, if it panics, the finding that there is no verdict, and why.
func guarded(judge func() []Finding) (found []Finding) {
	if bad, _ := protocol.Guard("", func() { found = judge() }); bad != nil {
		return []Finding{{Kind: NoVerdict, Text: bad.Message + "; please report it"}}
	}
	return found
}

func of(g *wait.Graph, samples int) []Finding {
	numbered, err := g.Renumbered()
	if err != nil {
		return []Finding{{Kind: NoVerdict, Text: "the numbers here are not those of " + worldOf(g) + ", and " + err.Error()}}
	}
	s := newSolver(numbered, samples)
	s.anyOf()
	s.components()
	s.resolve()
	findings := slices.Concat(s.mismatches(), s.cycles(), s.causes())
	findings = append(findings, s.stopped()...)
	findings = append(findings, s.locks()...)
	findings = slices.DeleteFunc(findings, func(f Finding) bool { return s.samples > 1 && s.moves(f) })
	slices.SortStableFunc(findings, func(a, b Finding) int {
		switch {
		case a.Certain == b.Certain:
			return cmp.Compare(a.Kind, b.Kind)
		case a.Certain:
			return -1
		}
		return 1
	})
	if len(findings) == 0 && samples > 1 {
		findings = s.progress()
	}
	return findings
}

// worldOf names what numbers all ranks of a graph.
func worldOf(g *wait.Graph) string {
	if slices.ContainsFunc(g.Calls(), func(c wait.Call) bool { return isMPI(c.Function) }) ||
		slices.ContainsFunc(g.Edges(), func(e wait.Edge) bool { return isMPI(e.Function) }) {
		return "MPI_COMM_WORLD"
	}
	return "the default process group of torch"
}

// isMPI reports whether the function of a call or an edge is of MPI; others are of torch.distributed, or "".
func isMPI(function string) bool { return strings.HasPrefix(function, "MPI_") }

// moves reports whether all waiting ranks of a finding have moved between the samples: then the job goes on.
func (s *solver) moves(f Finding) bool {
	waiting := f.Ranks.Intersect(s.blocked)
	if waiting.IsEmpty() { // its threads wait
		waiting = f.Ranks
	}
	return waiting.Minus(s.g.Moved()).IsEmpty()
}

// progress returns the finding that no rank is stuck; nil if a rank has not moved, or if it is not known what it does:
// that it was read in one sample and not in another does not mean that it goes on.
func (s *solver) progress() []Finding {
	moved := s.g.Moved()
	notRead := func(d wait.Doing) bool { return d.State == wait.Unread || d.State == wait.Silent }
	if len(s.g.Calls())+len(s.g.Edges()) == 0 || slices.ContainsFunc(s.g.Doings(), notRead) {
		return nil
	}
	if rest := s.g.Ranks().Minus(moved); !rest.IsEmpty() {
		return nil
	}
	return []Finding{{Kind: Progress, Ranks: moved, Certain: true, Text: "no hang: all ranks have moved"}}
}
