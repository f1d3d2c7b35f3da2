// Calls of the session that an action makes.

package ptp

import (
	"context"
	"errors"
	"time"

	"sdm/master/session"
	"sdm/protocol"
	"sdm/protocol/canonical"
	"sdm/protocol/rank"
)

// ask makes a call of the session for ranks and waits for the answers: each rank is in one group. A
// refusal by the session is the answer of all.
func (j *action) ask(ctx context.Context, name string, ranks rank.Set, args protocol.Args) []protocol.Group {
	return j.post(ctx, name, ranks, args).answers(ctx)
}

// pending is a call whose answers have not been taken.
type pending struct {
	action *action
	ranks  rank.Set
	call   *call
	isLate bool  // it was made by the action that is repeated
	err    error // why there is no call
}

// errLate is why ranks are not asked that have not answered a call before.
var errLate = errors.New("late")

// calls are those whose answers are taken together.
type calls []pending

// post makes a call without waiting: several share one way through the tree.
func (j *action) post(ctx context.Context, name string, ranks rank.Set, args protocol.Args) calls {
	if j.frame != nil && name != "gdb" { // it takes none
		args.Frame = j.frame
	}
	switch {
	case ranks.IsEmpty():
		return nil
	case j.asked != nil:
		return j.asked.post(ctx, j, name, ranks, args)
	}
	return calls{j.call(ctx, name, ranks, args)}
}

// call makes a call of the session.
func (j *action) call(ctx context.Context, name string, ranks rank.Set, args protocol.Args) pending {
	p := pending{action: j, ranks: ranks}
	wait, first := j.wait, j.asked != nil && j.asked.of == nil
	if first {
		wait, args.Patience = quickWait, int(lateWait/time.Millisecond)
	}
	p.call, p.err = j.do(ctx, session.Call{Command: name, Ranks: ranks.String(), Wait: wait, Args: args}, first)
	return p
}

// answers waits for the answers; see ask.
func (c calls) answers(ctx context.Context) []protocol.Group {
	var groups []protocol.Group
	for _, p := range c {
		groups = append(groups, p.answers(ctx)...)
	}
	return groups
}

func (p pending) answers(ctx context.Context) []protocol.Group {
	switch {
	case p.err == errLate:
		return []protocol.Group{missing(p.ranks)}
	case p.err != nil:
		return []protocol.Group{faultOf(p.ranks, p.err)}
	case p.isLate:
		return p.action.lateAnswers(ctx, p.call, p.ranks)
	}
	select {
	case <-p.call.done:
	case <-ctx.Done():
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			return []protocol.Group{missing(p.ranks)}
		}
		return []protocol.Group{faultOf(p.ranks, ctx.Err())}
	}
	groups := p.action.groupsOf(p.call)
	if a := p.action.asked; a != nil && a.of == nil {
		for _, g := range groups {
			if g.Kind == protocol.KindMissing {
				a.late = a.late.Union(g.Ranks)
			}
		}
	}
	return groups
}

func faultOf(ranks rank.Set, err error) protocol.Group {
	var fault *protocol.Fault
	if !errors.As(err, &fault) {
		fault = &protocol.Fault{Kind: protocol.FaultInternal, Message: err.Error()}
	}
	return protocol.Group{Kind: protocol.KindFault, Ranks: ranks, Body: canonical.JSON(fault)}
}

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
		Body: canonical.JSON(protocol.Missing{Cause: protocol.NoAnswer(quickWait + lateWait)})}
}

// post makes a call for the ranks that have answered so far, or finds it among the calls of the
// first time.
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
