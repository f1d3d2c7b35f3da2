package protocol

import "encoding/json"

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

// Canonical gives the one JSON form of a body: fields in the order of the
// struct, no blanks, no HTML escapes. It panics on values that JSON cannot
// hold, which is a mistake in our own code.
func Canonical(v any) []byte {
	var b jsonBuffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic("protocol: body cannot be encoded: " + err.Error())
	}
	return b[:len(b)-1] // Encode ends with a newline
}

// jsonBuffer is the smallest io.Writer: bytes.Buffer would keep spare state
// alive for every body that is kept.
type jsonBuffer []byte

func (b *jsonBuffer) Write(p []byte) (int, error) {
	*b = append(*b, p...)
	return len(p), nil
}
