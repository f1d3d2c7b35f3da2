// Actions: commands and events in progress.

package ptp

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"sdm/master/session"
	"sdm/protocol"
	"sdm/protocol/ptp"
	"sdm/protocol/rank"
)

// action is the execution of a command, or of an event of ranks, until all of it has been reported.
// Actions for the same rank run one after the other, in order of arrival: answers keep the order of
// the commands, and a stop is reported to the front end before the answers to later commands. A rank
// that does not answer delays its actions by the wait of the session.
//
// An action that only looks (quick) reports the answers that have come after a short wait; for the other
// ranks it is repeated, with their late answers (late.go). So a gdb that hangs holds back nothing of
// other ranks.
type action struct {
	*front
	ranks  rank.Set
	what   string        // for messages
	wait   time.Duration // for answers; 0 is the session's default
	moves  bool          // it resumes or starts ranks
	frame  *int          // of all questions; nil: the selected one
	debt   *debt         // nil: it is not the execution of a command
	asked  *asked        // nil: it is not quick
	value  *answerName   // errors are sent as values; nil: as ERROR
	done   chan struct{}
	before []*action // actions that must have ended before
	events []event
	shown  []shown // of expressions with names
}

// answerName is the name of the variable in the answers of a command that asks for a value.
type answerName struct {
	name string // "" for EVALUATE EXPRESSION
}

// event is an event for the front end.
type event struct {
	code  ptp.Code
	ranks rank.Set
	args  []string
}

// order determines which actions an action waits for.
type order uint8

const (
	inTurn  order = iota
	looking       // in turn, and quick: it may be executed twice, but each call is made once
	moving        // in turn, and resumes or starts ranks
	urgent        // is executed after moving actions only, whose effect it ends, and answers in turn
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

// awaitActions waits until actions have ended; it reports whether they have when ctx is done.
func awaitActions(ctx context.Context, actions []*action) bool {
	for _, other := range actions {
		select {
		case <-other.done:
		case <-ctx.Done():
			return false
		}
	}
	return true
}

// lateActions returns the actions that wait for late answers of some ranks.
func (f *front) lateActions(ranks rank.Set) []*action {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.late.of(ranks)
}

// run executes the action. A panic becomes an error of its ranks.
func (j *action) run(ctx context.Context, run func(context.Context, *action)) {
	if bad, stack := protocol.Guard(j.what, func() { run(ctx, j) }); bad != nil {
		j.defect(bad, stack)
		j.error(j.ranks, ptp.Unknown, bad.Error())
	}
}

func (j *action) end() {
	j.flush()
	close(j.done)
	select {
	case j.settled <- struct{}{}:
	default:
	}
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

// say adds an event; ranks with the same event share one.
func (j *action) say(code ptp.Code, ranks rank.Set, args ...string) {
	for i := range j.events {
		s := &j.events[i]
		if s.code == code && slices.Equal(s.args, args) {
			s.ranks = s.ranks.Union(ranks)
			return
		}
	}
	j.events = append(j.events, event{code, ranks, args})
}

// flush sends the events, errors last: Eclipse may drop results that come after an ERROR to the same
// command. Stops and ends wait for the answers that their ranks owe.
func (j *action) flush() {
	slices.SortStableFunc(j.events, func(a, b event) int { return cmp.Compare(a.isError(), b.isError()) })
	var resumed rank.Set
	for _, s := range j.events {
		if s.code == ptp.EventSuspend || s.code == ptp.EventExit {
			j.tell(s)
			continue
		}
		if j.moves && s.code == ptp.EventOK {
			resumed = resumed.Union(s.ranks)
		}
		j.out.send(s.code, s.ranks, s.args...)
	}
	j.events = nil
	j.settle(j.debt, resumed)
}

// isError is 1 for an ERROR, otherwise 0.
func (e event) isError() int {
	if e.code == ptp.EventError {
		return 1
	}
	return 0
}

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

// results makes a call, reports failures, and returns the results.
func (j *action) results(ctx context.Context, name string, ranks rank.Set, args protocol.Args,
	failure ptp.ErrorCode) []protocol.Group {
	var results []protocol.Group
	for _, g := range j.ask(ctx, name, ranks, args) {
		if g.Kind == protocol.KindResult {
			results = append(results, g)
		} else {
			j.fail(g, failure)
		}
	}
	return results
}

func faultOf(ranks rank.Set, err error) protocol.Group {
	var fault *protocol.Fault
	if !errors.As(err, &fault) {
		fault = &protocol.Fault{Kind: protocol.FaultInternal, Message: err.Error()}
	}
	return protocol.Group{Kind: protocol.KindFault, Ranks: ranks, Body: bodyOf(fault)}
}
