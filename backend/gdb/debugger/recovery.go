// Recovery of a rank whose gdb has died.

package debugger

import (
	"slices"
	"strings"
	"time"

	"sdm/backend"
	"sdm/backend/gdb/request"
	"sdm/backend/gdb/values"
	"sdm/protocol"
)

// recovery is the state of a rank whose gdb has died. The kernel releases its process,
// which runs on. The loop stops it at once, removes the breakpoints that gdb has left
// in it (inferior.RemoveBreakpoints), and starts another gdb for this rank alone, so that a rank
// that crashes gdb no longer affects others.
//
//	gdb dies ─→ open requests fail ─→ SIGSTOP, RemoveBreakpoints, new gdb attaches ─→ journal
//	   ├─ was stopped: reported as stopped
//	   ├─ ran: runs on
//	   └─ ran to its first stop: see toFirstStop
//
// If gdb died before it had the rank under control, another one starts over, and the
// request stays open.
type recovery struct {
	*core
	first        *firstStop
	wrapper      *wrapper
	abort        *abortWatch
	stops        *stops
	runs         *runs
	termination  *termination
	commands     *commands
	bringUp      *bringUp
	interruption *interruption
	running      bool               // it was running
	firstStop    string             // if it was running to its first stop: that place; "": it was not
	seeks        bool               // as a wrapper, to its program
	death        death              // how gdb ended
	waiting      []*request.Request // commands for the stopped rank, which the new gdb executes
	stood        []string           // the addresses at which its threads stood; nil: some ran
	alive        bool               // gdb has not died but detached; see detachStuck
	detach       *request.Request   // the new gdb has to detach for this request
}

// orphaned processes the end of gdb if another one will take over.
func (rs *recovery) orphaned(now time.Duration, w death) {
	rs.now, rs.death = now, w
	if !w.crashed { // otherwise it is not given the command again
		rs.takeovers.count++
	}
	switch {
	case rs.isTakenOver(): // this gdb was about to take over
		rs.Event(protocol.KindNote, protocol.Note{Text: w.String() + " while it took the rank over; another one is started"})
		return
	case rs.State == backend.Attaching && rs.run == nil:
		rs.Event(protocol.KindNote, protocol.Note{Text: w.String() + " before it had the rank under control; another one is started"})
		return
	}
	rs.beginTakeover()
	rs.moving = nil
	stopping := rs.interruption.unprocessed != nil || rs.run != nil && rs.run.interrupted
	// Without a run the stop of the rank is about to be reported.
	rs.running = rs.run != nil && !stopping &&
		(rs.State == backend.Running || rs.run.silent || rs.State == backend.Attaching)
	rs.stood = rs.places()
	rs.firstStop, rs.seeks = rs.first.place, rs.wrapper.seeks
	rs.journal.restart()
	if rs.State == backend.Attaching || !rs.running {
		// a stopped rank runs now; reported before the failures, so that a user can
		// wait for it
		rs.Event(protocol.KindRunning, struct{}{})
	}
	rs.detach = rs.termination.detach
	for _, q := range slices.Clone(rs.Open) {
		switch {
		case q.Name == "detach": // the new gdb does it
			rs.detach = q
		case q.Name == "interrupt": // the rank is stopped
			rs.Done(q)
		default:
			rs.Fail(q, w.fault(q))
		}
	}
	rs.awaitsGDB()
}

// queue queues a request until another gdb has taken over a rank that was stopped.
func (rs *recovery) queue(q *request.Request) bool {
	if !rs.isTakenOver() || rs.running || rs.State.IsOver() {
		return false
	}
	rs.waiting = append(rs.waiting, q)
	return true
}

// places returns the addresses at which the threads stand, in order; nil: some run, or are not known.
func (rs *recovery) places() []string {
	all := make([]string, 0, len(rs.threads))
	for _, t := range rs.threads {
		f, ok := values.FrameIn(t.Stop)
		if !ok || t.Running {
			return nil
		}
		all = append(all, strings.Clone(f.Addr))
	}
	slices.Sort(all)
	return all
}

// recovered restores the state that the rank had when its gdb died.
func (rs *recovery) recovered(first *values.Thread) {
	if q := rs.detach; q != nil {
		rs.takenOver()
		rs.detach = nil
		rs.termination.detachAtOnce(q, func() {})
		return
	}
	rs.commands.replay(rs.journal.repeats, func() {
		switch {
		case !rs.running:
			rs.reportStopped(first)
		case rs.seeks:
			rs.bringUp.runToProgram(request.Internal("launch"), rs.resumeAgain, func(string) { rs.reportStopped(first) })
		case rs.firstStop != "":
			rs.toFirstStop(first)
		default:
			rs.resumeAgain()
		}
	})
}

// toFirstStop lets the rank run to its first stop. If it is in main already and was to
// stop there, it has passed that place and stays where it is.
func (rs *recovery) toFirstStop(first *values.Thread) {
	rs.ask(request.Internal("launch"), func(a request.Answer) {
		for v := range a.Results.Path("stack").Fields.All("frame") {
			if rs.firstStop == stopAtMain && v.Fields.Str("func") == "main" {
				rs.reportStopped(first)
				return
			}
		}
		rs.first.breakAtStart(request.Internal("launch"), rs.firstStop, func(a request.Answer) {
			if a.Failed() {
				rs.reportStopped(first)
				return
			}
			rs.points.Claim(0, rs.firstStop, a.Results.Path("bkpt").Fields)
			rs.first.place = rs.firstStop
			rs.resumeAgain()
		})
	}, "-stack-list-frames", "--thread", rs.GDBThread(first.ID), "0", "999")
}

// reportStopped reports the rank as stopped after a new gdb has taken over.
func (rs *recovery) reportStopped(first *values.Thread) {
	reason := "attached"
	if rs.IsCore() {
		reason = ""
	}
	if !rs.finish() {
		return
	}
	rs.stops.stopNamed(first, reason)
	rs.ready, rs.waiting = append(rs.ready, rs.waiting...), nil
}

// resumeAgain resumes the rank; to the user it is running.
func (rs *recovery) resumeAgain() {
	if rs.finish() {
		rs.standsStill()
		rs.runs.resumeAll(request.Internal("continue"))
		rs.run.silent = true
	}
}

// finish ends the recovery, unless the rank has ended meanwhile.
func (rs *recovery) finish() bool {
	if rs.State.IsOver() {
		return false
	}
	text := "another one has taken the rank over, with its breakpoints. It may have run on a little"
	switch {
	case rs.IsCore():
		text = "another one has opened the core file"
	case !rs.running && rs.stood != nil && slices.Equal(rs.stood, rs.places()):
		text = "another one has taken the rank over, with its breakpoints, where it stood"
	}
	rs.takenOver()
	rs.abort.watchAbort()
	if rs.alive {
		rs.alive = false
		rs.Event(protocol.KindNote, protocol.Note{Text: "the rank has a gdb of its own now: of the one that it shared, " + rs.death.cause + ". It may have run on a little"})
		return true
	}
	rs.Event(protocol.KindNote, protocol.Note{Text: rs.death.String() + "; " + text})
	return true
}

// abandoned reports the rank as lost if no gdb can take over.
func (rs *recovery) abandoned(why string) {
	cause := rs.death.String() + ", and no other could take the rank over: " + why
	if rs.moving != nil {
		cause = "the gdb that the rank was to get for " + rs.moving.why + " could not take it over: " + why
	}
	rs.Event(protocol.KindLost, protocol.Missing{Cause: cause})
	rs.termination.finish()
}

// refused gives up a rank to which a new gdb cannot attach.
func (rs *recovery) refused(f *protocol.Fault) {
	rs.attaching = nil
	rs.abandoned(f.Message)
}
