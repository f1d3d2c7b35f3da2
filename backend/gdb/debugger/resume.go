// Resuming a rank as a whole.

package debugger

import (
	"sdm/backend/gdb/request"
	"sdm/protocol"
)

// runs resumes the rank, and decides when it has stopped as a whole.
type runs struct {
	*core
	groupStop *groupStop
	first     *firstStop
	record    *recording
	signals   *signals
	abort     *abortWatch
	stops     *stops
	locking   string // the user's scheduler-locking
}

// resumeAll resumes all threads. q may have been answered already.
func (rn *runs) resumeAll(q *request.Request) {
	rn.resume(q, nil, "-exec-continue", "--thread-group", rn.threadGroup)
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
	rn.groupStop.continueFrozen()
	rn.first.leaveStart()
	rn.record.limit = ""
	rn.stops.within = within{}
	rn.breaks.CountHits()
	r := &run{request: q, outstanding: 1}
	rn.begins(r)
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
		rn.runOver(r)
		if r.silent { // to the user it runs
			rn.runsOn()
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
	clear(rn.deadly) // its variables change
	rn.values.Printer.HasRun()
	r.checkDelay = firstCheck
	r.checkAt = rn.now + r.checkDelay
	for _, t := range rn.threads {
		t.Stop = nil // it has been reported
	}
	if r.silent {
		rn.runsOn()
	} else {
		rn.Event(protocol.KindRunning, struct{}{})
	}
	rn.Reply(r.request, body)
	rn.askStands(r)
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
