// What the host reports of a rank.

package debugger

import (
	"sdm/backend"
	"sdm/backend/gdb/inferior"
	"sdm/backend/gdb/request"
	"sdm/backend/gdb/values"
	"sdm/protocol"
	"time"
)

// Ended processes the end of the target as its parent reports it. That may come before gdb has confirmed the
// command that resumed the target: the command counts as executed.
func (m *Machine) Ended(now time.Duration, exit protocol.Exit) {
	m.now = now
	switch {
	case m.State.IsOver():
	case m.Child:
		return // of the parent
	case m.isLeaving() && exit.Signal != killed().Signal: // it ran on after the detach
		m.termination.reportDetached()
		return
	case m.run != nil && !m.run.started:
		m.runs.nowRunning(m.run, struct{}{})
	}
	m.termination.reportEnd(exit)
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
	m.dies()
	m.killAt = now + endWait
	if m.run == nil && !m.isLeaving() { // otherwise gdb may report that it has run to its end
		m.termination.notifyEnd()
	}
}

// Missed processes the result of a check that has found all threads dead, which gdb has not reported. If gdb
// does not report it within endWait either, the machine makes gdb notice, as for a stopped target.
func (m *Machine) Missed(now time.Duration) {
	m.now = now
	r := m.run
	if r == nil || m.State.IsOver() || m.isLeaving() {
		return
	}
	if !r.dead {
		r.dead, r.checkAt = true, now+endWait
		return
	}
	m.TargetEnded(now)
	m.termination.notifyEnd()
}

// NotStarted records that no gdb could be started; f is the reason.
func (m *Machine) NotStarted(now time.Duration, f *protocol.Fault) {
	m.now = now
	m.GDB.Gone = true
	if m.isTakenOver() {
		m.recovery.refused(f)
		return
	}
	m.termination.finishAttach(f)
	m.termination.discard()
}

// Close ends the rank at the end of a session: a held target is killed, any other is detached from.
func (m *Machine) Close(now time.Duration) {
	m.now = now
	switch {
	case m.GDB.Gone:
	case m.State.IsOver():
	case m.Target.Held:
		m.dies()
		m.termination.killTarget()
		m.GDB.Kill = true
	case m.fate != alive && m.killAt != 0: // gdb reports its end, or is killed
	case m.attaching != nil:
		// gdb 13.1 leaves the target stopped when it is told to detach while it attaches.
		m.enter(closing)
		m.killAt = now + attachEnd
	default:
		m.termination.leaveAsFound()
	}
}

// Checked processes the result of a check of a running process, and the processor time of gdb.
func (m *Machine) Checked(now time.Duration, held inferior.Stopped, cpu string) {
	r := m.run
	if r == nil || !m.GDB.Shared() || m.State.IsOver() || m.isLeaving() {
		return
	}
	before := r.lastStopped
	r.lastStopped = stoppedThreads{threads: held.Threads, gdb: cpu, since: now}
	limit := m.recovery.stuckAfter(held)
	if held.Threads == "" || limit == 0 {
		return
	}
	r.checkAt = min(r.checkAt, now+stoppedIdle)
	if before.threads != held.Threads {
		return
	}
	r.lastStopped.since = before.since
	took := now - before.since
	switch {
	case r.stuck == halting && !held.All && took < 2*stoppedIdle:
		r.checkAt = now + forkCheck
	case r.stuck > noticed || took >= limit && before.gdb == cpu || took >= stoppedBusy && held.Forks:
		m.recovery.detachStuck(held.All)
	}
}

// HaveRead processes the result of a memory read: the hashes of its blocks.
func (m *Machine) HaveRead(now time.Duration, o *values.MemoryRead, sums []uint64, err error) {
	m.now = now
	o.Then(sums, err)
	m.settle()
}

// Start attaches to the target and answers request id. stopAt is where a held target stops first: a
// location, "entry", "none", or "", which is main. Another target is at its first instruction unless stopAt is "".
// wait is the time for an answer, 0: no limit. frozen says that the target is stopped by SIGSTOP. gdb need not have
// started yet.
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
	m.atEntry = stopAt != "" && q.Name == "attach"
	if stopAt == "" {
		stopAt = stopAtMain
	}
	m.Open = append(m.Open, q)
	m.first.stopAt = stopAt
	m.attachFor(q, frozen || m.Target.Held)
}

// TakeOver attaches with a new gdb, which the machine already has.
func (m *Machine) TakeOver(now time.Duration) {
	m.now = now
	m.startsOver()
	m.abort.read = false
	m.interruption.startOver()
	m.termination.startOver()
	m.stops.deferred = nil
	m.values.Displays.GDBEnded()
	m.Record.startOver()
	q := request.Internal("attach")
	switch {
	case m.isTakenOver():
		m.GDB.Bound = m.takeovers.bound
		m.killAt = m.takeovers.bound.until
	case len(m.Open) > 0:
		q = m.Open[0]
		fallthrough
	default:
		m.values.Displays.Forget() // see before
	}
	m.attachFor(q, true)
}

// attachFor attaches for a request. frozen says that the target is stopped by SIGSTOP.
func (m *Machine) attachFor(q *request.Request, frozen bool) {
	m.attach.begin(q, frozen, func(first *values.Thread) { m.underControl(q, first) }, m.notAttached)
}

// Avoid records a command that has made a gdb crash. The rank refuses it until it has run.
func (m *Machine) Avoid(command string) {
	if m.deadly == nil {
		m.deadly = map[string]bool{}
	}
	m.deadly[command] = true
}

// died processes the end of gdb. If sdm has not caused it, the rank is lost: the kernel detaches its threads,
// and gdb's breakpoints stay in it.
func (m *Machine) died(w death) {
	m.killAt = 0
	switch {
	case m.State.IsOver():
	case m.fate != alive:
		if !m.Target.Held || m.Child {
			m.termination.reportEnd(killed())
		}
	case m.phase == closing || m.phase == leavingByEnd:
		m.termination.reportDetached()
	case m.isTakenOver() || m.moving != nil && m.State == backend.Attaching:
		m.recovery.abandoned(w.cause)
	default:
		m.termination.lost(w)
	}
}

// notAttached gives up a target to which gdb cannot attach.
func (m *Machine) notAttached(f *protocol.Fault) {
	if m.isTakenOver() {
		m.recovery.refused(f)
		return
	}
	m.termination.attachFailed(f)
}

// Do executes a command of a user for request id. wait is the time for an answer; 0: no limit.
func (m *Machine) Do(now time.Duration, id protocol.RequestID, wait time.Duration, c *request.Command) {
	m.now = now
	q := &request.Request{Command: c, ID: id, Began: now}
	if c.Args.Patience > 0 {
		wait = time.Duration(c.Args.Patience) * time.Millisecond
	}
	if wait > 0 {
		q.Deadline = now + request.EngineTime(wait)
	}
	m.Open = append(m.Open, q)
	m.admit(q)
	m.settle()
}
