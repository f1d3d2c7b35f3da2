// Jobs: what is under way for the front end.

package ptp

import (
	"context"
	"errors"
	"slices"
	"time"

	"sdm/master/session"
	"sdm/protocol"
	"sdm/protocol/ptp"
	"sdm/protocol/rank"
)

// job is a command of the front end, or an event of ranks, until all has been said of
// it. Jobs that are about the same rank are done one after the other, in the order of
// coming: so answers keep the order of the commands, and the front end hears of a stop
// before the answer to what it has commanded afterwards. A rank that does not answer
// costs the wait of the session.
type job struct {
	*front
	ranks rank.Set
	what  string        // for messages
	wait  time.Duration // for the answers of ranks; 0 is what the session has been told
	moves bool          // it lets ranks run, or starts them
	done  chan struct{}
	said  []saying
}

// saying is an event for the front end.
type saying struct {
	code  ptp.Code
	ranks rank.Set
	args  []string
}

// order is what a job waits for, and what waits for it.
type order uint8

const (
	inTurn order = iota
	moving       // lets ranks run, or starts them
	urgent       // waits for those that are moving only: it ends what they have begun
)

// begin starts a job, which waits for those before it. What it has said is sent when it
// ends. Only the loop calls it.
func (f *front) begin(ctx context.Context, what string, ranks rank.Set, o order, run func(context.Context, *job)) {
	j := &job{front: f, ranks: ranks, what: what, moves: o == moving, done: make(chan struct{})}
	var before []*job
	f.unfinished() // lets go of those that have ended
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

// unfinished counts the jobs that have not ended.
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

// say adds an event; ranks of which the same is said share one.
func (j *job) say(code ptp.Code, ranks rank.Set, args ...string) {
	for i := range j.said {
		s := &j.said[i]
		if s.code == code && slices.Equal(s.args, args) {
			s.ranks = s.ranks.Union(ranks)
			return
		}
	}
	j.said = append(j.said, saying{code, ranks, args})
}

func (j *job) flush() {
	for _, s := range j.said {
		j.out.send(s.code, s.ranks, s.args...)
	}
	j.said = nil
}

// ask gives the ranks a command and waits for what they answer: each rank is in one
// group. A refusal by the session is the answer of all.
func (j *job) ask(ctx context.Context, name string, ranks rank.Set, args protocol.Args) []protocol.Group {
	if ranks.IsEmpty() {
		return nil
	}
	c, err := j.do(ctx, session.Call{Command: name, Ranks: ranks.String(), Wait: j.wait, Args: args})
	if err != nil {
		return []protocol.Group{faultOf(ranks, err)}
	}
	select {
	case <-c.done:
		return c.groups
	case <-ctx.Done():
		return []protocol.Group{faultOf(ranks, ctx.Err())}
	}
}

// look asks, says what has failed, and gives the results.
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
