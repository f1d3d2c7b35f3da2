// Detaching from a rank.

package debugger

import (
	"time"

	"sdm/backend/gdb/request"
)

// stopWait is how long a rank may take to stop before it is detached from.
const stopWait = 3 * time.Second

// detachRank detaches gdb from the rank. A rank that runs with breakpoints is stopped first: a child that
// it forks has copies of the breakpoints, which gdb removes only while the rank runs under gdb. A rank that
// does not stop within stopWait is detached from while it runs.
func (en *termination) detachRank(q *request.Request) {
	r := en.run
	if r == nil || !r.started || len(en.points.List) == 0 || en.Target.AllStop || en.detach != nil {
		en.detachAtOnce(q, func() {})
		return
	}
	en.detach, en.giveUp = q, en.now+stopWait
	if !r.interrupted || r.stale {
		en.runs.stopRest(r)
	}
}

// detachHalted continues a detach that waits for the rank to stop. report is called if gdb refuses.
func (en *termination) detachHalted(report func()) {
	q := en.detach
	en.detach = nil
	en.detachAtOnce(q, report)
}

// detachOverdue continues a detach whose rank does not stop.
func (en *termination) detachOverdue() {
	if en.detach != nil && en.now >= en.giveUp {
		en.detachHalted(func() {})
	}
}

// emptyGroup is gdb's error for the group of an inferior without a process.
const emptyGroup = "Thread group is empty"

// detachAtOnce detaches from the rank, and undoes a stop by sdm. If gdb refuses, refused is called.
func (en *termination) detachAtOnce(q *request.Request, refused func()) {
	before := en.phase
	en.enter(leaving)
	if en.Host.LeaderEnded != nil && en.Host.LeaderEnded(en.Target.PID) {
		en.detachByEnd(q)
		return
	}
	en.detachFrom(q, func(a request.Answer) {
		if a.Failed() && a.Results.Str("msg") != emptyGroup { // an empty group has been detached from already
			en.enter(before)
			en.Refused(q, a)
			refused()
			return
		}
		en.groupStop.continueFrozen()
		en.reportDetached()
	})
}

// detachByEnd deletes the breakpoints and kills gdb, and so has the kernel detach: gdb 13 fails an assertion when
// it detaches from a process whose first thread has ended (linux-nat.c, detach). Other ranks of gdb get others.
func (en *termination) detachByEnd(q *request.Request) {
	en.Out.ClearChildren = true
	for _, number := range en.points.Existing() {
		en.Tell("delete", "-break-delete", number)
	}
	en.enter(leavingByEnd)
	en.GDB.detaching++
	en.ask(q, func(request.Answer) {
		if en.GDB.detaching--; en.GDB.detaching > 0 {
			return
		}
		en.GDB.replace("ended: the first thread of another of its ranks has ended, and it cannot detach from that")
	}, "-list-features")
}

// detachFrom has gdb detach from the rank. A child whose fork gdb has not handled yet has copies of the
// breakpoints: gdb detaches from it without removing them (linux-nat.c, detach_one_lwp), and the
// child would end by SIGTRAP. The loop removes them before.
func (en *termination) detachFrom(q *request.Request, then func(request.Answer)) {
	en.Out.ClearChildren = true
	en.selectNeighbour()
	en.ask(q, then, "-target-detach", en.threadGroup)
}

// leaveAsFound detaches at the end of a session. A process that was stopped by a signal before the session
// and has not been resumed since stays stopped.
func (en *termination) leaveAsFound() {
	en.groupStop.frozen = false
	en.detachRank(request.Internal("detach"))
}
