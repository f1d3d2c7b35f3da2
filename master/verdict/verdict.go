// Package verdict tells from a graph of waits why ranks do not go on: who waits for whom, who is
// waited for in the end, and what that one does. It is pure.
//
// The rules are those of docs/hangs.md.
package verdict

import (
	"cmp"
	"slices"

	"sdm/protocol/rank"
	"sdm/protocol/wait"
)

// Finding is one cause, as one sentence.
type Finding struct {
	Kind  Kind
	Ranks rank.Set // that are concerned: those who wait, and for whom
	Text  string   // without a full stop
	// Certain: several samples were compared, and none of those who wait has moved. Else it is so
	// at one instant, and messages may be under way.
	Certain bool
}

// Kind is what has been found.
type Kind uint8

const (
	// Cycle are ranks that wait for one another.
	Cycle Kind = iota
	// Mismatch are different calls, or arguments, in one communicator.
	Mismatch
	// Cause is a rank that is waited for and does not wait.
	Cause
	// Progress: no rank is stuck.
	Progress
	// NoVerdict says why there is none.
	NoVerdict
)

// Of returns what a graph says, the most certain and the most severe first. samples is the number of
// samples that were compared; with one, nothing is certain. A graph without calls of MPI gives none.
func Of(g *wait.Graph, samples int) []Finding {
	if len(g.Calls())+len(g.Edges()) == 0 {
		return nil
	}
	for _, e := range g.Edges() {
		if e.Function == wait.OtherNumber {
			return []Finding{{Kind: NoVerdict, Ranks: e.Pairs.Ranks(), Text: plural(e.Pairs.Ranks(), "has another number", "have other numbers") + " in MPI_COMM_WORLD, so that who waits for whom is not known"}}
		}
	}
	s := newSolver(g, samples)
	s.collectives()
	s.messages()
	s.anyOf()
	s.components()
	s.resolve()
	findings := slices.Concat(s.mismatches(), s.cycles(), s.causes())
	findings = slices.DeleteFunc(findings, func(f Finding) bool { return s.samples > 1 && s.moves(f) })
	slices.SortStableFunc(findings, func(a, b Finding) int {
		return cmp.Or(compareBools(b.Certain, a.Certain), cmp.Compare(a.Kind, b.Kind))
	})
	if len(findings) == 0 && samples > 1 {
		findings = s.progress()
	}
	return findings
}

func compareBools(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

// moves reports whether all who wait have moved between the samples: it was an instant of a job that
// goes on.
func (s *solver) moves(f Finding) bool {
	waiting := f.Ranks.Intersect(s.blocked)
	return waiting.Minus(s.g.Moved()).IsEmpty()
}

// progress says that no rank is stuck.
func (s *solver) progress() []Finding {
	moved := s.g.Moved()
	if rest := s.g.Ranks().Minus(moved); !rest.IsEmpty() {
		return nil
	}
	return []Finding{{Kind: Progress, Ranks: moved, Certain: true, Text: "no hang: all ranks have moved"}}
}
