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
	request *request.Request // nil: the target is under control
	stopAt  string
	frozen  bool   // the target is in a group stop (SIGSTOP), as held ranks are
	put     bool   // the user's handling of SIGCONT must be restored
	seeks   bool   // the target is a wrapper that will start the program
	exec    string // gdb's number of the catchpoint for that
	away    string // where it is to stop first, until it has
	opening bool   // under control, but its stop has not been reported
}

// Values of stopAt that are no location.
const (
	stopAtMain  = "main"
	stopAtEntry = "entry"
	stopAtNone  = "none"
)

// Start attaches for a request of Attach. frozen says that the target is stopped by
// SIGSTOP. gdb need not have started yet.
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
		q.Deadline = now + request.Share(wait)
	}
	if stopAt == "" {
		stopAt = stopAtMain
	}
	m.Open = append(m.Open, q)
	m.beginAttach(q, stopAt, frozen || m.Target.Held)
}

func (m *Machine) beginAttach(q *request.Request, stopAt string, frozen bool) {
	m.attach = attachment{request: q, stopAt: stopAt, frozen: frozen && !m.IsCore()}
	m.tellReading(false)
	m.Unread = unread{Deferred: m.GDB.Lazy}
	if m.IsCore() {
		m.openCore(q)
		return
	}
	m.letStarterEnd()
	if m.attach.frozen {
		m.keepQuiet()
	}
	m.GDB.beginAttach(m)
	m.ask(q, m.attached, "-target-attach", append(m.here(), strconv.Itoa(m.Target.PID))...)
	m.GDB.waitTurn(m)
}

// A target in a group stop must get SIGCONT before it runs. Otherwise the kernel counts
// it as stopped when gdb resumes it: the pending SIGSTOP stops it again, and each
// thread that it creates starts in that stop (signal(7), ptrace(2)). To ignore SIGSTOP
// instead would hide it from the user for good. The SIGCONT arrives with the first
// resume, before any instruction, and must neither stop the rank nor reach the program.
const (
	handleQuietly = "handle SIGCONT nostop noprint nopass"
	handleBack    = "handle SIGCONT stop print pass" // gdb's default
)

// handlePassing is for MPI ranks that were not started by sdm: a starter sends them
// SIGCONT and SIGTERM to end the job, and they should end then, not stop.
const handlePassing = "handle SIGCONT nostop noprint pass"

// letStarterEnd has the rank receive the signals of its starter.
func (m *Machine) letStarterEnd() {
	if m.Target.Held || m.GDB.handle == handlePassing || m.IsCore() || !m.mpi() {
		return
	}
	m.GDB.handle = handlePassing
	if !m.attach.frozen {
		m.Tell("handle", console, handlePassing)
	}
	m.Tell("handle", console, "handle SIGTERM nostop noprint pass")
}

// keepHandling keeps the user's handling of SIGCONT while keepQuiet is in effect.
func (m *Machine) keepHandling(text string) {
	if m.GDB.quiet > 0 && strings.HasPrefix(text, "handle") && strings.Contains(text, "SIGCONT") {
		m.GDB.handle = text
	}
}

// keepQuiet makes gdb ignore SIGCONT while any of its ranks needs that.
func (m *Machine) keepQuiet() {
	m.attach.put = true
	m.GDB.quiet++
	if m.GDB.quiet == 1 {
		m.Tell("handle", console, handleQuietly)
	}
}

// giveBack restores the user's handling, at the first stop of a resumed target.
func (m *Machine) giveBack() {
	if !m.attach.put {
		return
	}
	m.attach.put = false
	m.GDB.quiet--
	if m.GDB.quiet == 0 && !m.GDB.Gone {
		m.Tell("handle", console, m.GDB.handle)
	}
}

func (m *Machine) attached(a request.Answer) {
	if !a.Failed() {
		return // its threads stop one by one; see settleAttach
	}
	m.attachRefused(attachFault(a.Results.Str("msg")))
}

// attachRefused gives up the target.
func (m *Machine) attachRefused(f *protocol.Fault) {
	if m.rescue.under {
		m.attach.request = nil
		m.abandoned(f.Message)
		return
	}
	m.finishAttach(f)
	m.ending.killing = true // the end of gdb is expected now
	m.ending.failed = true
	m.letGo()
	m.GDB.Leave(m.now)
}

// attachFault translates gdb's error and adds a hint.
func attachFault(words string) *protocol.Fault {
	// the process is in the event started
	f := &protocol.Fault{Kind: protocol.FaultLaunch, Message: "cannot attach: " + words}
	switch {
	case strings.Contains(words, "already traced"):
		f.Hint = "another debugger has it: end that one first"
	case strings.Contains(words, "No such process"):
		f.Hint = "it has ended"
	case strings.Contains(words, "not permitted"):
		f.Hint = "it must be yours; where /proc/sys/kernel/yama/ptrace_scope is 1 or more, only its parent may debug it: ask the administrator to set it to 0"
	}
	return f
}

// attachDue returns when a gdb that does not attach is given up; 0: never.
func (m *Machine) attachDue() time.Duration {
	d := m.GDB
	if m.attach.opening {
		return m.openingDue()
	}
	if m.attach.request == nil || !d.Birth.Speaks || m.rescue.under || m.waitsBehind() {
		return 0
	}
	others := slices.ContainsFunc(d.Machines, func(o *Machine) bool { return o != m && o.attach.request != nil && o.waitsBehind() })
	return d.Bound.attach(others)
}

// waitsBehind reports whether gdb is busy with another rank, so that this one is not
// the one that hangs.
func (m *Machine) waitsBehind() bool {
	if turns := m.GDB.turns; len(turns) > 0 {
		return turns[0].of != m
	}
	k := m.GDB.Calls.current()
	return k != nil && k.by != nil && k.by != m
}

// openingDue returns when a gdb is given up that has attached and does not answer.
func (m *Machine) openingDue() time.Duration {
	k := m.GDB.Calls.current()
	if k == nil || m.State != backend.Attaching || m.rescue.under || m.waitsBehind() {
		return 0
	}
	return m.GDB.Bound.answer(k.sent)
}

// attachOverdue gives up a gdb that has started and does not attach. The other ranks
// that share it get new gdbs.
func (m *Machine) attachOverdue() {
	if t := m.attachDue(); t == 0 || m.now < t {
		return
	}
	f := &protocol.Fault{Kind: protocol.FaultEngine, Message: "gdb " + m.notTaken(), Hint: "--connect-wait gives it more time"}
	m.GDB.Kill = true
	m.ending.killing, m.ending.failed = true, true
	if m.attach.opening {
		m.Event(protocol.KindLost, protocol.Missing{Cause: f.Message})
		m.finish(m.State)
		return
	}
	m.finishAttach(f)
	m.letGo()
}

// notTaken describes a gdb that does not get a rank under control.
func (m *Machine) notTaken() string {
	text := fmt.Sprintf("has not taken control of process %d in %s", m.Target.PID, rounded(m.GDB.Bound.since(m.now)))
	if k := m.GDB.Calls.current(); k != nil {
		text += ": it is at " + k.what()
	}
	return text
}

// settleAttach continues when all threads have stopped.
func (m *Machine) settleAttach() {
	q := m.attach.request
	first := m.threads.Find(1)
	if q == nil || first == nil || first.Stop == nil || m.threads.AnyRunning() {
		return
	}
	m.attach.request, m.attach.opening = nil, true
	m.GDB.endAttach(m)
	m.GDB.Bound.from = m.now // gdb makes progress
	if m.GDB.ten {
		m.Event(protocol.KindNote, protocol.Note{Text: tenWarning})
	}
	m.chosen = request.Selection{Thread: 1}
	if m.ending.closing {
		m.leaveAsFound()
		return
	}
	m.askRegisters()
	if m.rescue.under {
		if m.moving != nil {
			m.tellLanguage()
		}
		m.rescued(first)
		return
	}
	if m.seeksProgram() {
		m.seekProgram(q)
		return
	}
	before := m.before()
	if len(before) > 0 {
		m.ReadLibraries()
	}
	if m.Target.Held && (len(before) > 0 || m.attach.stopAt == stopAtEntry) {
		m.tellLanguage()
	}
	m.replay(before, func() {
		m.named(first, func() { m.leave(q, first) })
	})
}

// tellLanguage has gdb take the language from the program if nothing else tells it, as
// in the loader: after an attach it is C.
func (m *Machine) tellLanguage() { m.Tell("set language", "-gdb-set", "language", "auto") }

// leave goes to the first stop. If the target runs there, the request is answered after
// the rank is reported as running: when the last rank answers, all events of the start
// have been reported.
func (m *Machine) leave(q *request.Request, first *values.Thread) {
	if !m.Target.Held {
		m.Done(q)
		m.beginRecord()
		m.stopAttached(first)
		return
	}
	if m.attach.stopAt == stopAtEntry {
		m.Done(q)
		m.stayAtEntry("")
		return
	}
	if m.attach.stopAt == stopAtNone {
		m.watchAbort() // for a program that was linked with a static MPI
		m.leaveEntry(q)
		return
	}
	m.attach.away = m.attach.stopAt
	m.breakAtStart(q, m.attach.stopAt, func(a request.Answer) { m.entryPoint(q, a) })
}

// thaw ends the group stop; see handleQuietly.
func (m *Machine) thaw() {
	if m.attach.frozen {
		m.attach.frozen = false
		m.send(ToTarget, sigCont)
	}
}

// entryPoint continues with the breakpoint of the first stop.
func (m *Machine) entryPoint(q *request.Request, a request.Answer) {
	if m.State.IsOver() {
		return
	}
	if a.Failed() {
		m.Done(q)
		m.arrived()
		m.stayAtEntry(fmt.Sprintf("cannot stop at %s: %s The rank stays at its first instruction.", m.attach.stopAt, a.Results.Str("msg")))
		return
	}
	m.points.claim(0, m.attach.stopAt, a.Results.Path("bkpt").Fields)
	m.leaveEntry(q)
}

func (m *Machine) leaveEntry(q *request.Request) { m.resumeAll(q) }

func (m *Machine) stayAtEntry(why string) {
	if why != "" {
		m.Event(protocol.KindNote, protocol.Note{Text: why})
	}
	first := m.threads.Find(1)
	if first == nil {
		return
	}
	m.withDisplays(first, func(shown []protocol.Display, texts []string, _ spoken) {
		body := m.stopBody(first, "entry")
		body.Displays = shown
		c := values.ColumnsWith(m.Target.Rank, m.stopColumns(first))
		c.Displays(shown, texts)
		m.Event(protocol.KindStopped, body, c.Sorted()...)
	})
}
