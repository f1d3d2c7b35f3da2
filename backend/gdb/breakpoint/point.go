// One breakpoint.

package breakpoint

import (
	"sdm/backend/gdb/request"
	"sdm/backend/mi"
	"sdm/protocol"
	"slices"
	"strings"
)

// Point is a breakpoint, watchpoint or catchpoint of a rank.
type Point struct {
	Number   int // sdm's; 0: internal (first stop, MPI_Abort)
	GDB      string
	Location string   // as the user gave it
	again    string   // see protocol.BreakpointInfo
	exprs    []string // of a log: evaluated at each hit, then the thread resumes
	Lines    []string // commands, executed at each hit
	asserted string   // expression of an assertion, which is judged at each hit
	passes   bool     // … and the thread resumes
	Barrier  bool
	once     bool   // gdb disables it at a hit, also after a plain enable
	left     int    // hits after which gdb disables it; 0: it does not
	event    string // of a catchpoint
	software bool   // of a watchpoint: gdb steps and compares, see protocol.Stop
	Gone     bool   // deleted in gdb; a stop at it may still come
	Before   int    // hits that an earlier gdb has counted
	counted  tally
	unlisted bool // gdb does not list it any more, see newHits
	// Watched is the frame of a watchpoint in a shared gdb: the thread, and the level
	// counted from the outermost, which is 1; 0: unknown.
	Watched request.Selection
	// places are the addresses of its locations, in order, as gdb reported last.
	places []string
}

// Resumes reports whether a thread that stopped at the breakpoint resumes after its
// actions.
func (p *Point) Resumes() bool {
	return p != nil && (p.exprs != nil || p.passes ||
		len(p.Lines) > 0 && len(p.Then()) == 0 && isContinue(p.Lines[len(p.Lines)-1]))
}

// Acts reports whether there is something to be evaluated or executed at a stop.
func (p *Point) Acts() bool { return len(p.Lines) > 0 || p.asserted != "" }

// Then returns the lines that the front end executes.
func (p *Point) Then() []string { return p.Lines[protocol.FrontEndLine(p.Lines):] }

func (p *Point) IsSilent() bool { return len(p.Lines) > 0 && p.Lines[0] == "silent" }

func isContinue(line string) bool {
	return slices.Contains([]string{"continue", "c", "cont", "fg"}, line)
}

// tally is what gdb has counted at a breakpoint: hits, and how many of the next ones do
// not stop.
type tally struct{ hits, ignore int }

// stopOf translates a stop at another breakpoint in the same place to one at p.
func (p *Point) stopOf(stop mi.Tuple) mi.Tuple {
	disposition := "keep"
	switch {
	case p.unlisted:
		disposition = "del"
	case p.left > 0:
		disposition = "dis"
	}
	now := slices.Clone(stop)
	for i, f := range now {
		switch f.Name {
		case "bkptno":
			now[i].Value.Str = p.GDB
		case "disp":
			now[i].Value.Str = disposition
		}
	}
	return now
}

// caught are gdb's descriptions of exceptions, which it reports as breakpoints.
var caught = map[string]string{"throw": "exception thrown", "rethrow": "exception rethrown", "catch": "exception caught"}

// Event describes the event of a catchpoint if gdb does not.
func (p *Point) Event() string {
	word, rest, _ := strings.Cut(p.event, " ")
	if text, ok := caught[word]; ok {
		return text
	}
	return strings.TrimSpace(word + " " + rest)
}
