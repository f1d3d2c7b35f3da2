// Names of expressions that the front end expands step by step.

package ptp

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"sdm/protocol"
	"sdm/protocol/ptp"
	"sdm/protocol/rank"
)

// maxPartials bounds the expressions with names: of older ones stops tell no changes.
const maxPartials = 1000

// partials are the expressions with names, in order of their first command. The zero value has none.
type partials struct {
	last  int
	known []partial
}

type partial struct {
	id    string // as Eclipse knows it; for a member or element PARENT.NAME
	expr  string
	whole bool // members and elements were asked for
	ranks rank.Set
	spots spots // where it was evaluated
	seen  cells // what gdb has shown of it when it was last evaluated; of what it shows in part, what Eclipse was sent
}

// root returns the name that covers the members and elements of an expression with this name.
func root(id string) string {
	name, _, _ := strings.Cut(id, ".")
	return name
}

// name returns the name of an expression of the action's ranks: the given one, or a new one for "".
func (j *action) name(given, expr string, whole bool) string {
	if j.asked != nil && j.asked.of != nil { // it has its name
		return j.value.name
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if given == "" {
		j.partials.last++
		given = "var" + strconv.Itoa(j.partials.last)
	}
	j.value = &answerName{given}
	for i := range j.partials.known {
		if p := &j.partials.known[i]; p.id == given {
			if p.expr != expr {
				p.seen = nil
			}
			p.ranks, p.expr, p.whole = p.ranks.Union(j.ranks), expr, whole
			for _, x := range j.spots.of(j.ranks) {
				p.spots = p.spots.with(x)
			}
			return given
		}
	}
	known := append(j.partials.known, partial{id: given, expr: expr, whole: whole, ranks: j.ranks,
		spots: j.spots.of(j.ranks)})
	j.partials.known = known[max(0, len(known)-maxPartials):]
	return given
}

// maxCompared bounds the expressions that are evaluated at a stop. Of more, all are told as changed.
const maxCompared = 100

// changes are expressions and the ranks on which they have changed.
type changes []changed

type changed struct {
	partial // with the ranks on which it may have changed
	asked   calls
	outer   []outer  // of ranks that have its frame further out
	gone    rank.Set // ranks that have its frame no more
	lost    rank.Set // and those that may not
}

// outer is the question for an expression of a frame that is not the current one.
type outer struct {
	framed
	asked calls
}

// compared asks for the expressions of some ranks, which have stopped, for each expression once: Eclipse
// gives new names at each stop.
func (j *action) compared(ctx context.Context, ranks rank.Set) changes {
	j.mu.Lock()
	known := slices.Clone(j.partials.known)
	j.mu.Unlock()
	type question struct{ expr, ranks string }
	asked := map[question]calls{}
	var all changes
	for _, p := range known {
		those := p.ranks.Intersect(ranks).Intersect(j.ranks)
		if those.IsEmpty() {
			continue
		}
		q := question{p.expr, those.String()}
		if _, ok := asked[q]; !ok && len(asked) < maxCompared {
			asked[q] = j.show(ctx, p.expr, those)
		}
		p.ranks = those
		all = append(all, changed{partial: p, asked: asked[q]})
	}
	return all
}

// changesOf compares the expressions with what they were at the last stop. Eclipse asks again for each
// that is told as changed.
func (j *action) changesOf(ctx context.Context, all changes) changes {
	detailed := map[string]cells{}
	j.askOutside(ctx, all)
	for i := range all {
		all[i].ranks = j.different(ctx, all[i], detailed)
	}
	return slices.DeleteFunc(all, func(c changed) bool { return c.ranks.IsEmpty() })
}

// askOutside asks for expressions of frames that are not the current ones: a function was called from there.
// What belongs to a frame that has ended is not asked for.
func (j *action) askOutside(ctx context.Context, all changes) {
	j.mu.Lock()
	now := j.spots
	j.mu.Unlock()
	asked := map[string]calls{}
	for i := range all {
		c := &all[i]
		var at []framed
		at, c.gone, c.lost = now.levels(c.spots, c.ranks, c.expr)
		for _, x := range at {
			if x.level == 0 || c.asked == nil {
				continue
			}
			key := fmt.Sprint(x.level, x.ranks, c.expr)
			if _, known := asked[key]; !known {
				asked[key] = j.post(ctx, "print", x.ranks, protocol.Args{Expr: c.expr, Limit: everyValue, Frame: &x.level})
			}
			c.outer = append(c.outer, outer{x, asked[key]})
		}
	}
}

// maxDetailed bounds the expressions that are evaluated as for Eclipse at a stop, one after the other: those
// that gdb shows in part. Of more, all are told as changed.
const maxDetailed = 30

// different returns the ranks on which an expression may not be what it was. detailed has what was asked for
// in detail so far.
func (j *action) different(ctx context.Context, c changed, detailed map[string]cells) rank.Set {
	answers := c.asked.answers(ctx)
	same := c.gone.Union(c.lost.Intersect(withoutValue(answers)))
	now, here := j.seen(c.id).in(same), c.ranks.Minus(same)
	for _, x := range c.outer {
		here = here.Minus(x.ranks)
		now = append(now, j.whole(ctx, c, x.asked.answers(ctx), x.framed, detailed)...)
	}
	if c.asked != nil {
		now = append(now, j.whole(ctx, c, answers, framed{ranks: here}, detailed)...)
	}
	for _, n := range now {
		for _, s := range j.seen(c.id).in(n.ranks) {
			if s.value == n.value {
				same = same.Union(s.ranks)
			}
		}
	}
	j.shown = append(j.shown, shown{c.id, now})
	return c.ranks.Minus(same)
}

// whole returns what gdb shows of an expression on some ranks; of what it shows in part, what Eclipse is sent.
func (j *action) whole(ctx context.Context, c changed, answers []protocol.Group, at framed,
	detailed map[string]cells) cells {
	now := shownBy(answers).in(at.ranks)
	left := unseen(now, at.ranks)
	if left.IsEmpty() {
		return now
	}
	key := fmt.Sprint(c.whole, left, at.level, c.expr)
	if _, known := detailed[key]; !known && len(detailed) < maxDetailed {
		quiet := &action{front: j.front, ranks: left, what: j.what, asked: j.asked} // a stop has no ERROR
		if at.level > 0 {
			quiet.frame = &at.level
		}
		v := &valuer{action: quiet, whole: c.whole, expr: c.expr, first: answers}
		v.early = v.again(ctx, c.expr, left)
		detailed[key] = sent(v.values(ctx, c.expr, left, true), left)
	}
	return append(now, detailed[key]...)
}

// withoutValue returns the ranks that have no value.
func withoutValue(answers []protocol.Group) rank.Set {
	return protocol.RanksOf(answers, protocol.KindFault)
}

// unseen returns the ranks that are in no cell.
func unseen(now cells, ranks rank.Set) rank.Set {
	for _, n := range now {
		ranks = ranks.Minus(n.ranks)
	}
	return ranks
}

// sent returns what Eclipse is sent for some ranks.
func sent(values []value, ranks rank.Set) cells {
	var all cells
	for _, x := range values {
		all = append(all, cell{x.ranks, x.is.Format + " " + x.is.Argument()})
	}
	return all.in(ranks)
}

// shown is what gdb has shown of an expression with a name.
type shown struct {
	id string
	is cells
}

// isPart matches a text that does not decide whether a value is the same: a part of the value is not
// shown, or the expression is one that only C can read.
var isPart = regexp.MustCompile(`\.\.\.|` + notFortran.String())

// shownBy returns what answers to print show: whole values, or why there is none.
func shownBy(answers []protocol.Group) cells {
	var all cells
	for _, g := range answers {
		switch g.Kind {
		case protocol.KindResult:
			all = append(all, cellsOf(g, "value", "").by(cellsOf(g, "hash", ""))...)
		case protocol.KindFault:
			all = append(all, cell{g.Ranks, string(g.Body)})
		}
	}
	return slices.DeleteFunc(all, func(c cell) bool { return isPart.MatchString(c.value) })
}

// seen returns what gdb has shown of an expression at the last stops.
func (j *action) seen(id string) cells {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, p := range j.partials.known {
		if p.id == id {
			return p.seen
		}
	}
	return nil
}

// keepShown keeps what the action has seen of expressions on some ranks. Actions of other ranks do the same
// meanwhile.
func (j *action) keepShown(ranks rank.Set) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, s := range j.shown {
		for i := range j.partials.known {
			if p := &j.partials.known[i]; p.id == s.id {
				p.seen = slices.Concat(s.is.in(ranks), p.seen.in(j.all.Minus(ranks)))
			}
		}
	}
	j.shown = nil
}

// maxParts bounds the events into which a stop is divided by what has changed on which ranks.
const maxParts = 4

// divide returns some ranks by the names of what has changed on them, each a list after its number.
func (c changes) divide(ranks rank.Set) []namesOf {
	parts := []namesOf{{ranks: ranks}}
	var all []string
	for _, x := range c {
		name := root(x.id)
		if !x.ranks.Intersects(ranks) {
			continue
		}
		if !slices.Contains(all, name) {
			all = append(all, name)
		}
		var next []namesOf
		for _, p := range parts {
			if with := p.ranks.Intersect(x.ranks); !with.IsEmpty() {
				next = append(next, p.with(with, name))
			}
			if p.ranks = p.ranks.Minus(x.ranks); !p.ranks.IsEmpty() {
				next = append(next, p)
			}
		}
		parts = next
	}
	if len(parts) > maxParts {
		return []namesOf{{ranks, all}}
	}
	return parts
}

// namesOf are the names of what has changed on some ranks.
type namesOf struct {
	ranks rank.Set
	names []string
}

// with returns the names with another one, which is there once.
func (n namesOf) with(ranks rank.Set, name string) namesOf {
	if slices.Contains(n.names, name) {
		return namesOf{ranks, n.names}
	}
	return namesOf{ranks, append(slices.Clone(n.names), name)}
}

func deletePartial(_ context.Context, j *action, args arguments) {
	j.mu.Lock()
	var left []partial
	var had rank.Set
	for _, p := range j.partials.known {
		if p.id == args[0] || root(p.id) == args[0] {
			had = had.Union(p.ranks.Intersect(j.ranks))
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
