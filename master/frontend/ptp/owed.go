// Stops and ends of ranks that owe an answer.

package ptp

import (
	"slices"

	"sdm/protocol/ptp"
	"sdm/protocol/rank"
)

// owed are the commands whose answers have not all been sent, and what waits for these. Eclipse takes each
// event but OUTPUT for the answer of the ranks that it names to the command that is out: a stop that is
// told between a question and its answer would be the answer, and the answer that to the next question.
type owed struct {
	debts []*debt
	kept  []event // SUSPEND and EXIT of ranks that owe an answer, in order
}

// debt are ranks that owe the answer to a command.
type debt struct{ ranks rank.Set }

// owe notes that ranks owe an answer, from when the command is read.
func (f *front) owe(ranks rank.Set) *debt {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.owed.add(ranks)
}

func (o *owed) add(ranks rank.Set) *debt {
	d := &debt{ranks}
	o.debts = append(o.debts, d)
	return d
}

// owing returns which of some ranks owe an answer.
func (o *owed) owing(ranks rank.Set) rank.Set {
	var those rank.Set
	for _, d := range o.debts {
		those = those.Union(d.ranks.Intersect(ranks))
	}
	return those
}

// tell sends an event that is no answer, or keeps it for the ranks that owe one.
func (f *front) tell(e event) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.tellOrKeep(e)
}

// tellOrKeep does not tell of killed ranks, which have ended for Eclipse with the OK to TERMINATE.
func (f *front) tellOrKeep(e event) {
	e.ranks = e.ranks.Minus(f.killed)
	if owing := f.owed.owing(e.ranks); !owing.IsEmpty() {
		f.owed.kept = append(f.owed.kept, event{e.code, owing, e.args})
		e.ranks = e.ranks.Minus(owing)
	}
	if !e.ranks.IsEmpty() {
		f.out.send(e.code, e.ranks, e.args...)
	}
}

// settle ends the debt of an action whose answers have been sent, and tells what was kept for them. Of ranks
// that it has resumed the stops before are history: Eclipse would take the ranks for stopped.
func (f *front) settle(d *debt, resumed rank.Set) {
	if d == nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.owed.debts = slices.DeleteFunc(f.owed.debts, func(other *debt) bool { return other == d })
	kept := f.owed.kept
	f.owed.kept = nil
	for _, e := range kept {
		if e.code == ptp.EventSuspend {
			e.ranks = e.ranks.Minus(resumed)
		}
		f.tellOrKeep(e)
	}
}
