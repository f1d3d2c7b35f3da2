// Resuming a rank as a whole, whatever gdb makes of its threads.

package gdb

import (
	"slices"
	"strings"
	"time"

	"sdm/backend"
	"sdm/backend/mi"
	"sdm/protocol"
)

// run is one resume of the rank, from the command to the stop of its last
// thread. In non-stop gdb resumes and stops threads one by one, while people
// think of a process:
//
//	command ─→ ^running ─→ others continued ─→ first *stopped ─→ interrupt ─→ all stand ─→ one stop
//
// Stepping one thread alone would never come back over pthread_join or
// MPI_Finalize. A *stopped may come before the ^running of a sibling, so
// nothing is decided while results are owed.
type run struct {
	request *request // answered at ^running
	started bool     // gdb has resumed something: the rank is running
	owed    int      // results of resuming commands that have not come
	thread  int      // the one that steps; 0 when all just run
	stopped int      // the thread that stopped first, 0 before
	token   int64    // of the first command; it may fail after ^running
	address bool     // where it stops, the address is of interest
	back    bool     // it goes backwards

	onward      int // how many steps follow when it has come out of a function; see stepOut
	line        int // … that was called in this line
	grumble     grumble
	silent      bool // nobody is told that it runs: they never knew otherwise
	interrupted bool // the rest has been told to stop
	stale       bool // … but a thread has been created since
	next        time.Duration

	lookAt, pause time.Duration // when the process is looked at next, and how long after the last look
	dead          bool          // the last look found it so
	held          heldStill     // … or found this
	forgotten     forgotten     // see letForgottenGo
}

// again is how long all threads may take to stop before gdb is asked what they
// do, in case one was created while it was stopping the others.
const again = 500 * time.Millisecond

// resumeAll lets every thread run. q may have been answered already.
func (m *machine) resumeAll(q *request) {
	m.resume(q, nil, "-exec-continue", "--thread-group", m.group)
}

// resumeOne lets the selected thread do something, and the others just run.
func (m *machine) resumeOne(q *request, command string, args ...string) {
	at := m.at(q)
	step := isStep(q.name)
	if step {
		at = at[:2] // a step is one of the innermost frame
	}
	others := m.othersUnlocked()
	if m.locking == "step" && step {
		others = nil
	}
	m.resume(q, others, command, append(at, args...)...)
	m.run.thread = m.chosen.thread
}

// othersUnlocked is what lets the other threads run, unless the user has
// locked them.
func (m *machine) othersUnlocked() func() {
	if m.locking == "on" || m.target.AllStop {
		return nil
	}
	return m.others
}

func (m *machine) resume(q *request, others func(), command string, args ...string) {
	m.thaw()
	m.leaveStart()
	m.record.limit = ""
	m.within = within{}
	m.countHits()
	r := &run{request: q, owed: 1}
	m.run = r
	k := m.ask(q, func(a answer) { m.resumed(r, others, a) }, command, args...)
	r.token = k.token
}

// resumed takes the result of the first resuming command.
func (m *machine) resumed(r *run, others func(), a answer) {
	r.owed--
	if m.state.IsOver() {
		return // it has run to its end meanwhile
	}
	if a.Name != "running" {
		if m.run == r {
			m.run = nil
		}
		if r.silent { // which people know to run
			m.state = backend.Running
		}
		if r.silent && len(m.threads) > 0 { // it was to run on, and does not
			t := m.speaker(r)
			m.event(protocol.KindNote, protocol.Note{Text: "the rank cannot run on: " + a.Results.Str("msg")})
			m.event(protocol.KindStopped, m.stopBody(t, ""), m.stopColumns(t)...)
		}
		if a.failed() {
			m.refused(r.request, a)
		} else {
			m.done(r.request)
		}
		return
	}
	m.nowRunning(r, struct{}{})
	if others != nil {
		others()
	}
}

// nowRunning reports a resume and answers the command that brought it about.
func (m *machine) nowRunning(r *run, body any) {
	r.started, m.last.moved = true, true
	r.pause = firstLook
	r.lookAt = m.now + r.pause
	for _, t := range m.threads {
		t.stop = nil // it has been reported
	}
	if r.silent {
		m.state = backend.Running
	} else {
		m.event(protocol.KindRunning, struct{}{})
	}
	m.reply(r.request, body)
}

// others continues the threads that the command has left standing. They are
// named one by one: a command for the whole group could come after the end of
// the step and carry its thread on.
func (m *machine) others() {
	r := m.run
	for _, id := range m.threads.stoppedBut(m.chosen.thread) {
		m.continueThread(r, id)
	}
}

// continueThread lets one thread run. Its *running comes a line behind the
// ^running; nobody must think in between that it stands.
func (m *machine) continueThread(r *run, id int) {
	r.owed++
	m.ask(r.request, func(a answer) {
		r.owed--
		if t := m.threads.find(id); t != nil && a.Name == "running" {
			t.running = true
		}
	}, "-exec-continue", r.direction("--thread", m.gdbThread(id))...)
}

// stopped takes a *stopped.
func (m *machine) stopped(stop mi.Tuple) {
	if m.exited(stop) {
		return
	}
	stop = m.recorded(stop)
	t := m.setStopped(stop)
	if t == nil {
		m.callOver(stop)
		return
	}
	if m.state == backend.Attaching && m.attach.request != nil {
		return
	}
	r := m.run
	if r == nil {
		return // of a call in an expression (stoppedInCall), or late
	}
	if (r.request.name == "finish" || r.onward > 0) && t.id == r.thread {
		t.stop = finished(t.stop)
	}
	stop = t.stop
	if !ownReason(stop) && !r.interrupted && t.id != r.thread {
		// It was told to stop twice, and the second time has reached it in this
		// run. Nobody has asked for that.
		m.continueThread(r, t.id)
		return
	}
	if m.atAbort(stop) && m.abort.told {
		m.continueThread(r, t.id)
		return
	}
	if p := m.points.at(stop); p.goesOn() || m.points.isPassed(p) {
		m.passBy(r, t, p)
		return
	}
	m.countDown(stop)
	if m.ownSignal(t) && t.id != r.thread { // of a step gdb has forgotten where it was to end
		if !r.interrupted {
			m.continueThread(r, t.id)
			return
		}
		t.stop = withoutReason(t.stop)
	}
	r.stoppedBy(t)
}

// finished gives the end of a function its reason where gdb gives none: of one without debug information, or of a call (callOver).
func finished(stop mi.Tuple) mi.Tuple {
	if _, told := stop.Get("reason"); told {
		return stop
	}
	return withReason(stop, "function-finished")
}

// stoppedInCall looks whether gdb's refusal says that a function which an
// expression called has come to a stop of its own. Then people must see where
// the rank stands now.
func (m *machine) stoppedInCall(a answer) {
	t := m.threads.find(m.chosen.thread)
	if m.state != backend.Stopped || t == nil || !strings.Contains(a.Results.Str("msg"), "while in a function called from GDB") {
		return
	}
	m.inCall = true
	m.event(protocol.KindRunning, struct{}{})
	m.chosen = selection{thread: t.id}
	m.event(protocol.KindStopped, m.stopBody(t, ""), m.stopColumns(t)...)
}

// callOver takes a *stopped of nobody and for nothing: so gdb tells the end of a call that
// stoppedInCall has seen left half-way, once it is resumed. It is asked whose it was.
func (m *machine) callOver(stop mi.Tuple) {
	if !m.inCall || m.run == nil || stop.Str("reason") != "" {
		return
	}
	m.ask(ours("continue"), func(a answer) {
		if stop, stands := m.standing(a.Results); stands {
			m.stopped(finished(stop))
		}
	}, "-list-thread-groups", m.group)
}

// settle looks whether the rank as a whole has got somewhere.
func (m *machine) settle() {
	if m.state.IsOver() {
		return
	}
	m.resumeNext()
	m.settleAttach()
	m.settleMove()
	r := m.run
	if r == nil || !r.started || r.owed > 0 || r.stopped == 0 || len(m.threads) == 0 {
		return // without threads it has ended, and gdb is about to say so
	}
	if !m.threads.anyRunning() {
		m.standsStill(r)
		return
	}
	if !r.interrupted || r.stale {
		m.stopRest(r)
	}
}

// stopRest tells all threads that still run to stop.
func (m *machine) stopRest(r *run) {
	r.interrupted, r.stale = true, false
	r.next = m.now + again
	m.tell("interrupt", "-exec-interrupt", "--thread-group", m.group)
	m.turnBack()
}

// threadCame sees that a thread which was created while the others are being
// stopped is stopped, too.
func (m *machine) threadCame() {
	if m.run != nil && m.run.interrupted {
		m.run.stale = true
	}
}

// recheck asks gdb what the threads do when they take long to stop.
func (m *machine) recheck() {
	r := m.run
	if r == nil || !r.interrupted || m.now < r.next {
		return
	}
	m.stopRest(r)
	m.ask(ours("interrupt"), func(a answer) { m.adopt(a.Results) }, "-list-thread-groups", m.group)
}

// adopt takes over what -list-thread-groups says of our group.
func (m *machine) adopt(info mi.Tuple) {
	list, ok := info.Get("threads")
	if !ok {
		return
	}
	var alive threads
	for _, f := range list.Fields {
		n, _ := f.Value.Fields.Int("id")
		t := m.thread(n)
		t.running = f.Value.Fields.Str("state") == "running"
		alive = append(alive, t)
	}
	slices.SortFunc(alive, func(a, b *thread) int { return a.id - b.id })
	m.threads = alive
	r := m.run
	if r == nil || len(alive) == 0 {
		return
	}
	// The stop that was counted on may be that of a thread which has ended, or
	// may never have been told.
	if r.stopped != 0 && alive.find(r.stopped) == nil || r.stopped == 0 && !alive.anyRunning() {
		r.stopped = alive[0].id
	}
}

// standsStill reports the one stop of a run.
func (m *machine) standsStill(r *run) {
	m.run = nil
	t := m.speaker(r)
	m.chosen = selection{thread: t.id}
	if t.stop != nil { // else it has not run, and our SIGCONT is still to come
		m.giveBack()
	}
	if m.foundProgram(t) || m.steppedOut(r, t) || m.entersProgramUnit(r, t) {
		return
	}
	m.reportStop(r, t)
}

// reportStop reports the stop of a thread, with what is to be known about its place.
func (m *machine) reportStop(r *run, t *thread) {
	m.beginRecord()
	if first := m.attach.away != ""; first {
		m.watchAbort()
	}
	if m.atAbort(t.stop) {
		m.tellAbort(t)
		return
	}
	m.named(t, func() {
		m.standsNamed(t, func() {
			m.placed(t, func() {
				m.libraryCaller(t, func(f *protocol.Frame, called string) { m.tellStop(r, t, f, called) })
			})
		})
	})
}

// tellStop reports it with what is to be shown there.
func (m *machine) tellStop(r *run, t *thread, caller *protocol.Frame, called string) {
	m.withDisplays(t, func(shown []protocol.Display, values []string, s spoken) {
		body := m.stopBody(t, "")
		body.Caller, body.Within = caller, called
		if ownReason(t.stop) {
			reached := m.points.reached(t.stop)
			for _, p := range reached {
				body.Then = append(body.Then, p.then()...)
			}
			// Where the rank was to stop first there is a breakpoint beside, which is not silent.
			body.Silent = m.attach.away == "" && len(reached) > 0 && !slices.ContainsFunc(reached, func(p *point) bool { return !p.silent() })
		}
		m.arrived()
		if body.Temporary || body.Reason == protocol.WatchpointScope {
			m.forget(body.Breakpoint)
		}
		for _, w := range body.Triggered {
			if w.Reason == protocol.WatchpointScope {
				m.forget(w.Breakpoint)
			}
		}
		body.Displays, body.Commands = shown, s.lines
		c := &columns{rank: m.target.Rank, list: m.stopColumns(t)}
		if f, ok := frameIn(t.stop); ok && r.address && f.Line != 0 {
			c.add("addr", f.addr)
		}
		c.displays(shown, values)
		c.outputs(s)
		m.event(protocol.KindStopped, body, c.sorted()...)
	})
}

// speaker is the thread whose stop the rank's stop is: the first that has a
// reason of its own, else the one that people were looking at.
func (m *machine) speaker(r *run) *thread {
	first := m.threads.find(r.stopped)
	if first != nil && ownReason(first.stop) {
		return first
	}
	for _, t := range m.threads {
		if ownReason(t.stop) {
			return t
		}
	}
	if t := m.threads.find(m.chosen.thread); t != nil {
		return t
	}
	if first != nil {
		return first
	}
	return m.threads[0]
}
