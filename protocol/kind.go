package protocol

// Kind says what the payload of a Group is. The numbers cross the wire and are
// never reused.
type Kind uint8

// Answers to a request, then events of ranks, then output of ranks.
const (
	KindResult  Kind = 1 // body: the command's result
	KindFault   Kind = 2 // body: Fault
	KindMissing Kind = 3 // body: Missing; made by the tree when a wait is over
	KindLost    Kind = 4 // body: Missing; made by the tree when a server is lost; also an event

	KindStarted   Kind = 16 // body: Started; the rank exists and is under control
	KindRunning   Kind = 17 // body: {}; the rank was resumed
	KindStopped   Kind = 18 // body: Stop
	KindExited    Kind = 19 // body: Exit
	KindSignalled Kind = 20 // body: Exit; the rank was ended by a signal
	KindDetached  Kind = 21 // body: {}; the rank runs on without us

	KindStdout  Kind = 32 // body: the bytes as written, at most one line
	KindStderr  Kind = 33 // body: the bytes as written, at most one line
	KindNote    Kind = 34 // body: Note; words to the person
	KindLogged  Kind = 35 // body: Logged; the rank runs on
	KindJob     Kind = 36 // body: JobState; how the job of a resource manager is getting on
	KindLoading Kind = 37 // body: Loading; symbols of libraries are read, for longer than a moment, or have been
)

// kindNames are the names that front ends see, in the field "event".
var kindNames = map[Kind]string{
	KindResult: "reply", KindFault: "error", KindMissing: "missing", KindLost: "lost",
	KindStarted: "started", KindRunning: "running", KindStopped: "stopped",
	KindExited: "exited", KindSignalled: "signalled", KindDetached: "detached",
	KindStdout: "output", KindStderr: "output", KindNote: "note", KindLogged: "logged",
	KindJob: "job", KindLoading: "loading",
}

// String gives the name that front ends see, or "unknown".
func (k Kind) String() string {
	if s, ok := kindNames[k]; ok {
		return s
	}
	return "unknown"
}

// IsOutput tells whether the body is bytes that a rank wrote, not JSON.
func (k Kind) IsOutput() bool { return k == KindStdout || k == KindStderr }

// IsRemark tells whether it leaves the state of a rank as it was, and is no output.
func (k Kind) IsRemark() bool { return k == KindNote || k == KindLogged || k == KindLoading }

// IsEnd tells whether a rank is gone after an event of this kind.
func (k Kind) IsEnd() bool {
	return k == KindExited || k == KindSignalled || k == KindDetached || k == KindLost
}
