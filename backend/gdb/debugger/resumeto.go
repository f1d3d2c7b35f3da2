// Further commands that resume ranks: to a location, from a location, by instructions,
// with a signal.

package debugger

import (
	"strconv"
	"strings"

	"sdm/backend/gdb/breakpoint"
	"sdm/backend/gdb/gdbtext"
	"sdm/backend/gdb/request"
	"sdm/backend/gdb/values"
	"sdm/protocol"
)

// stepInstruction executes stepi and nexti.
func (rn *runs) stepInstruction(q *request.Request) {
	command := "-exec-step-instruction"
	if q.Name == "nexti" {
		command = "-exec-next-instruction"
	}
	rn.resumeOne(q, command, strconv.Itoa(max(q.Args.Count, 1)))
	rn.run.address = true
}

// runUntil executes until. It does not use -exec-until: gdb 13 then reads no command
// until the target has stopped. If the target waits for other ranks of the same gdb (a
// collective), it never does.
func (rn *runs) runUntil(q *request.Request) { rn.resumeTo(q, "until") }

// advance has no GDB/MI command: -exec-until with a location stays in the selected
// frame.
func (rn *runs) advance(q *request.Request) { rn.resumeTo(q, "advance") }

// resumeTo runs the selected thread to the location of a request. gdb would set
// breakpoints for it in the programs of all ranks that share it. For a rank that has
// just ended that fails ("Command aborted."), and after such a search gdb
// has the innermost frame selected.
func (rn *runs) resumeTo(q *request.Request, word string) {
	rn.breaks.InSelectedFile(q, q.Args.Location, func(location string) {
		if location == "" {
			rn.resumeByLine(q, word+" ")
			return
		}
		rn.onlyPlace(q, location, func(location string) { rn.resumeByLine(q, word+" "+location+" ") }, func() {
			rn.needsOwnGDB(q, word+" with several places")
		})
	})
}

// jump resumes the selected thread at another location.
func (rn *runs) jump(q *request.Request) {
	rn.breaks.InSelectedFile(q, q.Args.Location, func(location string) {
		rn.onlyPlace(q, location, func(location string) { rn.resumeOne(q, "-exec-jump", location) }, func() {
			rn.Fail(q, &protocol.Fault{Kind: protocol.FaultGDB, Message: "Unreasonable jump request"})
		})
	})
}

// onlyPlace restricts a location to this rank, for commands that look into the programs
// of all ranks that share a gdb: it returns an address, or calls several if there is
// more than one.
func (rn *runs) onlyPlace(q *request.Request, location string, then func(location string), several func()) {
	if !rn.GDB.Shared() || strings.HasPrefix(location, "*") {
		then(location)
		return
	}
	rn.breaks.Places(q, location, func(at []string) {
		if len(at) == 1 {
			then("*" + at[0])
			return
		}
		several()
	})
}

// continueWithSignal executes signal, for the selected thread. "0" drops the signal with
// which the rank has stopped.
func (rn *runs) continueWithSignal(q *request.Request) {
	if !gdbtext.IsSignal(q.Args.Signal) {
		rn.Fail(q, notASignal(q.Args.Signal))
		return
	}
	rn.resumeByLine(q, "signal "+q.Args.Signal)
}

// resumeByLine resumes the selected thread by a line of gdb's command line. With & gdb
// continues to read commands (GDB manual, Background Execution).
func (rn *runs) resumeByLine(q *request.Request, line string) {
	at := rn.At(q)
	rn.resume(q, rn.othersUnlocked(), "-interpreter-exec", append(at, "console", line+"&")...)
	rn.run.thread = rn.chosen.Thread
}

func notASignal(text string) *protocol.Fault {
	return &protocol.Fault{
		Kind: protocol.FaultUsage, Message: strconv.Quote(text) + " is not a signal",
		Hint: "SIGUSR1, or a number; info signals lists them",
	}
}

// continueRun executes continue. With a count N it ignores the next N-1 hits of the breakpoint
// at which the rank has stopped, as gdb does; elsewhere the count has no effect. Both
// are reported in gdb's words.
func (rn *runs) continueRun(q *request.Request) {
	if t := rn.threads.Find(rn.chosen.Thread); q.Args.Count > 0 && t != nil {
		rn.ignoreNext(q, t)
	}
	rn.resumeAll(q)
}

func (rn *runs) ignoreNext(q *request.Request, t *values.Thread) {
	p, hits := rn.points.At(t.Stop), q.Args.Count-1
	// =breakpoint-deleted may be outstanding
	if p == nil || p.Gone || p.Number <= 0 || t.Stop.Str("disp") == "del" {
		rn.Event(protocol.KindNote, protocol.Note{Text: "Not stopped at any breakpoint; argument ignored."})
		return
	}
	rn.Tell(q.What(), "-break-after", p.GDB, strconv.Itoa(hits))
	rn.Event(protocol.KindNote, protocol.Note{Text: breakpoint.Ignoring(p.Number, hits)})
}
