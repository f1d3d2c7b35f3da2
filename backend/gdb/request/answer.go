// Answers of gdb.

package request

import (
	"encoding/json"
	"sdm/backend/mi"
	"sdm/protocol"
)

// Answer is gdb's answer to one call.
type Answer struct {
	mi.Record        // ^done, ^running, ^error
	Text      string // what it printed meanwhile; see Capture.Print
	Warned    string // its warnings; see Capture.SeparateWarnings
	Made      string // gdb's number of the breakpoint that the call has made; "": none
}

// Failed reports whether gdb refused the command.
func (a Answer) Failed() bool { return a.Name == "error" }

// Capture selects which output of gdb becomes part of an answer.
type Capture struct {
	Print            bool // output goes to Answer.Text
	Raw              bool // as records of GDB/MI, not as text
	SeparateWarnings bool // gdb's log, which has its warnings, goes to Answer.Warned
}

// FaultIn returns the fault that an answer is, or nil.
func FaultIn(g protocol.Group) *protocol.Fault {
	var f protocol.Fault
	if g.Kind != protocol.KindFault || json.Unmarshal(g.Body, &f) != nil {
		return nil
	}
	return &f
}
