// Answers of gdb.

package request

import "sdm/backend/mi"

// Answer is gdb's answer to one call.
type Answer struct {
	mi.Record        // ^done, ^running, ^error
	Text      string // what it printed meanwhile, if the call asked for it
	Warned    string // its warnings, if the call wants them separately
	Made      string // gdb's number of the breakpoint that the call has made
}

// Failed reports whether gdb refused the command.
func (a Answer) Failed() bool { return a.Name == "error" }

// Capture selects what gdb prints that belongs to an answer.
type Capture struct {
	Print            bool // what gdb prints
	Raw              bool // as MI records, not as text
	SeparateWarnings bool // without warnings, which go to Warned
}
