// Answers that come late.

package ptp

import (
	"context"
	"time"

	"sdm/protocol"
	"sdm/protocol/canonical"
	"sdm/protocol/rank"
)

const (
	// quickWait is how long a quick action waits for answers before it reports those that have come.
	quickWait = 500 * time.Millisecond
	// lateWait is how long the answers of the other ranks are waited for, from then on.
	lateWait = 10 * time.Second
)

// asked are the calls of a quick action.
type asked struct {
	made []made
	late rank.Set // ranks that have not answered in time; they are not asked again
	of   *asked   // of the action that is repeated for its late ranks; nil: this is the first time
}

// made is a call that was made.
type made struct {
	key   string // command and arguments
	ranks rank.Set
	call  *call
}

// keyOf returns a key that two calls share if they ask the same.
func keyOf(name string, args protocol.Args) string {
	return name + " " + string(canonical.JSON(args))
}

// missing is the answer of ranks that have not given one.
func missing(ranks rank.Set) protocol.Group {
	return protocol.Group{Kind: protocol.KindMissing, Ranks: ranks,
		Body: bodyOf(protocol.Missing{Cause: protocol.NoAnswer(quickWait + lateWait)})}
}

// post makes a call for the ranks that have answered so far, or finds it among those of the first
// time.
func (a *asked) post(ctx context.Context, j *action, name string, ranks rank.Set, args protocol.Args) []pending {
	key := keyOf(name, args)
	var parts []pending
	if a.of != nil {
		ranks = ranks.Intersect(j.ranks)
		for _, m := range a.of.made {
			if common := ranks.Intersect(m.ranks); m.key == key && !common.IsEmpty() {
				parts = append(parts, pending{action: j, ranks: common, call: m.call, isLate: true})
				ranks = ranks.Minus(common)
			}
		}
	}
	if skipped := ranks.Intersect(a.late); !skipped.IsEmpty() {
		parts = append(parts, pending{action: j, ranks: skipped, err: errLate})
		ranks = ranks.Minus(skipped)
	}
	if ranks.IsEmpty() {
		return parts
	}
	p := j.call(ctx, name, ranks, args)
	if p.call != nil {
		a.made = append(a.made, made{key, ranks, p.call})
	}
	return append(parts, p)
}

// answersSoFar returns the answers of some ranks that have come so far, without those that say that there is
// none, the ranks that have not answered, and a channel that is closed when more have come.
func (f *front) answersSoFar(c *call, ranks rank.Set) (groups []protocol.Group, rest rank.Set, more <-chan struct{}) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, g := range c.groups {
		if g.Ranks = g.Ranks.Intersect(ranks); g.Kind != protocol.KindMissing && !g.Ranks.IsEmpty() {
			groups = append(groups, g)
			ranks = ranks.Minus(g.Ranks)
		}
	}
	return groups, ranks, c.more
}

// lateAnswers waits for the late answers of some ranks until ctx is done.
func (f *front) lateAnswers(ctx context.Context, c *call, ranks rank.Set) []protocol.Group {
	for {
		groups, rest, more := f.answersSoFar(c, ranks)
		if rest.IsEmpty() {
			return groups
		}
		select {
		case <-more:
		case <-ctx.Done():
			return append(groups, missing(rest))
		}
	}
}

// split takes the late ranks of a quick action out of what it reports, and returns the action that is
// repeated for them; nil: there are none. A rank that owes an answer to an earlier command is late, too:
// its answers keep their order.
func (j *action) split() *action {
	if j.asked == nil {
		return nil
	}
	rest := j.rest()
	if rest == nil {
		j.restrict(j.ranks)
		return nil
	}
	j.restrict(j.ranks.Minus(rest.ranks))
	return rest
}

// rest returns the action for the late ranks, which is registered as one that later actions for them wait for.
func (j *action) rest() *action {
	j.mu.Lock()
	defer j.mu.Unlock()
	late := j.asked.late
	for _, other := range j.late {
		late = late.Union(other.ranks.Intersect(j.ranks))
	}
	if late.IsEmpty() {
		return nil
	}
	rest := &action{
		front: j.front, ranks: late, what: j.what, value: j.value, asked: &asked{of: j.asked},
		before: j.late.of(late), done: make(chan struct{}),
	}
	j.late = append(j.late, rest)
	if j.debt != nil {
		rest.debt = j.owed.add(late)
	}
	return rest
}

// restrict removes what the action was about to report of other ranks, and keeps what it has found out
// about these.
func (j *action) restrict(ranks rank.Set) {
	j.keepShown(ranks)
	var kept []event
	for _, e := range j.events {
		if e.ranks = e.ranks.Intersect(ranks); !e.ranks.IsEmpty() {
			kept = append(kept, e)
		}
	}
	j.events = kept
}

// repeat executes an action for the late ranks of another one.
func (j *action) repeat(ctx context.Context, run func(context.Context, *action)) {
	limited, cancel := context.WithTimeout(ctx, lateWait)
	defer cancel()
	if awaitActions(ctx, j.before) {
		j.run(limited, run)
		j.restrict(j.ranks)
	}
	if ctx.Err() != nil {
		j.events = nil
	}
	j.flush()
	j.dropCalls(j.asked.of)
	j.dropCalls(j.asked)
	j.mu.Lock()
	j.late = j.late.without(j)
	j.mu.Unlock()
	close(j.done)
}

// dropCalls ends the wait for late answers.
func (f *front) dropCalls(a *asked) {
	if a == nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, m := range a.made {
		delete(f.calls, m.call.id)
	}
}

// lateActions are actions that wait for late answers, in the order of their commands.
type lateActions []*action

// of returns those for some ranks.
func (l lateActions) of(ranks rank.Set) (actions []*action) {
	for _, j := range l {
		if j.ranks.Intersects(ranks) {
			actions = append(actions, j)
		}
	}
	return actions
}

func (l lateActions) without(gone *action) (actions lateActions) {
	for _, j := range l {
		if j != gone {
			actions = append(actions, j)
		}
	}
	return actions
}
