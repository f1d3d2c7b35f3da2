// Answers that come late.

package ptp

import (
	"context"
	"time"

	"sdm/protocol/rank"
)

const (
	// quickWait is how long a quick action waits for answers before it reports those that have come.
	quickWait = 500 * time.Millisecond
	// lateWait is how long the answers of the other ranks are waited for, from then on.
	lateWait = 10 * time.Second
)

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

// lateActions returns the actions that wait for late answers of some ranks.
func (f *front) lateActions(ranks rank.Set) []*action {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.late.of(ranks)
}
