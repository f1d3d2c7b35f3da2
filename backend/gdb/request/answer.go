// Answers of gdb.

package request

import "sdm/backend/mi"

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
