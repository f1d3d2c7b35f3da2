// The threads of a run stop, one by one.

package debugger

import (
	"sdm/backend"
	"sdm/backend/gdb/breakpoint"
	"sdm/backend/gdb/request"
	"sdm/backend/gdb/values"
	"sdm/backend/mi"
	"slices"
	"time"
)

// stopped processes a *stopped.
func (rn *runs) stopped(stop mi.Tuple) {
	stop = rn.record.recorded(stop)
	t := rn.setStopped(stop)
	if t == nil {
		rn.callOver(stop)
		return
	}
	if rn.State == backend.Attaching && rn.attaching != nil {
		return
	}
	r := rn.run
	if r == nil {
		return // of a call in an expression (stoppedInCall), or late
	}
	if (r.request.Name == "finish" || r.onward > 0) && t.ID == r.thread {
		t.Stop = values.Finished(t.Stop)
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
	if p := rn.points.At(stop); p.Resumes() || rn.points.IsPassed(p) {
		rn.passBy(r, t, p)
		return
	}
	rn.countDown(stop)
	if rn.signals.ownSignal(t) && t.ID != r.thread { // gdb has forgotten where a step was to end
		if !r.interrupted {
			rn.continueThread(r, t.ID)
			return
		}
		t.Stop = values.WithoutReason(t.Stop)
	}
	r.stoppedBy(t)
}

// passBy has a thread execute the actions of a breakpoint, and resumes it. The thread stays stopped if the rank is
// being stopped, or if the thread steps: gdb has forgotten where the step was to end.
func (rn *runs) passBy(r *run, t *values.Thread, p *breakpoint.Point) {
	r.outstanding++ // nothing is decided before the thread resumes
	rn.breaks.PassBy(t, p, func(stays mi.Tuple) {
		r.outstanding--
		switch {
		case rn.run != r || rn.State.IsOver():
		case stays != nil:
			t.Stop = stays
			rn.countDown(t.Stop)
			r.stoppedBy(t)
		case r.interrupted:
			r.stoppedBy(t)
			t.Stop = values.WithoutReason(t.Stop)
		case t.ID == r.thread:
			r.stoppedBy(t)
		default:
			rn.continueThread(r, t.ID)
		}
	})
}

// countDown counts a hit of a breakpoint that gdb disables after some.
func (rn *runs) countDown(stop mi.Tuple) {
	if again := rn.breaks.CountDown(stop); again != nil {
		rn.journal.recount(*again)
	}
}

// callOver processes a *stopped without thread and reason: with it gdb reports the end
// of a call that stoppedInCall has seen, after that was resumed. It asks gdb for the
// thread.
func (rn *runs) callOver(stop mi.Tuple) {
	if !rn.inCall || rn.run == nil || stop.Str("reason") != "" {
		return
	}
	rn.ask(request.Internal("continue"), func(a request.Answer) {
		if stop, stands := rn.unreportedStop(a.Results); stands {
			rn.stopped(values.Finished(stop))
		}
	}, "-list-thread-groups", rn.threadGroup)
}

// settle checks whether the rank as a whole has stopped, and returns the run that is over then.
func (rn *runs) settle() *run {
	r := rn.run
	if r == nil || !r.started || r.outstanding > 0 || r.stopped == 0 || len(rn.threads) == 0 || r.stuck >= detached {
		return nil // without threads it has ended, and gdb will report that next; while gdb detaches they go one by one
	}
	if !rn.threads.AnyRunning() {
		rn.runOver(r)
		return r
	}
	if !r.interrupted || r.stale {
		rn.stopRest(r)
	}
	return nil
}

// recheckWait is how long all threads may take to stop before gdb is asked for their states,
// in case one was created meanwhile.
const recheckWait = 500 * time.Millisecond

// stopRest tells all running threads to stop.
func (rn *runs) stopRest(r *run) {
	r.interrupted, r.stale = true, false
	r.next = rn.now + recheckWait
	rn.Tell("interrupt", "-exec-interrupt", "--thread-group", rn.threadGroup)
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
	adopt := func(a request.Answer) { rn.adopt(a.Results) }
	rn.ask(request.Internal("interrupt"), adopt, "-list-thread-groups", rn.threadGroup)
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
