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

// runs resumes the rank, and decides when it has stopped as a whole.
type runs struct {
	*Machine
	inCall  bool   // a function called in an expression has stopped (callOver)
	locking string // the user's scheduler-locking
}

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
	request     *request.Request // answered at ^running
	started     bool             // gdb has resumed a thread: the rank is running
	outstanding int              // number of results of resuming commands that gdb has not given yet
	thread      int              // the thread that steps; 0: all just run
	stopped     int              // the thread that stopped first; 0: none yet
	token       int64            // of the first command; it may fail after ^running
	address     bool             // the address of the stop is to be shown
	back        bool             // it runs backwards

	onward      int // number of steps that follow the return of a function; see stepOut
	line        int // line of the call of that function
	log         resumeLog
	silent      bool // it is not reported: to the user the rank runs already
	interrupted bool // the other threads have been told to stop
	stale       bool // since then a thread has been created
	next        time.Duration

	checkAt, checkDelay time.Duration  // time of the next check of the process, and delay since the last
	dead                bool           // the last check found the process dead
	lastStopped         stoppedThreads // stopped threads that it found
	stuck               forgotten      // see detachStuck
}

// recheckWait is how long all threads may take to stop before gdb is asked for their states,
// in case one was created meanwhile.
const recheckWait = 500 * time.Millisecond

// resumeAll resumes all threads. q may have been answered already.
func (rn *runs) resumeAll(q *request.Request) {
	rn.resume(q, nil, "-exec-continue", "--thread-group", rn.group)
}

// resumeOne executes a command for the selected thread and resumes the others.
func (rn *runs) resumeOne(q *request.Request, command string, args ...string) {
	at := rn.At(q)
	step := isStep(q.Name)
	if step {
		at = at[:2] // a step applies to the innermost frame
	}
	others := rn.othersUnlocked()
	if rn.locking == "step" && step {
		others = nil
	}
	rn.resume(q, others, command, append(at, args...)...)
	rn.run.thread = rn.chosen.Thread
}

// othersUnlocked returns a function that resumes the other threads, or nil if the user
// has locked them.
func (rn *runs) othersUnlocked() func() {
	if rn.locking == "on" || rn.Target.AllStop {
		return nil
	}
	return rn.others
}

func (rn *runs) resume(q *request.Request, others func(), command string, args ...string) {
	rn.attach.continueFrozen()
	rn.attach.leaveStart()
	rn.Record.limit = ""
	rn.stops.within = within{}
	rn.actions.countHits()
	r := &run{request: q, outstanding: 1}
	rn.run = r
	k := rn.ask(q, func(a request.Answer) { rn.resumed(r, others, a) }, command, args...)
	r.token = k.token
}

// resumed processes the result of the first resuming command.
func (rn *runs) resumed(r *run, others func(), a request.Answer) {
	r.outstanding--
	if rn.State.IsOver() {
		return // it has ended meanwhile
	}
	if a.Name != "running" {
		if rn.run == r {
			rn.run = nil
		}
		if r.silent { // to the user it runs
			rn.State = backend.Running
		}
		if r.silent && len(rn.threads) > 0 { // it should have run on, and does not
			t := rn.reportedThread(r)
			rn.Event(protocol.KindNote, protocol.Note{Text: "the rank cannot run on: " + a.Results.Str("msg")})
			rn.Event(protocol.KindStopped, rn.stops.stopBody(t, ""), rn.stops.stopColumns(t)...)
		}
		if a.Failed() {
			rn.Refused(r.request, a)
		} else {
			rn.Done(r.request)
		}
		return
	}
	rn.nowRunning(r, struct{}{})
	if others != nil {
		others()
	}
}

// nowRunning reports a resume and answers its command.
func (rn *runs) nowRunning(r *run, body any) {
	r.started = true
	rn.forgetDeadly()
	rn.values.Printer.HasRun()
	r.checkDelay = firstCheck
	r.checkAt = rn.now + r.checkDelay
	for _, t := range rn.threads {
		t.Stop = nil // it has been reported
	}
	if r.silent {
		rn.State = backend.Running
	} else {
		rn.Event(protocol.KindRunning, struct{}{})
	}
	rn.Reply(r.request, body)
	rn.recovery.askStands(r)
}

// others resumes the threads that the command has left stopped. It names them one by
// one: a command for the whole group could arrive after the end of the step and resume
// its thread.
func (rn *runs) others() {
	r := rn.run
	for _, id := range rn.threads.StoppedBut(rn.chosen.Thread) {
		rn.continueThread(r, id)
	}
}

// continueThread resumes one thread. Its *running comes one line after ^running; until
// then it must not be taken for stopped.
func (rn *runs) continueThread(r *run, id int) {
	r.outstanding++
	rn.ask(r.request, func(a request.Answer) {
		r.outstanding--
		if t := rn.threads.Find(id); t != nil && a.Name == "running" {
			t.Running = true
		}
	}, "-exec-continue", r.direction("--thread", rn.GDBThread(id))...)
}

// stopped processes a *stopped.
func (rn *runs) stopped(stop mi.Tuple) {
	if rn.termination.exited(stop) {
		return
	}
	stop = rn.recorded(stop)
	t := rn.setStopped(stop)
	if t == nil {
		rn.callOver(stop)
		return
	}
	if rn.State == backend.Attaching && rn.attach.request != nil {
		return
	}
	r := rn.run
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
		rn.continueThread(r, t.ID)
		return
	}
	if rn.abort.atAbort(stop) && rn.abort.told {
		rn.continueThread(r, t.ID)
		return
	}
	if p := rn.points.at(stop); p.resumes() || rn.points.isPassed(p) {
		rn.actions.passBy(r, t, p)
		return
	}
	rn.breaks.countDown(stop)
	if rn.settings.ownSignal(t) && t.ID != r.thread { // gdb has forgotten where a step was to end
		if !r.interrupted {
			rn.continueThread(r, t.ID)
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
func (rn *runs) stoppedInCall(a request.Answer) {
	t := rn.threads.Find(rn.chosen.Thread)
	if rn.State != backend.Stopped || t == nil || !strings.Contains(a.Results.Str("msg"), "while in a function called from GDB") {
		return
	}
	rn.inCall = true
	rn.Event(protocol.KindRunning, struct{}{})
	rn.chosen = request.Selection{Thread: t.ID}
	rn.Event(protocol.KindStopped, rn.stops.stopBody(t, ""), rn.stops.stopColumns(t)...)
}

// callOver processes a *stopped without thread and reason: with it gdb reports the end
// of a call that stoppedInCall has seen, after that was resumed. It asks gdb for the
// thread.
func (rn *runs) callOver(stop mi.Tuple) {
	if !rn.inCall || rn.run == nil || stop.Str("reason") != "" {
		return
	}
	rn.ask(request.Internal("continue"), func(a request.Answer) {
		if stop, stands := rn.recovery.unreportedStop(a.Results); stands {
			rn.stopped(finished(stop))
		}
	}, "-list-thread-groups", rn.group)
}

// settle checks whether the rank as a whole has changed its state.
func (rn *runs) settle() {
	if rn.State.IsOver() {
		return
	}
	rn.resumeNext()
	rn.attach.settleAttach()
	rn.moves.settleMove()
	r := rn.run
	if r == nil || !r.started || r.outstanding > 0 || r.stopped == 0 || len(rn.threads) == 0 || r.stuck >= detached {
		return // without threads it has ended, and gdb will report that next; while gdb detaches they go one by one
	}
	if !rn.threads.AnyRunning() {
		rn.allStopped(r)
		return
	}
	if !r.interrupted || r.stale {
		rn.stopRest(r)
	}
}

// stopRest tells all running threads to stop.
func (rn *runs) stopRest(r *run) {
	r.interrupted, r.stale = true, false
	r.next = rn.now + recheckWait
	rn.Tell("interrupt", "-exec-interrupt", "--thread-group", rn.group)
	rn.restoreSelection()
}

// threadCame has a thread that is created during stopRest stopped, too.
func (rn *runs) threadCame() {
	if rn.run != nil && rn.run.interrupted {
		rn.run.stale = true
	}
}

// recheck asks gdb for the states of threads that take long to stop.
func (rn *runs) recheck() {
	r := rn.run
	if r == nil || !r.interrupted || rn.now < r.next {
		return
	}
	rn.stopRest(r)
	rn.ask(request.Internal("interrupt"), func(a request.Answer) { rn.adopt(a.Results) }, "-list-thread-groups", rn.group)
}

// adopt takes the threads and their states from -list-thread-groups.
func (rn *runs) adopt(info mi.Tuple) {
	list, ok := info.Get("threads")
	if !ok {
		return
	}
	var alive values.Threads
	for _, f := range list.Fields {
		n, _ := f.Value.Fields.Int("id")
		t := rn.Thread(n)
		t.Running = f.Value.Fields.Str("state") == "running"
		alive = append(alive, t)
	}
	slices.SortFunc(alive, func(a, b *values.Thread) int { return a.ID - b.ID })
	rn.threads = alive
	r := rn.run
	if r == nil || len(alive) == 0 {
		return
	}
	// The thread of the first stop may have ended, or its stop was never reported.
	if r.stopped != 0 && alive.Find(r.stopped) == nil || r.stopped == 0 && !alive.AnyRunning() {
		r.stopped = alive[0].ID
	}
}

// allStopped handles the complete stop of a run.
func (rn *runs) allStopped(r *run) {
	rn.run = nil
	t := rn.reportedThread(r)
	rn.chosen = request.Selection{Thread: t.ID}
	if t.Stop != nil { // otherwise it has not run, and sdm's SIGCONT is still pending
		rn.attach.restoreSIGCONT()
	}
	if rn.termination.detach != nil {
		rn.termination.detachHalted(func() { rn.stops.reportStop(r, t) })
		return
	}
	if rn.attach.foundProgram(t) || rn.stops.steppedOut(r, t) ||
		rn.stops.entersLibrary(r, t) || rn.stops.entersProgramUnit(r, t) {
		return
	}
	rn.stops.reportStop(r, t)
}

// reportedThread returns the thread whose stop is reported: the first with a reason of its
// own, otherwise the selected one.
func (rn *runs) reportedThread(r *run) *values.Thread {
	first := rn.threads.Find(r.stopped)
	if first != nil && values.OwnReason(first.Stop) {
		return first
	}
	for _, t := range rn.threads {
		if values.OwnReason(t.Stop) {
			return t
		}
	}
	if t := rn.threads.Find(rn.chosen.Thread); t != nil {
		return t
	}
	if first != nil {
		return first
	}
	return rn.threads[0]
}
