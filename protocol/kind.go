// Types of groups.

package protocol

// Kind is the type of a Group's payload. The numbers are part of the wire format
// and never reused.
type Kind uint8

// Answers to a request, then events of ranks, then output of ranks and remarks.
const (
	KindResult  Kind = 1 // body: the command's result
	KindFault   Kind = 2 // body: Fault
	KindMissing Kind = 3 // body: Missing; made by the tree at a deadline
	KindLost    Kind = 4 // body: Missing; made by the tree when a server is lost; also an event

	KindStarted   Kind = 16 // body: Started; the rank is under control
	KindRunning   Kind = 17 // body: {}; the rank was resumed
	KindStopped   Kind = 18 // body: Stop
	KindExited    Kind = 19 // body: Exit
	KindSignalled Kind = 20 // body: Exit; the rank was ended by a signal
	KindDetached  Kind = 21 // body: {}; the rank continues without a debugger
	KindWatched   Kind = 22 // body: {}; the rank runs, and has no debugger until a command needs one

	KindStdout  Kind = 32 // body: the bytes as written, at most one line
	KindStderr  Kind = 33 // body: the bytes as written, at most one line
	KindNote    Kind = 34 // body: Note; a message to the user
	KindLogged  Kind = 35 // body: Logged; the rank continues
	KindJob     Kind = 36 // body: JobState; state of a job of a resource manager
	KindLoading Kind = 37 // body: Loading; reading symbols of libraries takes long, or has ended

	// Of a session with several front ends; they never pass the tree.
	KindCommand Kind = 48 // body: Commanded; a front end has given a command that does more than look
	KindFront   Kind = 49 // body: FrontEnd; one has come or left
	KindGap     Kind = 50 // body: Gap; events have not been kept for this front end
	KindPoints  Kind = 51 // body: PointsChange; breakpoints of the ranks were made, changed or removed
)

// kindNames are the names for front ends, in the field "event".
var kindNames = map[Kind]string{
	KindResult: "reply", KindFault: "error", KindMissing: "missing", KindLost: "lost",
	KindStarted: "started", KindRunning: "running", KindStopped: "stopped",
	KindExited: "exited", KindSignalled: "signalled", KindDetached: "detached", KindWatched: "watched",
	KindStdout: "output", KindStderr: "output", KindNote: "note", KindLogged: "logged",
	KindJob: "job", KindLoading: "loading",
	KindCommand: "command", KindFront: "front", KindGap: "gap", KindPoints: "breakpoint",
}

// String returns the name for front ends, or "unknown".
func (k Kind) String() string {
	if s, ok := kindNames[k]; ok {
		return s
	}
	return "unknown"
}

// IsOutput reports whether the body is output of a rank, not JSON.
func (k Kind) IsOutput() bool { return k == KindStdout || k == KindStderr }

// IsInformational reports whether the group neither changes the state of a rank nor is
// output.
func (k Kind) IsInformational() bool { return k == KindNote || k == KindLogged || k == KindLoading }

// IsEnd reports whether the debugging of a rank has ended with an event of this
// kind.
func (k Kind) IsEnd() bool {
	return k == KindExited || k == KindSignalled || k == KindDetached || k == KindLost
}

// TellsState reports whether a group tells the state of its ranks; see session.States.
func (k Kind) TellsState() bool { return k >= KindStarted && k <= KindWatched || k == KindLost }
