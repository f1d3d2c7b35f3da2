package protocol

// FaultKind is what a caller may tell apart about a failure of some ranks. The
// texts cross the wire and are never changed.
type FaultKind string

const (
	FaultUsage    FaultKind = "usage"    // the command makes no sense as given
	FaultState    FaultKind = "state"    // the rank is in the wrong state: running, ended, not started
	FaultGDB      FaultKind = "gdb"      // gdb refused, in gdb's own words
	FaultEngine   FaultKind = "engine"   // gdb itself is missing, dead or hung
	FaultLaunch   FaultKind = "launch"   // the program could not be started or attached
	FaultInternal FaultKind = "internal" // a promise inside sdm was broken
)

// Fault is the typed failure of some ranks: the body of a KindFault group. The
// ranks are the group's. Message is in lower case without a full stop, except
// where gdb's own words are passed on; Hint says what to do.
type Fault struct {
	Kind    FaultKind `json:"kind"`
	Op      string    `json:"op,omitempty"`
	Message string    `json:"message"`
	Hint    string    `json:"hint,omitempty"`
	// Later tells that a breakpoint may be set for a library that is not loaded yet
	// (Args.Pending).
	Later bool `json:"later,omitempty"`
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

// Missing is the body of KindMissing and KindLost groups: why ranks did not
// answer. Host is the host of the server that is late or gone, where known.
type Missing struct {
	Cause string `json:"cause"`
	Host  string `json:"host,omitempty"`
	// Incomplete tells that the ranks may have written something that went with
	// their server. It stands in events only.
	Incomplete bool `json:"incomplete,omitempty"`
}
