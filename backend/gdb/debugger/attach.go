// Attaching to a target.

package debugger

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"sdm/backend"
	"sdm/backend/gdb/request"
	"sdm/backend/gdb/values"
	"sdm/protocol"
)

// attachment is the progress of an attach.
//
//	-target-attach ─→ all threads stopped ─→ answer ─┬─ held: SIGCONT, go to stopAt
//	                                                 └─ else: reported as stopped
type attachment struct {
	*Machine
	coreWarnings   []string         // gdb's warnings about a core file
	request        *request.Request // nil: the target is under control
	stopAt         string
	frozen         bool   // the target is in a group stop (SIGSTOP), as held ranks are
	ignoresSIGCONT bool   // the user's handling of SIGCONT must be restored
	seeks          bool   // the target is a wrapper that will start the program
	exec           string // gdb's number of the catchpoint for the exec of that program
	beside         string // the last wrapper that starts its program as a child
	firstStop      string // where it is to stop first, until it has
	opening        bool   // under control, but its stop has not been reported
}

// Values of stopAt that are no location.
const (
	stopAtMain  = "main"
	stopAtEntry = "entry"
	stopAtNone  = "none"
)

// Start attaches to the target and answers request id. stopAt is where a held target stops first: a
// location, "entry", "none", or "", which is main. wait is the time for an answer, 0: no limit. frozen says
// that the target is stopped by SIGSTOP. gdb need not have started yet.
func (m *Machine) Start(now time.Duration, id protocol.RequestID, stopAt string, wait time.Duration, frozen bool) {
	m.now = now
	q := &request.Request{Command: &request.Command{Name: "attach"}, ID: id, Began: now}
	switch {
	case m.Target.Held:
		q.Name = "launch"
	case m.IsCore():
		q.Name = "core"
	}
	if wait > 0 {
		q.Deadline = now + request.EngineTime(wait)
	}
	if stopAt == "" {
		stopAt = stopAtMain
	}
	m.Open = append(m.Open, q)
	m.attach.beginAttach(q, stopAt, frozen || m.Target.Held)
}

func (att *attachment) beginAttach(q *request.Request, stopAt string, frozen bool) {
	att.attach = attachment{Machine: att.Machine, request: q, stopAt: stopAt, frozen: frozen && !att.IsCore()}
	att.Symbols.tellReading(false)
	att.Symbols = symbols{Machine: att.Machine, Deferred: att.GDB.DefersSymbols}
	if att.IsCore() {
		att.openCore(q)
		return
	}
	att.passStarterSignals()
	att.passValgrindSignals(att.Target.Program)
	if att.frozen {
		att.ignoreSIGCONT()
	}
	att.GDB.beginAttach(att.Machine)
	att.ask(q, att.attached, "-target-attach", append(att.here(), strconv.Itoa(att.Target.PID))...)
	att.GDB.waitForAttach(att.Machine)
}

// A target in a group stop must get SIGCONT before it runs. Otherwise the kernel counts
// it as stopped when gdb resumes it: the pending SIGSTOP stops it again, and each
// thread that it creates starts in that stop (signal(7), ptrace(2)). To ignore SIGSTOP
// instead would hide it from the user for good. The SIGCONT arrives with the first
// resume, before any instruction, and must neither stop the rank nor reach the program.
const (
	handleIgnoring = "handle SIGCONT nostop noprint nopass"
	handleDefault  = "handle SIGCONT stop print pass" // gdb's default
)

// handlePassing is for MPI ranks that were not started by sdm: a starter sends them
// SIGCONT and SIGTERM to end the job, and they should end then, not stop.
const handlePassing = "handle SIGCONT nostop noprint pass"

// passStarterSignals makes gdb pass the signals of its starter to the rank.
func (att *attachment) passStarterSignals() {
	if att.Target.Held || att.GDB.handle == handlePassing || att.IsCore() || !att.abort.mpi() {
		return
	}
	att.GDB.handle = handlePassing
	if !att.frozen {
		att.Tell("handle", console, handlePassing)
	}
	att.Tell("handle", console, "handle SIGTERM nostop noprint pass")
}

// keepHandling keeps the user's handling of SIGCONT while ignoreSIGCONT is in effect.
func (att *attachment) keepHandling(text string) {
	if att.GDB.quietSIGCONT > 0 && strings.HasPrefix(text, "handle") && strings.Contains(text, "SIGCONT") {
		att.GDB.handle = text
	}
}

// ignoreSIGCONT makes gdb ignore SIGCONT while any of its ranks needs that.
func (att *attachment) ignoreSIGCONT() {
	att.ignoresSIGCONT = true
	att.GDB.quietSIGCONT++
	if att.GDB.quietSIGCONT == 1 {
		att.Tell("handle", console, handleIgnoring)
	}
}

// restoreSIGCONT restores the user's handling, at the first stop of a resumed target.
func (att *attachment) restoreSIGCONT() {
	if !att.ignoresSIGCONT {
		return
	}
	att.ignoresSIGCONT = false
	att.GDB.quietSIGCONT--
	if att.GDB.quietSIGCONT == 0 && !att.GDB.Gone {
		att.Tell("handle", console, att.GDB.handle)
	}
}

func (att *attachment) attached(a request.Answer) {
	if !a.Failed() {
		return // its threads stop one by one; see settleAttach
	}
	att.attachRefused(att.attachFault(a.Results.Str("msg")))
}

// attachRefused gives up the target.
func (att *attachment) attachRefused(f *protocol.Fault) {
	if att.recovery.under {
		att.request = nil
		att.recovery.abandoned(f.Message)
		return
	}
	att.termination.finishAttach(f)
	att.termination.killing = true // the end of gdb is expected now
	att.termination.failed = true
	att.termination.discard()
	att.GDB.Leave(att.now)
}

// attachFault translates gdb's error, with what the kernel says of the process.
func (att *attachment) attachFault(words string) *protocol.Fault {
	// the process is in the event started
	f := &protocol.Fault{Kind: protocol.FaultLaunch, Message: "cannot attach: " + strings.ReplaceAll(words, "\n", "; ")}
	if att.Host.WhyRefused != nil {
		f.Hint = att.Host.WhyRefused(att.Target.PID)
	}
	return f
}

// attachDue returns the time at which a gdb that does not attach is given up; 0: never.
func (att *attachment) attachDue() time.Duration {
	d := att.GDB
	if att.opening {
		return att.openingDue()
	}
	if att.request == nil || !d.Startup.Speaks || att.recovery.under || att.waitsForOther() {
		return 0
	}
	others := slices.ContainsFunc(d.Machines, func(o *Machine) bool { return o != att.Machine && o.attach.request != nil && o.attach.waitsForOther() })
	return d.Bound.attachUntil(others)
}

// waitsForOther reports whether gdb is busy with another rank, so that this one is not
// the one that hangs.
func (att *attachment) waitsForOther() bool {
	if turns := att.GDB.attachOrder; len(turns) > 0 {
		return turns[0].of != att.Machine
	}
	k := att.GDB.Calls.current()
	return k != nil && k.by != nil && k.by != att.Machine
}

// openingDue returns the time at which a gdb that has attached and does not answer is given up; 0: never.
func (att *attachment) openingDue() time.Duration {
	k := att.GDB.Calls.current()
	if k == nil || att.State != backend.Attaching || att.recovery.under || att.waitsForOther() {
		return 0
	}
	return att.GDB.Bound.answerUntil(k.sent)
}

// attachOverdue gives up a gdb that has started and does not attach. The other ranks
// that share it get new gdbs.
func (att *attachment) attachOverdue() {
	if t := att.attachDue(); t == 0 || att.now < t {
		return
	}
	f := &protocol.Fault{Kind: protocol.FaultEngine, Message: "gdb " + att.notTaken(), Hint: "--connect-wait gives it more time"}
	att.GDB.Kill = true
	att.termination.killing, att.termination.failed = true, true
	if att.opening {
		att.Event(protocol.KindLost, protocol.Missing{Cause: f.Message})
		att.termination.finish(att.State)
		return
	}
	att.termination.finishAttach(f)
	att.termination.discard()
}

// notTaken describes a gdb that does not get a rank under control.
func (att *attachment) notTaken() string {
	text := fmt.Sprintf("has not taken control of process %d in %s", att.Target.PID, rounded(att.GDB.Bound.since(att.now)))
	if k := att.GDB.Calls.current(); k != nil {
		text += ": it is at " + k.what()
	}
	return text
}

// settleAttach continues when all threads have stopped.
func (att *attachment) settleAttach() {
	q := att.request
	first := att.threads.Find(1)
	if q == nil || first == nil || first.Stop == nil || att.threads.AnyRunning() {
		return
	}
	att.request, att.opening = nil, true
	att.GDB.endAttach(att.Machine)
	att.GDB.sendNext()
	att.GDB.Bound.from = att.now // gdb makes progress
	if att.GDB.isGDB10 {
		att.Event(protocol.KindNote, protocol.Note{Text: gdb10Warning})
	}
	if !att.Target.Held && protocol.WrappingOf(att.Target.Program) == protocol.WrapsInside {
		att.Event(protocol.KindNote, protocol.Note{Text: insideValgrind})
	}
	att.chosen = request.Selection{Thread: 1}
	if att.termination.closing {
		att.termination.leaveAsFound()
		return
	}
	att.moves.askRegisters()
	att.settings.tellFiltersOfArguments()
	if att.recovery.under {
		if att.moves.moving != nil {
			att.tellLanguage()
		}
		att.recovery.recovered(first)
		return
	}
	if att.seeksProgram() {
		att.seekProgram(q)
		return
	}
	before := att.before()
	if len(before) > 0 {
		att.Symbols.ReadLibraries()
	}
	if att.Target.Held && (len(before) > 0 || att.stopAt == stopAtEntry) {
		att.tellLanguage()
	}
	att.replay(before, func() {
		att.Symbols.named(first, func() { att.goToFirstStop(q, first) })
	})
}

// tellLanguage makes gdb determine the language from the program. After an attach it is C while the rank is
// in code without a language, such as the loader.
func (att *attachment) tellLanguage() { att.Tell("set language", "-gdb-set", "language", "auto") }

// goToFirstStop goes to the first stop. If the target runs there, the request is answered after
// the rank is reported as running: when the last rank answers, all events of the start
// have been reported.
func (att *attachment) goToFirstStop(q *request.Request, first *values.Thread) {
	if !att.Target.Held {
		att.Done(q)
		att.runs.beginRecord()
		att.stops.stopAttached(first)
		return
	}
	if att.stopAt == stopAtEntry {
		att.Done(q)
		att.stayAtEntry("")
		return
	}
	if att.stopAt == stopAtNone {
		att.abort.watchAbort() // for a program that was linked with a static MPI
		att.leaveEntry(q)
		return
	}
	att.firstStop = att.stopAt
	att.breakAtStart(q, att.stopAt, func(a request.Answer) { att.entryPoint(q, a) })
}

// continueFrozen ends the group stop; see handleIgnoring.
func (att *attachment) continueFrozen() {
	if att.frozen {
		att.frozen = false
		att.send(ToTarget, sigCont)
	}
}

// entryPoint continues with the breakpoint of the first stop.
func (att *attachment) entryPoint(q *request.Request, a request.Answer) {
	if att.State.IsOver() {
		return
	}
	if a.Failed() {
		att.arrived()
		why := fmt.Sprintf("cannot stop at %s: %s The rank stays at its first instruction.", att.stopAt, a.Results.Str("msg"))
		if isUnknownPlace(a.Results.Str("msg")) && att.stopAt != stopAtMain {
			att.goByMain(q, why)
			return
		}
		att.Done(q)
		att.stayAtEntry(why)
		return
	}
	att.points.claim(0, att.stopAt, a.Results.Path("bkpt").Fields)
	att.leaveEntry(q)
}

func (att *attachment) leaveEntry(q *request.Request) { att.runs.resumeAll(q) }

func (att *attachment) stayAtEntry(why string) {
	if why != "" {
		att.Event(protocol.KindNote, protocol.Note{Text: why})
	}
	first := att.threads.Find(1)
	if first == nil {
		return
	}
	att.stops.withDisplays(first, func(shown []protocol.Display, texts []string, _ actionOutput) {
		body := att.stops.stopBody(first, "entry")
		body.Displays = shown
		c := values.ColumnsWith(att.Target.Rank, att.stops.stopColumns(first))
		c.Displays(shown, texts)
		att.Event(protocol.KindStopped, body, c.Sorted()...)
	})
}
