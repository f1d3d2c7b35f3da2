// Actions: commands and events in progress.

package ptp

import (
	"cmp"
	"context"
	"slices"
	"time"

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

func (j *action) end() {
	j.flush()
	close(j.done)
	select {
	case j.settled <- struct{}{}:
	default:
	}
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
