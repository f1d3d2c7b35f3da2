// Package session is the narrow waist between front ends and the master: one
// user's debugging of one job.
package session

import (
	"context"
	"time"

	"sdm/protocol"
	"sdm/protocol/rank"
)

// Call is a command of a front end.
type Call struct {
	Command string
	// Ranks is the text of a rank set (Parse in package rank); "" is all.
	Ranks string
	Wait  time.Duration // of this call; 0: the session's default; negative: no limit
	Args  protocol.Args
}

// Event is one thing on the session's single ordered stream: groups of answers,
// what happens to ranks, their output, and exactly one "done" for each call. Its
// JSON form is the ndjson line and the JSON-RPC notification (docs/protocol.md).
type Event struct {
	Name    string             // as Kind.String gives, or "done"
	ID      protocol.RequestID // 0 for what nobody asked for
	Command string             // of the call, for answers and done
	Group   protocol.Group     // empty for done
	Late    bool               // an answer after the call's done
	From    string             // who has written output that is of no rank: "starter"
	Done    *Done
}

// Done ends a call: every rank asked is in exactly one of the other three.
type Done struct {
	Asked    int      // ranks
	Answered int      // ranks; results and faults
	Faults   int      // ranks of Answered that gave a fault
	Missing  rank.Set // no answer within the wait
	Lost     rank.Set
	Took     time.Duration
}

// Session is what a front end sees. It may live in the same process (Master),
// far away (rpc client) or on a tape.
type Session interface {
	// Do hands a call over and returns its number at once; everything else
	// comes as events. The error is a *protocol.Fault of kind usage: the call
	// makes no sense, nothing was changed.
	Do(ctx context.Context, c Call) (protocol.RequestID, error)
	// Events is the one stream, in order. One consumer. A slow consumer slows
	// the program's output down, never commands. It is closed when the session
	// is over.
	Events() <-chan Event
	// Close ends the session: ranks that we started are killed, attached ones
	// detached from. It returns when all servers have gone or ctx is over.
	Close(ctx context.Context) error
}
