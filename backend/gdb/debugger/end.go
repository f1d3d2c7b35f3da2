// The end of a rank, and of its gdb.

package debugger

import (
	"strconv"
	"time"

	"sdm/backend"
	"sdm/backend/gdb/request"
	"sdm/backend/mi"
	"sdm/protocol"
)

// termination is how far the end of a rank has come.
type termination struct {
	*Machine
	killing  bool             // sdm has sent SIGKILL to the target
	leaving  bool             // gdb has been told to detach from the target
	failed   bool             // the target could not be attached to
	closing  bool             // the session ends as soon as the attach that is under way has ended
	notified bool             // gdb has been made to notice that the target is dead
	killAt   time.Duration    // when gdb is killed unless it has ended; 0: never
	detach   *request.Request // a detach that waits until the rank has stopped, or nil
	giveUp   time.Duration    // the time at which that detach waits no longer
	exitCode string           // the value of $_exitcode; "": the target has not ended, or it is not known how
}

// attachEnd is how long gdb may take to complete an attach when the session ends. One that reads
// the symbols of a big program takes longer; it is killed, and the loop releases the target.
const attachEnd = 2 * time.Second

// endWait is how long a gdb may take to end, or to notice that its target has.
const endWait = time.Second

// exited processes a *stopped that reports the end of the target. It returns false for any other.
func (en *termination) exited(stop mi.Tuple) bool {
	switch stop.Str("reason") {
	case "exited-normally":
		en.reportEnd(protocol.Exit{})
	case "exited":
		en.reportEnd(protocol.Exit{Code: octal(stop.Str("exit-code"))})
	case "exited-signalled":
		en.reportEnd(protocol.Exit{Signal: stop.Str("signal-name"), Meaning: stop.Str("signal-meaning")})
	default:
		return false
	}
	return true
}

// groupExited processes =thread-group-exited. Without a code the target was killed by a signal, which a
// *stopped reports unless the target was stopped, or gdb has detached from it.
func (en *termination) groupExited(code string) {
	en.reportMessages()
	switch {
	case code != "":
		en.reportEnd(protocol.Exit{Code: octal(code)})
	case en.notified:
		en.reportEnd(killed())
	}
}

// octal reads gdb's exit codes: "03" is 3, "0377" is 255.
func octal(code string) int {
	n, err := strconv.ParseInt(code, 8, 32)
	if err != nil {
		return 0
	}
	return int(n)
}

func killed() protocol.Exit { return protocol.Exit{Signal: "SIGKILL", Meaning: "Killed"} }

// reportEnd reports the end of the target.
func (en *termination) reportEnd(exit protocol.Exit) {
	kind := protocol.KindExited
	if exit.Signal != "" {
		kind = protocol.KindSignalled
	}
	en.attach.noProgramStarted(exit)
	if en.Event(kind, exit) {
		switch {
		case exit.Unknown:
		case exit.Signal != "":
			en.exitCode = "void"
		default:
			en.exitCode = strconv.Itoa(exit.Code)
		}
		en.finish(en.State)
	}
}

// Ended processes the end of the target as its parent reports it. That may come before gdb has confirmed the
// command that resumed the target: the command counts as executed.
func (m *Machine) Ended(now time.Duration, exit protocol.Exit) {
	m.now = now
	switch {
	case m.State.IsOver():
	case m.Child:
		return // of the parent
	case m.termination.leaving && exit.Signal != killed().Signal: // it ran on after the detach
		m.termination.reportDetached()
		return
	case m.run != nil && !m.run.started:
		m.runs.nowRunning(m.run, struct{}{})
	}
	m.termination.reportEnd(exit)
}

// finish answers the open requests, and lets gdb end if it has no other rank.
func (en *termination) finish(state backend.State) {
	en.State = state
	en.run, en.attach.request, en.moves.moving = nil, nil, nil
	en.attach.restoreSIGCONT()
	en.attach.arrived()
	for len(en.Open) > 0 {
		q := en.Open[0]
		if info, _ := protocol.LookupCommand(q.Name); info.Ends || q.Name == "interrupt" {
			en.Done(q)
			continue
		}
		if en.GDB.dying && !en.recovery.under { // it has run to its end, before another gdb could take it over
			en.Fail(q, &protocol.Fault{Kind: protocol.FaultEngine, Message: en.GDB.deathOf(End{Cause: "a fatal signal"}).String(), Hint: "start the program again"})
			continue
		}
		en.Fail(q, state.Refuse(protocol.NeedAlive))
	}
	en.killAt, en.detach = 0, nil
	en.GDB.Leave(en.now)
}

// finished reports whether the rank does not need its gdb any more.
func (en *termination) finished() bool { return en.State.IsOver() || en.failed }

// kill kills the target, and its process group if it leads one. It does not need gdb: a gdb that does not
// answer is killed, too, so that the parent can reap the target.
func (en *termination) kill(q *request.Request) {
	if en.attach.request != nil {
		en.finishAttach(wasKilled())
	}
	en.killing = true
	en.killTarget()
	if en.GDB.late {
		en.GDB.Kill = true
		return
	}
	en.killAt = en.now + endWait
	if en.StateNow() == backend.Stopped {
		en.notifyEnd()
	}
}

func wasKilled() *protocol.Fault {
	return &protocol.Fault{Kind: protocol.FaultLaunch, Message: "the rank was killed"}
}

// finishAttach fails an attach that is under way.
func (en *termination) finishAttach(f *protocol.Fault) {
	if q := en.attach.request; q != nil {
		en.attach.request = nil
		en.GDB.endAttach(en.Machine)
		en.Fail(q, f)
	}
}

func (en *termination) killTarget() {
	to := ToTarget
	if en.Target.Held {
		to = ToGroup
	}
	en.send(to, sigKill)
}

// notifyEnd makes gdb notice that a stopped target has died: it does not by itself, and the parent cannot
// reap the target before gdb has. A shared gdb is told to detach: in non-stop mode the kill command of gdb
// 13.1 also kills the process of its last inferior.
func (en *termination) notifyEnd() {
	if en.notified {
		return
	}
	en.notified = true
	if en.GDB.Shared() {
		en.selectNeighbour()
		en.Tell("kill", "-target-detach", en.group)
		return
	}
	en.Tell("kill", "-interpreter-exec", append(en.here(), "console", "kill")...)
}

// TargetEnded records that the target is dead, as the kernel reports through its pidfd.
func (m *Machine) TargetEnded(now time.Duration) {
	m.now = now
	if m.State.IsOver() {
		return
	}
	if m.GDB.Gone {
		if !m.Target.Held || m.Child {
			m.termination.reportEnd(killed())
		}
		return
	}
	m.termination.killing = true
	m.termination.killAt = now + endWait
	if m.run == nil && !m.termination.leaving { // otherwise gdb may report that it has run to its end
		m.termination.notifyEnd()
	}
}

// A process that runs is checked one second after it was resumed, and then each time after
// twice as long, at most an hour: gdb 13.1 misses the end of one that is killed while gdb steps
// it over a breakpoint (1 of 1,000 on a busy machine), and until gdb has reaped its threads the
// kernel does not report its end to any other process.
const (
	firstCheck    = time.Second
	maxCheckDelay = time.Hour
)

// checkAgain asks the host to check the process when a check is due.
func (en *termination) checkAgain() {
	r := en.run
	if r == nil || !r.started || en.now < r.checkAt {
		return
	}
	r.checkDelay = min(2*r.checkDelay, maxCheckDelay)
	r.checkAt = en.now + r.checkDelay
	en.Out.Check = true
}

// Missed processes the result of a check that has found all threads dead, which gdb has not reported. If gdb
// does not report it within endWait either, the machine makes gdb notice, as for a stopped target.
func (m *Machine) Missed(now time.Duration) {
	m.now = now
	r := m.run
	if r == nil || m.State.IsOver() || m.termination.leaving {
		return
	}
	if !r.dead {
		r.dead, r.checkAt = true, now+endWait
		return
	}
	m.TargetEnded(now)
	m.termination.notifyEnd()
}

// escalate kills a gdb that should have ended.
func (en *termination) escalate() {
	if en.killAt != 0 && en.now >= en.killAt {
		en.killAt = 0
		en.GDB.Kill = true
		if en.recovery.under {
			en.GDB.Replaced = "it " + en.attach.notTaken()
		}
	}
}

// reportDetached reports that the target runs on without a debugger.
func (en *termination) reportDetached() {
	if en.Event(protocol.KindDetached, struct{}{}) {
		en.Out.Detached = true
		en.finish(en.State)
	}
}

// died processes the end of gdb. If sdm has not caused it, the rank is lost: the kernel detaches its threads,
// and gdb's breakpoints stay in it.
func (en *termination) died(now time.Duration, w death) {
	en.now = now
	en.killAt = 0
	if en.State.IsOver() {
		return
	}
	if en.killing {
		if !en.Target.Held || en.Child {
			en.reportEnd(killed())
		}
		return
	}
	if en.closing {
		en.reportDetached()
		return
	}
	if en.recovery.under {
		en.recovery.abandoned(w.cause)
		return
	}
	f := &protocol.Fault{Kind: protocol.FaultEngine, Message: w.String(), Hint: "start the program again"}
	if en.State == backend.Attaching {
		f.Hint = "does gdb work here? --gdb PATH names another"
		if !en.GDB.Startup.Speaks {
			f = en.GDB.Startup.refusal(w.cause)
		}
	}
	for len(en.Open) > 0 {
		en.Fail(en.Open[0], f)
	}
	en.attach.request = nil
	en.Event(protocol.KindLost, protocol.Missing{Cause: f.Message})
	en.finish(en.State)
}

// NotStarted records that no gdb could be started; f is the reason.
func (m *Machine) NotStarted(now time.Duration, f *protocol.Fault) {
	m.now = now
	m.GDB.Gone = true
	if m.recovery.under {
		m.attach.request = nil
		m.recovery.abandoned(f.Message)
		return
	}
	m.termination.finishAttach(f)
	m.termination.discard()
}

// discard ends a machine that never had its target under control. A held target stays with the process
// that holds it, which reports its end through Ended.
func (en *termination) discard() {
	if !en.Target.Held {
		en.Event(protocol.KindDetached, struct{}{})
		en.finish(en.State)
	}
}

// Close ends the rank at the end of a session: a held target is killed, any other is detached from.
func (m *Machine) Close(now time.Duration) {
	m.now = now
	switch {
	case m.GDB.Gone:
	case m.State.IsOver():
	case m.Target.Held:
		m.termination.killing = true
		m.termination.killTarget()
		m.GDB.Kill = true
	case m.termination.killing && m.termination.killAt != 0: // gdb reports its end, or is killed
	case m.attach.request != nil:
		// gdb 13.1 leaves the target stopped when it is told to detach while it attaches.
		m.termination.closing = true
		m.termination.killAt = now + attachEnd
	default:
		m.termination.leaveAsFound()
	}
}
