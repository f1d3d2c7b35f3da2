// Failures of ranks.

package protocol

import "time"

// FaultKind is the class of a failure of some ranks, which callers distinguish. The
// texts are part of the wire format and never change.
type FaultKind string

const (
	FaultUsage    FaultKind = "usage"    // the command is invalid
	FaultState    FaultKind = "state"    // the rank is in the wrong state: running, ended, not started
	FaultGDB      FaultKind = "gdb"      // gdb's error message
	FaultEngine   FaultKind = "engine"   // gdb is missing, has ended or hangs
	FaultLaunch   FaultKind = "launch"   // the program could not be started or attached
	FaultInternal FaultKind = "internal" // an invariant of sdm was violated
)

// Fault is the typed failure of some ranks: the body of a KindFault group. Its ranks are the ranks
// of the group. Message is in lower case without a full stop, except for messages of gdb; Hint
// suggests what to do.
type Fault struct {
	Kind    FaultKind `json:"kind"`
	Op      string    `json:"op,omitempty"`
	Message string    `json:"message"`
	Hint    string    `json:"hint,omitempty"`
	// Later: the breakpoint may be set for a library that is not loaded yet
	// (Args.Pending).
	Later bool `json:"later,omitempty"`
	// Busy: gdb still executes the command; an interrupt ends it.
	Busy bool `json:"busy,omitempty"`
	// Before is the number of a call that was for the same intent (session.Call.Once): this one is not executed again.
	Before RequestID `json:"before,omitempty"`
}

// Error makes a Fault an error for callers inside one process.
func (f *Fault) Error() string {
	text := f.Message
	if f.Op != "" {
		text = f.Op + ": " + text
	}
	if f.Hint != "" {
		text += " (" + f.Hint + ")"
	}
	return text
}

// Missing is the body of KindMissing and KindLost groups: why ranks did not answer.
// Host is the host of the server that is late or gone, if known.
type Missing struct {
	Cause string `json:"cause"`
	Host  string `json:"host,omitempty"`
	// Incomplete: output of the ranks may have been lost with their server. It is
	// set in events only.
	Incomplete bool `json:"incomplete,omitempty"`
}

// Cancelled is the Cause for ranks whose answers are not waited for any more, since the front end has cancelled the
// request.
const Cancelled = "cancelled"

// NoAnswer returns the Cause for ranks that have not answered within a wait; 0 is a
// wait without limit.
func NoAnswer(wait time.Duration) string {
	if wait == 0 {
		return "no answer"
	}
	return NoAnswerIn + wait.String()
}

// NoAnswerIn precedes the wait in the text of NoAnswer.
const NoAnswerIn = "no answer in "
