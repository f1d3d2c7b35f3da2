// Names of expressions that the front end expands step by step.

package ptp

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"sdm/protocol"
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
	expr  string
	ranks rank.Set
	seen  cells // what gdb has shown of it at the last stops
}

// name returns the name of an expression of the job's ranks: the given one if it is known,
// otherwise a new one.
func (j *job) name(given, expr string) string {
	if j.asked != nil && j.asked.of != nil { // it has its name
		return j.value.name
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	for i := range j.partials.known {
		if p := &j.partials.known[i]; p.name == given {
			p.ranks, p.expr = p.ranks.Union(j.ranks), expr
			j.value = &answerName{given}
			return given
		}
	}
	j.partials.last++
	p := partial{name: "var" + strconv.Itoa(j.partials.last), expr: expr, ranks: j.ranks}
	j.partials.known = append(j.partials.known, p)
	j.value = &answerName{p.name}
	return p.name
}

// mostCompared bounds the expressions that are evaluated at a stop. Of more, all are told as changed.
const mostCompared = 100

// changes are expressions and the ranks on which they have changed.
type changes []changed

type changed struct {
	name  string
	ranks rank.Set
}

// changesOf compares the expressions of some ranks, which have stopped, with what they were at the last
// stop. Eclipse asks again for each that is told as changed.
func (j *job) changesOf(ctx context.Context, ranks rank.Set) changes {
	j.mu.Lock()
	known := slices.Clone(j.partials.known)
	j.mu.Unlock()
	var all changes
	for _, p := range known {
		if those := p.ranks.Intersect(ranks); !those.IsEmpty() {
			all = append(all, changed{p.name, those})
		}
	}
	if len(all) > mostCompared {
		return all
	}
	for i := range all {
		all[i].ranks = j.compare(ctx, all[i].name, all[i].ranks)
	}
	return slices.DeleteFunc(all, func(c changed) bool { return c.ranks.IsEmpty() })
}

// compare evaluates an expression and returns the ranks on which it is not what it was. What gdb does
// not show whole may have changed.
func (j *job) compare(ctx context.Context, name string, ranks rank.Set) rank.Set {
	expr, seen := j.partial(name)
	ranks = ranks.Intersect(j.ranks)
	var now cells
	for _, g := range j.ask(ctx, "print", ranks, protocol.Args{Expr: expr, Limit: everyValue}) {
		if g.Kind != protocol.KindResult {
			now = append(now, cell{g.Ranks, string(g.Body)})
			continue
		}
		now = append(now, cellsOf(g, "value", "").by(cellsOf(g, "hash", ""))...)
	}
	var different rank.Set
	for _, c := range now {
		same := rank.Set{}
		for _, s := range seen.in(c.ranks) {
			if s.value == c.value && !strings.Contains(s.value, "...") {
				same = same.Union(s.ranks)
			}
		}
		different = different.Union(c.ranks.Minus(same))
	}
	j.keepSeen(name, now, ranks)
	return different
}

func (j *job) partial(name string) (expr string, seen cells) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, p := range j.partials.known {
		if p.name == name {
			return p.expr, p.seen
		}
	}
	return "", nil
}

// keepSeen keeps what gdb has shown on some ranks. Jobs of other ranks do the same meanwhile.
func (j *job) keepSeen(name string, now cells, ranks rank.Set) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for i := range j.partials.known {
		if p := &j.partials.known[i]; p.name == name {
			p.seen = slices.Concat(now, p.seen.in(j.all.Minus(ranks)))
		}
	}
}

// names returns the number and the names of the expressions that have changed on some of the ranks.
func (c changes) names(ranks rank.Set) []string {
	var names []string
	for _, x := range c {
		if x.ranks.Intersects(ranks) {
			names = append(names, x.name)
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
