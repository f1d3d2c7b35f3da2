// The record of a rank that can run backwards.

package debugger

import (
	"sdm/backend/gdb/request"
	"sdm/backend/gdb/values"
	"sdm/backend/mi"
	"sdm/protocol"
	"sdm/protocol/pattern"
)

// recording is the state of a rank that can run backwards.
type recording struct {
	*core
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
func (rec *recording) beginRecord() {
	if !rec.Wanted || rec.asked {
		return
	}
	rec.asked = true
	rec.ask(request.Internal("record"), func(a request.Answer) {
		if a.Failed() {
			rec.Event(protocol.KindNote, protocol.Note{Text: "this cannot be recorded, and not run backwards: " + a.Results.Str("msg")})
		}
	}, console, "record full")
}

// limits are gdb's messages for what it cannot record, each with sdm's.
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
func (rec *recording) receiveRecording(text string) {
	if !rec.begun || rec.run == nil {
		return
	}
	for _, l := range limits {
		if at := l.gdb.FindStringSubmatchIndex(text); at != nil {
			rec.limit = string(l.gdb.ExpandString(nil, l.text, text, at))
			return
		}
	}
}

// recorded sets the reason of a stop in all-stop mode. gdb reports the ends of the
// record only in its text output, and an interrupt as SIGINT.
func (rec *recording) recorded(stop mi.Tuple) mi.Tuple {
	if !rec.Target.AllStop || rec.run == nil {
		return stop
	}
	reason := ""
	switch name := stop.Str("signal-name"); {
	case stop.Str("reason") == "" && stop.Str("thread-id") != "" && rec.begun:
		reason = noHistory
	case rec.Wanted && stop.Str("reason") == "signal-received" && name == "0" && !rec.run.interrupted:
		reason = notRecorded
	case stop.Str("reason") == "signal-received" && name == "SIGINT" && rec.run.interrupted:
		return values.WithoutReason(stop)
	}
	if reason == "" {
		return stop
	}
	return values.WithReason(stop, reason)
}

// startOver forgets what the last gdb has recorded.
func (rec *recording) startOver() { *rec = recording{core: rec.core, Wanted: rec.Wanted} }
