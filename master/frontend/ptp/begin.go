// The start of actions: which others they wait for.

package ptp

import (
	"context"
	"slices"

	"sdm/protocol/rank"
)

// begin starts an action, which waits for those before it and sends its events when it ends. It is
// called by the loop only.
func (f *front) begin(ctx context.Context, what string, ranks rank.Set, o order, run func(context.Context, *action)) {
	f.beginOwing(ctx, what, ranks, o, nil, run)
}

// beginOwing is begin for a command to which the ranks owe the answer.
func (f *front) beginOwing(
	ctx context.Context, what string, ranks rank.Set, o order, d *debt, run func(context.Context, *action),
) {
	j := &action{front: f, ranks: ranks, what: what, moves: o == moving, debt: d, done: make(chan struct{})}
	if o == looking {
		j.asked = &asked{}
	}
	f.unfinished() // removes those that have ended
	for _, other := range f.waiting {
		if (o != urgent || other.moves) && other.ranks.Intersects(ranks) {
			j.before = append(j.before, other)
		}
	}
	f.waiting = append(f.waiting, j)
	f.actions.Go(func() {
		defer j.end()
		if !awaitActions(ctx, j.before) || (o == inTurn || o == moving) && !awaitActions(ctx, f.lateActions(ranks)) {
			return
		}
		j.run(ctx, run)
		if o == urgent && !awaitActions(ctx, f.lateActions(ranks)) {
			return
		}
		if rest := j.split(); rest != nil {
			f.actions.Go(func() { rest.repeat(ctx, run) })
		} else {
			f.dropCalls(j.asked)
		}
	})
}

// unfinished returns the number of actions that have not ended.
func (f *front) unfinished() int {
	f.waiting = slices.DeleteFunc(f.waiting, func(j *action) bool {
		select {
		case <-j.done:
			return true
		default:
			return false
		}
	})
	return len(f.waiting)
}
