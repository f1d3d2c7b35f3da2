// Names of expressions that the front end expands step by step.

package ptp

import (
	"context"
	"strconv"

	"sdm/protocol/ptp"
	"sdm/protocol/rank"
)

// partials are the expressions with names. The zero value has none.
type partials struct {
	last  int
	known []partial
}

type partial struct {
	name  string
	ranks rank.Set
}

// name returns the name of an expression of the job's ranks: the given one if it is known,
// otherwise a new one.
func (j *job) name(given string) string {
	j.mu.Lock()
	defer j.mu.Unlock()
	for i := range j.partials.known {
		if p := &j.partials.known[i]; p.name == given {
			p.ranks = p.ranks.Union(j.ranks)
			return given
		}
	}
	j.partials.last++
	p := partial{"var" + strconv.Itoa(j.partials.last), j.ranks}
	j.partials.known = append(j.partials.known, p)
	return p.name
}

// changedNames returns the number and the names of the expressions whose value may have changed
// with a stop of ranks: all expressions of these ranks.
func (j *job) changedNames(ranks rank.Set) []string {
	j.mu.Lock()
	defer j.mu.Unlock()
	var names []string
	for _, p := range j.partials.known {
		if p.ranks.Intersects(ranks) {
			names = append(names, p.name)
		}
	}
	return counted(names)
}

func deletePartial(_ context.Context, j *job, args arguments) {
	j.mu.Lock()
	var left []partial
	var had rank.Set
	for _, p := range j.partials.known {
		if p.name == args[0] {
			had = p.ranks.Intersect(j.ranks)
			p.ranks = p.ranks.Minus(j.ranks)
		}
		if !p.ranks.IsEmpty() {
			left = append(left, p)
		}
	}
	j.partials.known = left
	j.mu.Unlock()
	if !had.IsEmpty() {
		j.say(ptp.EventOK, had)
	}
	j.error(j.ranks.Minus(had), ptp.UnknownVariable, j.what+": there is no "+args[0])
}
