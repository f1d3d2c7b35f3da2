// Jobs: commands and events in progress.

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

// job is the execution of a command, or of an event of ranks, until all of it has been reported.
// Jobs for the same rank run one after the other, in order of arrival: answers keep the order of
// the commands, and the front end is told of a stop before the answers to later commands. A rank
// that does not answer delays its jobs by the wait of the session.
type job struct {
	*front
	ranks  rank.Set
	what   string        // for messages
	wait   time.Duration // for answers; 0 is the session's default
	moves  bool          // it resumes or starts ranks
	value  *answerName   // errors are sent as values; nil: as ERROR
	done   chan struct{}
	events []event
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

// order determines which jobs a job waits for.
type order uint8

const (
	inTurn order = iota
	moving       // resumes or starts ranks
	urgent       // waits for moving jobs only, whose effect it ends
)

// begin starts a job, which waits for those before it and sends its events when it ends. It is
// called by the loop only.
func (f *front) begin(ctx context.Context, what string, ranks rank.Set, o order, run func(context.Context, *job)) {
	j := &job{front: f, ranks: ranks, what: what, moves: o == moving, done: make(chan struct{})}
	var before []*job
	f.unfinished() // removes those that have ended
	for _, other := range f.waiting {
		if (o != urgent || other.moves) && other.ranks.Intersects(ranks) {
			before = append(before, other)
		}
	}
	f.waiting = append(f.waiting, j)
	f.jobs.Go(func() {
		defer j.end()
		for _, other := range before {
			select {
			case <-other.done:
			case <-ctx.Done():
				return
			}
		}
		if bad, stack := protocol.Guard(what, func() { run(ctx, j) }); bad != nil {
			f.defect(bad, stack)
			j.error(ranks, ptp.Unknown, bad.Error())
		}
	})
}

func (j *job) end() {
	j.flush()
	close(j.done)
	select {
	case j.settled <- struct{}{}:
	default:
	}
}

// unfinished returns the number of jobs that have not ended.
func (f *front) unfinished() int {
	f.waiting = slices.DeleteFunc(f.waiting, func(j *job) bool {
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
func (j *job) say(code ptp.Code, ranks rank.Set, args ...string) {
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
// command.
func (j *job) flush() {
	slices.SortStableFunc(j.events, func(a, b event) int { return cmp.Compare(a.isError(), b.isError()) })
	for _, s := range j.events {
		j.out.send(s.code, s.ranks, s.args...)
	}
	j.events = nil
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
func (j *job) ask(ctx context.Context, name string, ranks rank.Set, args protocol.Args) []protocol.Group {
	return j.post(ctx, name, ranks, args).answers(ctx)
}

// pending is a call whose answers have not been taken.
type pending struct {
	ranks rank.Set
	call  *call
	err   error // why the session has refused it
}

// post makes a call without waiting: several share one way through the tree.
func (j *job) post(ctx context.Context, name string, ranks rank.Set, args protocol.Args) pending {
	p := pending{ranks: ranks}
	if !ranks.IsEmpty() {
		p.call, p.err = j.do(ctx, session.Call{Command: name, Ranks: ranks.String(), Wait: j.wait, Args: args})
	}
	return p
}

// answers waits for the answers; see ask.
func (p pending) answers(ctx context.Context) []protocol.Group {
	switch {
	case p.err != nil:
		return []protocol.Group{faultOf(p.ranks, p.err)}
	case p.call == nil:
		return nil
	}
	select {
	case <-p.call.done:
		return p.call.groups
	case <-ctx.Done():
		return []protocol.Group{faultOf(p.ranks, ctx.Err())}
	}
}

// look makes a call, reports failures, and returns the results.
func (j *job) look(ctx context.Context, name string, ranks rank.Set, args protocol.Args, failure ptp.ErrorCode) []protocol.Group {
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
