// Package session defines the interface between front ends and the master: one user's debugging of
// one job.
package session

import (
	"context"
	"time"

	"sdm/protocol"
	"sdm/protocol/rank"
)

// Call is a command of a front end.
type Call struct {
	Command string `json:"command"`
	// Ranks is the text of a rank set (Parse in package rank); "" is all.
	Ranks string        `json:"ranks,omitempty"`
	Wait  time.Duration `json:"-"` // of this call; 0: the session's default; negative: no limit
	Args  protocol.Args `json:"args"`
	// Once is a word for an intent, at most MaxOnce bytes: a shared session executes one call with it, and refuses others
	// with a fault whose Before is the number of that one. "": each call is executed.
	Once string `json:"once,omitempty"`
}

// MaxOnce bounds Call.Once, in bytes.
const MaxOnce = 100

// Event is an element of the session's single ordered stream: a group of answers, an event of
// ranks, their output, or the "done" of a call, of which each call has exactly one. Its JSON form
// is the ndjson line and the JSON-RPC notification (docs/protocol.md).
type Event struct {
	Name    string             // from Kind.String, or "done"
	ID      protocol.RequestID // 0 if unsolicited
	Command string             // of the call, for answers and done
	Group   protocol.Group     // empty for done
	Late    bool               // an answer after the call's done
	From    string             // writer of output that is of no rank: "starter"
	// Cursor is the number of the event in a session of several front ends, from 1 on; 0: an answer, an event of a
	// snapshot, or of a session that is not shared.
	Cursor uint64
	Done   *Done
}

// Done ends a call: every addressed rank is in exactly one of Answered, Missing and Lost.
type Done struct {
	Asked    int      // number of ranks
	Answered int      // number of ranks with results or faults
	Faults   int      // number of ranks of Answered with faults
	Missing  rank.Set // no answer within the wait
	Lost     rank.Set
	// Cancelled: the front end has ended the call; ranks without an answer are in Missing.
	Cancelled bool
	Took      time.Duration
	// Verdict is why the ranks do not go on, as far as the answers to stacks tell. It is added for JSON, by
	// verdict.Judge; sessions leave it empty.
	Verdict []Finding
}

// Finding is one sentence of a verdict; package verdict makes it.
type Finding struct {
	// Kind is "deadlock", "mismatch", "cause", "progress" or "none".
	Kind string `json:"kind"`
	// Certain: several samples were compared; else it was so at one instant.
	Certain bool `json:"certain"`
	// Ranks are those that wait, and those for which they wait.
	Ranks rank.Set `json:"ranks"`
	// Text is the sentence, without a full stop.
	Text string `json:"text"`
}

// Session is the interface of the master for front ends. Master implements it, and so do the
// JSON-RPC client and, for tests, sessiontest.Tape.
type Session interface {
	// Do starts a call and returns its number; its answers are events. If the error is a
	// *protocol.Fault, the call is refused, and other calls are possible; with other errors the
	// session cannot be reached.
	Do(ctx context.Context, c Call) (protocol.RequestID, error)
	// Events returns the stream, in order, for one consumer; each call returns the same channel. A
	// slow consumer slows the program's output, but not commands. The channel is closed when the
	// session is over.
	Events() <-chan Event
	// Close ends the session: ranks that the session started are killed, attached ones are
	// detached. It returns when all servers have ended or ctx is done.
	Close(ctx context.Context) error
}
