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
	killing  bool             // the target has been sent SIGKILL by us
	leaving  bool             // gdb has been told to let the target go
	failed   bool             // the target could not be attached to
	closing  bool             // the session ends; the attach that is under way must end before
	notified bool             // gdb has been made to look at a dead target
	killAt   time.Duration    // when gdb is killed unless it has ended; 0 is never
	detach   *request.Request // detaches when the rank has stopped
	giveUp   time.Duration    // … or at this time
}

// attachEnd is how long gdb may take to complete an attach when the session ends. One that reads
// the symbols of a big program takes longer; it is killed, and the loop releases the target.
const attachEnd = 2 * time.Second

// enough is how long a gdb may take to end, or to notice that its target has.
const enough = time.Second

// exited takes a *stopped that tells of an end.
func (en *termination) exited(stop mi.Tuple) bool {
	switch stop.Str("reason") {
	case "exited-normally":
		en.over(protocol.Exit{})
	case "exited":
		en.over(protocol.Exit{Code: octal(stop.Str("exit-code"))})
	case "exited-signalled":
		en.over(protocol.Exit{Signal: stop.Str("signal-name"), Meaning: stop.Str("signal-meaning")})
	default:
		return false
	}
	return true
}

// groupExited takes =thread-group-exited. Without a code the target was killed,
// and a *stopped says by what, unless it was killed while it stood, or
// detached from.
func (en *termination) groupExited(code string) {
	en.reportMessages()
	switch {
	case code != "":
		en.over(protocol.Exit{Code: octal(code)})
	case en.notified:
		en.over(killed())
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

// over reports the end of the target.
func (en *termination) over(exit protocol.Exit) {
	kind := protocol.KindExited
	if exit.Signal != "" {
		kind = protocol.KindSignalled
	}
	en.attach.noProgramStarted(exit)
	if en.Event(kind, exit) {
		en.finish(en.State)
	}
}

// Ended takes the word of the target's parent, who has reaped it. It may come
// before what gdb says to a command that let the target run to this end: that has
// been done all the same.
func (m *Machine) Ended(now time.Duration, exit protocol.Exit) {
	m.now = now
	switch {
	case m.State.IsOver():
	case m.Child:
		return // of the parent
	case m.termination.leaving && exit.Signal != killed().Signal: // it ran on without us
		m.termination.left()
		return
	case m.run != nil && !m.run.started:
		m.runs.nowRunning(m.run, struct{}{})
	}
	m.termination.over(exit)
}

// finish answers what is open, and lets gdb end.
func (en *termination) finish(state backend.State) {
	en.State = state
	en.run, en.attach.request, en.moves.moving = nil, nil, nil
	en.attach.giveBack()
	en.attach.arrived()
	for len(en.Open) > 0 {
		q := en.Open[0]
		if info, _ := protocol.LookupCommand(q.Name); info.Ends || q.Name == "interrupt" {
			en.Done(q)
			continue
		}
		en.Fail(q, state.Refuse(protocol.NeedAlive))
	}
	en.killAt, en.detach = 0, nil
	en.GDB.Leave(en.now)
}

// finished reports whether the rank needs its gdb no more.
func (en *termination) finished() bool { return en.State.IsOver() || en.failed }

// kill ends the target with its process group where it leads one. It does not need gdb: a hung one is
// killed, too, so that the parent gets the dead target.
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
	en.killAt = en.now + enough
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

// notifyEnd makes gdb look at a target that died while it stood: gdb does not notice
// by itself, and its parent cannot reap it before gdb has. In a shared gdb that is
// done by letting go of it: in non-stop the kill of gdb 13.1 takes the process of
// its last inferior along.
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

// TargetEnded takes the word of the kernel that the target is dead.
func (m *Machine) TargetEnded(now time.Duration) {
	m.now = now
	if m.State.IsOver() {
		return
	}
	if m.GDB.Gone {
		if !m.Target.Held || m.Child {
			m.termination.over(killed())
		}
		return
	}
	m.termination.killing = true
	m.termination.killAt = now + enough
	if m.run == nil && !m.termination.leaving { // else it may have run to its end
		m.termination.notifyEnd()
	}
}

// A process that runs is looked at one second after it was resumed, and then each time
// after twice as long, an hour at most: gdb 13.1 misses the end of one that is killed
// while gdb takes it over a breakpoint (1 of 1,000 on a busy machine), and until gdb has
// reaped its threads the kernel tells nobody else.
const (
	firstLook = time.Second
	lastLook  = time.Hour
)

// checkAgain has the process checked when it is time.
func (en *termination) checkAgain() {
	r := en.run
	if r == nil || !r.started || en.now < r.lookAt {
		return
	}
	r.pause = min(2*r.pause, lastLook)
	r.lookAt = en.now + r.pause
	en.Out.Check = true
}

// Missed takes what checkAgain has found: all threads are dead, and gdb has not
// said so. If it has not a moment later, it is made to look, as where the target stood.
func (m *Machine) Missed(now time.Duration) {
	m.now = now
	r := m.run
	if r == nil || m.State.IsOver() || m.termination.leaving {
		return
	}
	if !r.dead {
		r.dead, r.lookAt = true, now+enough
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

// left reports that the target runs on without us.
func (en *termination) left() {
	if en.Event(protocol.KindDetached, struct{}{}) {
		en.finish(en.State)
	}
}

// died takes the end of gdb. Where it was not our doing, the rank is lost: its
// threads are let go by the kernel, breakpoints and all.
func (en *termination) died(now time.Duration, cause string) {
	en.now = now
	en.killAt = 0
	if en.State.IsOver() {
		return
	}
	if en.killing {
		if !en.Target.Held || en.Child {
			en.over(killed())
		}
		return
	}
	if en.closing {
		en.left()
		return
	}
	if en.recovery.under {
		en.recovery.abandoned(cause)
		return
	}
	f := &protocol.Fault{Kind: protocol.FaultEngine, Message: "gdb died (" + cause + ")", Hint: "start the program again"}
	if en.State == backend.Attaching {
		f.Hint = "does gdb work here? --gdb PATH names another"
		if !en.GDB.Startup.Speaks {
			f = en.GDB.Startup.refusal(cause)
		}
	}
	for len(en.Open) > 0 {
		en.Fail(en.Open[0], f)
	}
	en.attach.request = nil
	en.Event(protocol.KindLost, protocol.Missing{Cause: f.Message})
	en.finish(en.State)
}

// NotStarted takes the news that there is no gdb.
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

// discard ends a machine that never had its target. A held one is dealt with by whoever
// holds it, and ends with ended.
func (en *termination) discard() {
	if !en.Target.Held {
		en.Event(protocol.KindDetached, struct{}{})
		en.finish(en.State)
	}
}

// Close ends the rank as it should at the end of a session.
func (m *Machine) Close(now time.Duration) {
	m.now = now
	switch {
	case m.GDB.Gone:
	case m.State.IsOver():
	case m.Target.Held:
		m.termination.killing = true
		m.termination.killTarget()
		m.GDB.Kill = true
	case m.termination.killing && m.termination.killAt != 0: // gdb tells of its end, or is killed
	case m.attach.request != nil:
		// gdb 13.1 leaves the target stopped when it is told to detach while it attaches.
		m.termination.closing = true
		m.termination.killAt = now + attachEnd
	default:
		m.termination.leaveAsFound()
	}
}
