// Resuming a rank as a whole.

package debugger

import (
	"slices"
	"strings"
	"time"

	"sdm/backend"
	"sdm/backend/gdb/request"
	"sdm/backend/gdb/values"
	"sdm/backend/mi"
	"sdm/protocol"
)

// run is one resume of the rank, from the command to the stop of its last thread. In
// non-stop mode gdb resumes and stops threads one by one; to the user it is one resume
// and one stop of the process:
//
//	command ─→ ^running ─→ others continued ─→ first *stopped ─→ interrupt ─→ all stopped ─→ stop
//
// A step of one thread alone would never end at pthread_join or MPI_Finalize. A
// *stopped may come before the ^running of another thread, so nothing is decided while
// results are outstanding.
type run struct {
	request *request.Request // answered at ^running
	started bool             // gdb has resumed a thread: the rank is running
	owed    int              // results of resuming commands that are outstanding
	thread  int              // the thread that steps; 0: all just run
	stopped int              // the thread that stopped first; 0: none yet
	token   int64            // of the first command; it may fail after ^running
	address bool             // the address of the stop is to be shown
	back    bool             // it runs backwards

	onward      int // number of steps that follow the return of a function; see stepOut
	line        int // line of the call of that function
	grumble     grumble
	silent      bool // it is not reported: to the user the rank runs already
	interrupted bool // the other threads have been told to stop
	stale       bool // since then a thread has been created
	next        time.Duration

	lookAt, pause time.Duration // next check of the process, and delay since the last
	dead          bool          // the last check found the process dead
	held          heldStill     // stopped threads that it found
	forgotten     forgotten     // see letForgottenGo
}

// again is how long all threads may take to stop before gdb is asked for their states,
// in case one was created meanwhile.
const again = 500 * time.Millisecond

// resumeAll resumes all threads. q may have been answered already.
func (m *Machine) resumeAll(q *request.Request) {
	m.resume(q, nil, "-exec-continue", "--thread-group", m.group)
}

// resumeOne executes a command for the selected thread and resumes the others.
func (m *Machine) resumeOne(q *request.Request, command string, args ...string) {
	at := m.At(q)
	step := isStep(q.Name)
	if step {
		at = at[:2] // a step applies to the innermost frame
	}
	others := m.othersUnlocked()
	if m.locking == "step" && step {
		others = nil
	}
	m.resume(q, others, command, append(at, args...)...)
	m.run.thread = m.chosen.Thread
}

// othersUnlocked returns a function that resumes the other threads, or nil if the user
// has locked them.
func (m *Machine) othersUnlocked() func() {
	if m.locking == "on" || m.Target.AllStop {
		return nil
	}
	return m.others
}

func (m *Machine) resume(q *request.Request, others func(), command string, args ...string) {
	m.thaw()
	m.leaveStart()
	m.Record.limit = ""
	m.within = within{}
	m.countHits()
	r := &run{request: q, owed: 1}
	m.run = r
	k := m.ask(q, func(a request.Answer) { m.resumed(r, others, a) }, command, args...)
	r.token = k.token
}

// resumed processes the result of the first resuming command.
func (m *Machine) resumed(r *run, others func(), a request.Answer) {
	r.owed--
	if m.State.IsOver() {
		return // it has ended meanwhile
	}
	if a.Name != "running" {
		if m.run == r {
			m.run = nil
		}
		if r.silent { // to the user it runs
			m.State = backend.Running
		}
		if r.silent && len(m.threads) > 0 { // it should have run on, and does not
			t := m.speaker(r)
			m.Event(protocol.KindNote, protocol.Note{Text: "the rank cannot run on: " + a.Results.Str("msg")})
			m.Event(protocol.KindStopped, m.stopBody(t, ""), m.stopColumns(t)...)
		}
		if a.Failed() {
			m.Refused(r.request, a)
		} else {
			m.Done(r.request)
		}
		return
	}
	m.nowRunning(r, struct{}{})
	if others != nil {
		others()
	}
}

// nowRunning reports a resume and answers its command.
func (m *Machine) nowRunning(r *run, body any) {
	r.started = true
	m.values.Printer.HasRun()
	r.pause = firstLook
	r.lookAt = m.now + r.pause
	for _, t := range m.threads {
		t.Stop = nil // it has been reported
	}
	if r.silent {
		m.State = backend.Running
	} else {
		m.Event(protocol.KindRunning, struct{}{})
	}
	m.Reply(r.request, body)
}

// others resumes the threads that the command has left stopped. It names them one by
// one: a command for the whole group could arrive after the end of the step and resume
// its thread.
func (m *Machine) others() {
	r := m.run
	for _, id := range m.threads.StoppedBut(m.chosen.Thread) {
		m.continueThread(r, id)
	}
}

// continueThread resumes one thread. Its *running comes one line after ^running; until
// then it must not be taken for stopped.
func (m *Machine) continueThread(r *run, id int) {
	r.owed++
	m.ask(r.request, func(a request.Answer) {
		r.owed--
		if t := m.threads.Find(id); t != nil && a.Name == "running" {
			t.Running = true
		}
	}, "-exec-continue", r.direction("--thread", m.GDBThread(id))...)
}

// stopped processes a *stopped.
func (m *Machine) stopped(stop mi.Tuple) {
	if m.exited(stop) {
		return
	}
	stop = m.recorded(stop)
	t := m.setStopped(stop)
	if t == nil {
		m.callOver(stop)
		return
	}
	if m.State == backend.Attaching && m.attach.request != nil {
		return
	}
	r := m.run
	if r == nil {
		return // of a call in an expression (stoppedInCall), or late
	}
	if (r.request.Name == "finish" || r.onward > 0) && t.ID == r.thread {
		t.Stop = finished(t.Stop)
	}
	stop = t.Stop
	if !values.OwnReason(stop) && !r.interrupted && t.ID != r.thread {
		// It was told to stop twice, and the second time took effect in this run. The
		// user has not asked for that.
		m.continueThread(r, t.ID)
		return
	}
	if m.atAbort(stop) && m.abort.told {
		m.continueThread(r, t.ID)
		return
	}
	if p := m.points.at(stop); p.goesOn() || m.points.isPassed(p) {
		m.passBy(r, t, p)
		return
	}
	m.countDown(stop)
	if m.ownSignal(t) && t.ID != r.thread { // gdb has forgotten where a step was to end
		if !r.interrupted {
			m.continueThread(r, t.ID)
			return
		}
		t.Stop = withoutReason(t.Stop)
	}
	r.stoppedBy(t)
}

// finished sets the reason of the end of a function if gdb gives none: for functions
// without debug information, and for calls (callOver).
func finished(stop mi.Tuple) mi.Tuple {
	if _, told := stop.Get("reason"); told {
		return stop
	}
	return withReason(stop, "function-finished")
}

// stoppedInCall checks whether gdb's error means that a function that an expression
// called has stopped. Then it reports where the rank is now.
func (m *Machine) stoppedInCall(a request.Answer) {
	t := m.threads.Find(m.chosen.Thread)
	if m.State != backend.Stopped || t == nil || !strings.Contains(a.Results.Str("msg"), "while in a function called from GDB") {
		return
	}
	m.inCall = true
	m.Event(protocol.KindRunning, struct{}{})
	m.chosen = request.Selection{Thread: t.ID}
	m.Event(protocol.KindStopped, m.stopBody(t, ""), m.stopColumns(t)...)
}

// callOver processes a *stopped without thread and reason: with it gdb reports the end
// of a call that stoppedInCall has seen, after that was resumed. It asks gdb for the
// thread.
func (m *Machine) callOver(stop mi.Tuple) {
	if !m.inCall || m.run == nil || stop.Str("reason") != "" {
		return
	}
	m.ask(request.Internal("continue"), func(a request.Answer) {
		if stop, stands := m.standing(a.Results); stands {
			m.stopped(finished(stop))
		}
	}, "-list-thread-groups", m.group)
}

// settle checks whether the rank as a whole has changed its state.
func (m *Machine) settle() {
	if m.State.IsOver() {
		return
	}
	m.resumeNext()
	m.settleAttach()
	m.settleMove()
	r := m.run
	if r == nil || !r.started || r.owed > 0 || r.stopped == 0 || len(m.threads) == 0 || r.forgotten >= detached {
		return // without threads it has ended, and gdb will report that next; while gdb detaches they go one by one
	}
	if !m.threads.AnyRunning() {
		m.standsStill(r)
		return
	}
	if !r.interrupted || r.stale {
		m.stopRest(r)
	}
}

// stopRest tells all running threads to stop.
func (m *Machine) stopRest(r *run) {
	r.interrupted, r.stale = true, false
	r.next = m.now + again
	m.Tell("interrupt", "-exec-interrupt", "--thread-group", m.group)
	m.turnBack()
}

// threadCame has a thread that is created during stopRest stopped, too.
func (m *Machine) threadCame() {
	if m.run != nil && m.run.interrupted {
		m.run.stale = true
	}
}

// recheck asks gdb for the states of threads that take long to stop.
func (m *Machine) recheck() {
	r := m.run
	if r == nil || !r.interrupted || m.now < r.next {
		return
	}
	m.stopRest(r)
	m.ask(request.Internal("interrupt"), func(a request.Answer) { m.adopt(a.Results) }, "-list-thread-groups", m.group)
}

// adopt takes the threads and their states from -list-thread-groups.
func (m *Machine) adopt(info mi.Tuple) {
	list, ok := info.Get("threads")
	if !ok {
		return
	}
	var alive values.Threads
	for _, f := range list.Fields {
		n, _ := f.Value.Fields.Int("id")
		t := m.Thread(n)
		t.Running = f.Value.Fields.Str("state") == "running"
		alive = append(alive, t)
	}
	slices.SortFunc(alive, func(a, b *values.Thread) int { return a.ID - b.ID })
	m.threads = alive
	r := m.run
	if r == nil || len(alive) == 0 {
		return
	}
	// The thread of the first stop may have ended, or its stop was never reported.
	if r.stopped != 0 && alive.Find(r.stopped) == nil || r.stopped == 0 && !alive.AnyRunning() {
		r.stopped = alive[0].ID
	}
}

// standsStill handles the complete stop of a run.
func (m *Machine) standsStill(r *run) {
	m.run = nil
	t := m.speaker(r)
	m.chosen = request.Selection{Thread: t.ID}
	if t.Stop != nil { // otherwise it has not run, and our SIGCONT is still pending
		m.giveBack()
	}
	if m.ending.detach != nil {
		m.detachHalted(func() { m.reportStop(r, t) })
		return
	}
	if m.foundProgram(t) || m.steppedOut(r, t) || m.entersProgramUnit(r, t) {
		return
	}
	m.reportStop(r, t)
}

// speaker returns the thread whose stop is reported: the first with a reason of its
// own, otherwise the selected one.
func (m *Machine) speaker(r *run) *values.Thread {
	first := m.threads.Find(r.stopped)
	if first != nil && values.OwnReason(first.Stop) {
		return first
	}
	for _, t := range m.threads {
		if values.OwnReason(t.Stop) {
			return t
		}
	}
	if t := m.threads.Find(m.chosen.Thread); t != nil {
		return t
	}
	if first != nil {
		return first
	}
	return m.threads[0]
}
