// Attaching to a target.

package gdb

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"sdm/backend"
	"sdm/protocol"
)

// attachment is the progress of an attach.
//
//	-target-attach ─→ all threads stopped ─→ answer ─┬─ held: SIGCONT, go to stopAt
//	                                                 └─ else: reported as stopped
type attachment struct {
	request *request // nil: the target is under control
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

// start attaches for a request of Attach. frozen says that the target is stopped by
// SIGSTOP. gdb need not have started yet.
func (m *machine) start(now time.Duration, id protocol.RequestID, stopAt string, wait time.Duration, frozen bool) {
	m.now = now
	q := &request{command: &command{name: "attach"}, id: id, began: now}
	switch {
	case m.target.Held:
		q.name = "launch"
	case m.isCore():
		q.name = "core"
	}
	if wait > 0 {
		q.deadline = now + share(wait)
	}
	if stopAt == "" {
		stopAt = stopAtMain
	}
	m.open = append(m.open, q)
	m.beginAttach(q, stopAt, frozen || m.target.Held)
}

func (m *machine) beginAttach(q *request, stopAt string, frozen bool) {
	m.attach = attachment{request: q, stopAt: stopAt, frozen: frozen && !m.isCore()}
	m.tellReading(false)
	m.unread = unread{some: m.gdb.lazy}
	if m.isCore() {
		m.openCore(q)
		return
	}
	m.letStarterEnd()
	if m.attach.frozen {
		m.keepQuiet()
	}
	m.gdb.beginAttach(m)
	m.ask(q, m.attached, "-target-attach", append(m.here(), strconv.Itoa(m.target.PID))...)
	m.gdb.waitTurn(m)
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
func (m *machine) letStarterEnd() {
	if m.target.Held || m.gdb.handle == handlePassing || m.isCore() || !m.mpi() {
		return
	}
	m.gdb.handle = handlePassing
	if !m.attach.frozen {
		m.tell("handle", console, handlePassing)
	}
	m.tell("handle", console, "handle SIGTERM nostop noprint pass")
}

// keepHandling keeps the user's handling of SIGCONT while keepQuiet is in effect.
func (m *machine) keepHandling(text string) {
	if m.gdb.quiet > 0 && strings.HasPrefix(text, "handle") && strings.Contains(text, "SIGCONT") {
		m.gdb.handle = text
	}
}

// keepQuiet makes gdb ignore SIGCONT while any of its ranks needs that.
func (m *machine) keepQuiet() {
	m.attach.put = true
	m.gdb.quiet++
	if m.gdb.quiet == 1 {
		m.tell("handle", console, handleQuietly)
	}
}

// giveBack restores the user's handling, at the first stop of a resumed target.
func (m *machine) giveBack() {
	if !m.attach.put {
		return
	}
	m.attach.put = false
	m.gdb.quiet--
	if m.gdb.quiet == 0 && !m.gdb.gone {
		m.tell("handle", console, m.gdb.handle)
	}
}

func (m *machine) attached(a answer) {
	if !a.failed() {
		return // its threads stop one by one; see settleAttach
	}
	m.attachRefused(attachFault(a.Results.Str("msg")))
}

// attachRefused gives up the target.
func (m *machine) attachRefused(f *protocol.Fault) {
	if m.rescue.under {
		m.attach.request = nil
		m.abandoned(f.Message)
		return
	}
	m.finishAttach(f)
	m.ending.killing = true // the end of gdb is expected now
	m.ending.failed = true
	m.letGo()
	m.gdb.leave(m.now)
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
func (m *machine) attachDue() time.Duration {
	d := m.gdb
	if m.attach.opening {
		return m.openingDue()
	}
	if m.attach.request == nil || !d.birth.speaks || m.rescue.under || m.waitsBehind() {
		return 0
	}
	others := slices.ContainsFunc(d.machines, func(o *machine) bool { return o != m && o.attach.request != nil && o.waitsBehind() })
	return d.bound.attach(others)
}

// waitsBehind reports whether gdb is busy with another rank, so that this one is not
// the one that hangs.
func (m *machine) waitsBehind() bool {
	if turns := m.gdb.turns; len(turns) > 0 {
		return turns[0].of != m
	}
	k := m.gdb.calls.current()
	return k != nil && k.by != nil && k.by != m
}

// openingDue returns when a gdb is given up that has attached and does not answer.
func (m *machine) openingDue() time.Duration {
	k := m.gdb.calls.current()
	if k == nil || m.state != backend.Attaching || m.rescue.under || m.waitsBehind() {
		return 0
	}
	return m.gdb.bound.answer(k.sent)
}

// attachOverdue gives up a gdb that has started and does not attach. The other ranks
// that share it get new gdbs.
func (m *machine) attachOverdue() {
	if t := m.attachDue(); t == 0 || m.now < t {
		return
	}
	f := &protocol.Fault{Kind: protocol.FaultEngine, Message: "gdb " + m.notTaken(), Hint: "--connect-wait gives it more time"}
	m.gdb.kill = true
	m.ending.killing, m.ending.failed = true, true
	if m.attach.opening {
		m.event(protocol.KindLost, protocol.Missing{Cause: f.Message})
		m.finish(m.state)
		return
	}
	m.finishAttach(f)
	m.letGo()
}

// notTaken describes a gdb that does not get a rank under control.
func (m *machine) notTaken() string {
	text := fmt.Sprintf("has not taken control of process %d in %s", m.target.PID, rounded(m.gdb.bound.since(m.now)))
	if k := m.gdb.calls.current(); k != nil {
		text += ": it is at " + k.what()
	}
	return text
}

// settleAttach continues when all threads have stopped.
func (m *machine) settleAttach() {
	q := m.attach.request
	first := m.threads.find(1)
	if q == nil || first == nil || first.stop == nil || m.threads.anyRunning() {
		return
	}
	m.attach.request, m.attach.opening = nil, true
	m.gdb.endAttach(m)
	m.gdb.bound.from = m.now // gdb makes progress
	if m.gdb.ten {
		m.event(protocol.KindNote, protocol.Note{Text: tenWarning})
	}
	m.chosen = selection{thread: 1}
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
		m.readLibraries()
	}
	if m.target.Held && (len(before) > 0 || m.attach.stopAt == stopAtEntry) {
		m.tellLanguage()
	}
	m.replay(before, func() {
		m.named(first, func() { m.leave(q, first) })
	})
}

// tellLanguage has gdb take the language from the program if nothing else tells it, as
// in the loader: after an attach it is C.
func (m *machine) tellLanguage() { m.tell("set language", "-gdb-set", "language", "auto") }

// leave goes to the first stop. If the target runs there, the request is answered after
// the rank is reported as running: when the last rank answers, all events of the start
// have been reported.
func (m *machine) leave(q *request, first *thread) {
	if !m.target.Held {
		m.done(q)
		m.beginRecord()
		m.stopAttached(first)
		return
	}
	if m.attach.stopAt == stopAtEntry {
		m.done(q)
		m.stayAtEntry("")
		return
	}
	if m.attach.stopAt == stopAtNone {
		m.watchAbort() // for a program that was linked with a static MPI
		m.leaveEntry(q)
		return
	}
	m.attach.away = m.attach.stopAt
	m.breakAtStart(q, m.attach.stopAt, func(a answer) { m.entryPoint(q, a) })
}

// thaw ends the group stop; see handleQuietly.
func (m *machine) thaw() {
	if m.attach.frozen {
		m.attach.frozen = false
		m.out.signals = append(m.out.signals, signal{toTarget, syscall.SIGCONT})
	}
}

// entryPoint continues with the breakpoint of the first stop.
func (m *machine) entryPoint(q *request, a answer) {
	if m.state.IsOver() {
		return
	}
	if a.failed() {
		m.done(q)
		m.arrived()
		m.stayAtEntry(fmt.Sprintf("cannot stop at %s: %s The rank stays at its first instruction.", m.attach.stopAt, a.Results.Str("msg")))
		return
	}
	m.points.claim(0, m.attach.stopAt, a.Results.Path("bkpt").Fields)
	m.leaveEntry(q)
}

func (m *machine) leaveEntry(q *request) { m.resumeAll(q) }

func (m *machine) stayAtEntry(why string) {
	if why != "" {
		m.event(protocol.KindNote, protocol.Note{Text: why})
	}
	first := m.threads.find(1)
	if first == nil {
		return
	}
	m.withDisplays(first, func(shown []protocol.Display, values []string, _ spoken) {
		body := m.stopBody(first, "entry")
		body.Displays = shown
		c := &columns{rank: m.target.Rank, list: m.stopColumns(first)}
		c.displays(shown, values)
		m.event(protocol.KindStopped, body, c.sorted()...)
	})
}
