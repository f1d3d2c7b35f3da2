// Reverse execution.

package debugger

import (
	"strconv"
	"strings"

	"sdm/backend/gdb/request"
	"sdm/backend/mi"
	"sdm/protocol"
	"sdm/protocol/pattern"
)

// recording is the state of a rank that can run backwards.
type recording struct {
	Wanted bool   // the rank is to be recorded
	asked  bool   // gdb has been told to record; it is told once
	begun  bool   // gdb is recording
	limit  string // what gdb could not record in the present run
}

// Reasons of stops for which gdb gives none.
const (
	noHistory   = "no-history"  // the record ends or begins here
	notRecorded = "record-ends" // the next instruction cannot be recorded
)

// beginRecord starts recording at the first stop: before, the loader runs, which takes
// long and may use instructions that gdb cannot record.
func (rn *runs) beginRecord() {
	if !rn.Record.Wanted || rn.Record.asked {
		return
	}
	rn.Record.asked = true
	rn.ask(request.Internal("record"), func(a request.Answer) {
		if a.Failed() {
			rn.Event(protocol.KindNote, protocol.Note{Text: "this cannot be recorded, and not run backwards: " + a.Results.Str("msg")})
		}
	}, console, "record full")
}

// limits are gdb's messages for what it cannot record, with those of sdm.
var limits = []struct {
	gdb  *pattern.Pattern
	text string
}{
	{pattern.New(`^Process record does not support instruction (0x[0-9a-f]+)`), "the instruction $1"},
	{pattern.New(`^Process record and replay target doesn't support syscall number 435\b`), "the start of a thread"},
	{pattern.New(`^Process record and replay target doesn't support syscall number (-?\d+)`), "the system call $1"},
	{pattern.New(`^Process record: inferior program stopped`), "the end of the program"},
}

// receiveRecording processes what gdb prints while the rank runs.
func (rn *runs) receiveRecording(text string) {
	if !rn.Record.begun || rn.run == nil {
		return
	}
	for _, l := range limits {
		if at := l.gdb.FindStringSubmatchIndex(text); at != nil {
			rn.Record.limit = string(l.gdb.ExpandString(nil, l.text, text, at))
			return
		}
	}
}

// recorded sets the reason of a stop in all-stop mode. gdb reports the ends of the
// record only in its text output, and an interrupt as SIGINT.
func (rn *runs) recorded(stop mi.Tuple) mi.Tuple {
	if !rn.Target.AllStop || rn.run == nil {
		return stop
	}
	reason := ""
	switch name := stop.Str("signal-name"); {
	case stop.Str("reason") == "" && stop.Str("thread-id") != "" && rn.Record.begun:
		reason = noHistory
	case rn.Record.Wanted && stop.Str("reason") == "signal-received" && name == "0" && !rn.run.interrupted:
		reason = notRecorded
	case stop.Str("reason") == "signal-received" && name == "SIGINT" && rn.run.interrupted:
		return withoutReason(stop)
	}
	if reason == "" {
		return stop
	}
	return withReason(stop, reason)
}

// backwards executes reverse-next and the like.
func (rn *runs) backwards(q *request.Request) {
	switch {
	case !rn.Record.Wanted:
		rn.Fail(q, &protocol.Fault{Kind: protocol.FaultUsage, Message: "nothing has been recorded", Hint: "start with --reverse, as in sdm run --reverse"})
		return
	case !rn.Record.begun:
		rn.Fail(q, &protocol.Fault{Kind: protocol.FaultUsage, Message: "the rank is not recorded any more", Hint: "gdb record full records from here on"})
		return
	}
	if q.Name == "reverse-continue" {
		rn.resume(q, nil, "-exec-continue", "--reverse", "--thread-group", rn.group)
		rn.run.back = true
		return
	}
	args := []string{"--reverse"}
	if isStep(q.Name) {
		args = append(args, strconv.Itoa(max(q.Args.Count, 1)))
	}
	rn.resumeOne(q, "-exec-"+backwardsBy[q.Name], args...)
	rn.run.back, rn.run.address = true, strings.HasSuffix(q.Name, "i")
}

// backwardsBy are the commands of GDB/MI, which take --reverse.
var backwardsBy = map[string]string{
	"reverse-next": "next", "reverse-step": "step", "reverse-finish": "finish",
	"reverse-nexti": "next-instruction", "reverse-stepi": "step-instruction",
}

// direction adds the direction of the run to a command that continues it.
func (r *run) direction(args ...string) []string {
	if r.back {
		return append([]string{"--reverse"}, args...)
	}
	return args
}

// goesBack reports whether a line for gdb that resumes the rank makes it run backwards:
// of those only the reverse commands begin with r.
func goesBack(line string) bool {
	line = strings.TrimSpace(line)
	return strings.HasPrefix(line, "r") || strings.Contains(line, "--reverse")
}

// isStep reports whether a command steps in the innermost frame.
func isStep(name string) bool {
	switch strings.TrimPrefix(name, "reverse-") {
	case "next", "step", "nexti", "stepi":
		return true
	}
	return false
}
