// Recovery of a rank whose gdb has died.

package debugger

import (
	"cmp"
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
	*Machine
	under     bool               // recovery is under way
	running   bool               // it was running
	firstStop string             // if it was running to its first stop: that place; "": it was not
	seeks     bool               // as a wrapper, to its program
	repeats   []protocol.Command // commands that the new gdb must execute
	death     death              // how gdb ended
	waiting   []*request.Request // commands for the stopped rank, which the new gdb executes
	stood     []string           // the addresses at which its threads stood; nil: some ran
	alive     bool               // gdb has not died but detached; see detachStuck
	detach    *request.Request   // the new gdb has to detach for this request
	count     int                // number of gdbs that this rank has lost
	bound     bound              // deadline for all gdbs that try to take over
}

// maxRecoveries bounds the gdbs that a rank may use up: the program may make each gdb
// crash.
const maxRecoveries = 3

// recoveryWait is how long new gdbs may take to take over a rank, if no limit is given.
const recoveryWait = time.Minute

// remember adds an executed command to the journal, or removes the commands whose effect it has ended.
func (rs *recovery) remember(q *request.Request) {
	info, _ := protocol.LookupCommand(q.Name)
	switch {
	case q.Name == "gdb" && protocol.IsSetting(q.Args.Text):
		rs.rememberLine(q)
	case info.Lasts():
		for _, a := range q.Args.PerBreakpoint() {
			if q.Located != "" {
				a.Location = q.Located
			}
			rs.journal = append(rs.journal, protocol.Command{Name: q.Name, Args: a})
		}
	case info.Effect != protocol.Removes || !info.ChangesPoints():
	case len(q.Args.Breakpoints) == 0:
		rs.journal = slices.DeleteFunc(rs.journal, func(c protocol.Command) bool {
			of, _ := protocol.LookupCommand(c.Name)
			return of.Object == protocol.Breakpoints
		})
	default:
		for _, n := range q.Args.Breakpoints {
			rs.forget(n)
		}
	}
}

// rememberLine adds a line for gdb, in place of an equal one.
func (rs *recovery) rememberLine(q *request.Request) {
	rs.journal = slices.DeleteFunc(rs.journal, func(c protocol.Command) bool { return c.Name == "gdb" && c.Args.Text == q.Args.Text })
	rs.journal = append(rs.journal, protocol.Command{Name: "gdb", Args: q.Args})
}

// forget removes all commands about a breakpoint that does not exist any more.
func (rs *recovery) forget(number int) {
	rs.journal = slices.DeleteFunc(rs.journal, func(c protocol.Command) bool {
		return number != 0 && (c.Args.Breakpoint == number || c.Args.ChangesOnly(number))
	})
}

// isPossible reports whether another gdb may take over the rank.
func (rs *recovery) isPossible() bool {
	late := rs.under && rs.now >= rs.bound.until
	return !rs.State.IsOver() && !rs.termination.killing && !rs.termination.leaving && rs.count < maxRecoveries && !late
}

// orphaned processes the end of gdb if another one will take over.
func (rs *recovery) orphaned(now time.Duration, w death) {
	rs.now, rs.death = now, w
	if !w.crashed { // otherwise it is not given the command again
		rs.count++
	}
	switch {
	case rs.under: // this gdb was about to take over
		rs.Event(protocol.KindNote, protocol.Note{Text: w.String() + " while it took the rank over; another one is started"})
		return
	case rs.State == backend.Attaching && rs.run == nil:
		rs.Event(protocol.KindNote, protocol.Note{Text: w.String() + " before it had the rank under control; another one is started"})
		return
	}
	rs.begin()
	rs.moves.moving = nil
	stopping := rs.interruption.unprocessed != nil || rs.run != nil && rs.run.interrupted
	// Without a run the stop of the rank is about to be reported.
	rs.running = rs.run != nil && !stopping && (rs.State == backend.Running || rs.run.silent || rs.State == backend.Attaching)
	rs.stood = rs.places()
	rs.firstStop, rs.seeks = rs.attach.firstStop, rs.attach.seeks
	rs.repeats, rs.journal = rs.journal, nil
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
	rs.State = backend.Attaching
}

// queue queues a request until another gdb has taken over a rank that was stopped.
func (rs *recovery) queue(q *request.Request) bool {
	if !rs.under || rs.running || rs.State.IsOver() {
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

// begin starts the deadline for the gdbs that try to take over.
func (rs *recovery) begin() {
	rs.under = true
	rs.bound = LimitOf(rs.now, cmp.Or(rs.GDB.Bound.wait, recoveryWait))
}

// TakeOver attaches with a new gdb, which the machine already has.
func (m *Machine) TakeOver(now time.Duration) {
	m.now = now
	m.threads, m.counted, m.points, m.settings.signals, m.abort.read = nil, 0, breakpoints{}, nil, false
	m.run, m.interruption, m.termination = nil, interruption{}, termination{Machine: m}
	m.stops.deferred = nil
	m.values.Displays.GDBEnded()
	m.settings.identified = false
	m.Record = recording{Wanted: m.Record.Wanted}
	m.chosen = request.Selection{Thread: 1}
	m.journal = nil
	if m.recovery.under {
		m.GDB.Bound = m.recovery.bound
		m.termination.killAt = m.recovery.bound.until
		m.attach.beginAttach(request.Internal("attach"), m.attach.stopAt, true)
		return
	}
	q := request.Internal("attach")
	if len(m.Open) > 0 {
		q = m.Open[0]
	}
	m.values.Displays.Forget() // see before
	m.attach.beginAttach(q, m.attach.stopAt, true)
}

// recovered restores the state that the rank had when its gdb died.
func (rs *recovery) recovered(first *values.Thread) {
	if rs.moves.moving != nil {
		rs.ask(request.Internal("hand over"), func(a request.Answer) {
			rs.moves.recognize(a.Results)
			rs.moves.wake()
		}, "-list-thread-groups", rs.group)
		return
	}
	if q := rs.detach; q != nil {
		rs.under, rs.detach, rs.termination.killAt = false, nil, 0
		rs.termination.detachAtOnce(q, func() {})
		return
	}
	rs.attach.replay(rs.repeats, func() {
		switch {
		case !rs.running:
			rs.reportStopped(first)
		case rs.seeks:
			rs.attach.runToProgram(request.Internal("launch"), rs.resumeAgain, func(string) { rs.reportStopped(first) })
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
		rs.attach.breakAtStart(request.Internal("launch"), rs.firstStop, func(a request.Answer) {
			if a.Failed() {
				rs.reportStopped(first)
				return
			}
			rs.points.claim(0, rs.firstStop, a.Results.Path("bkpt").Fields)
			rs.attach.firstStop = rs.firstStop
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
	if !rs.takenOver() {
		return
	}
	rs.stops.stopNamed(first, reason)
	waiting := rs.waiting
	rs.waiting = nil
	for _, q := range waiting {
		if !q.Answered {
			rs.admit(q)
		}
	}
}

// resumeAgain resumes the rank; to the user it is running.
func (rs *recovery) resumeAgain() {
	if rs.takenOver() {
		rs.State = backend.Stopped
		rs.runs.resumeAll(request.Internal("continue"))
		rs.run.silent = true
	}
}

// takenOver ends the recovery, unless the rank has ended meanwhile.
func (rs *recovery) takenOver() bool {
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
	rs.under, rs.termination.killAt = false, 0
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
	rs.under = false
	cause := rs.death.String() + ", and no other could take the rank over: " + why
	if rs.moves.moving != nil {
		cause = "the gdb that the rank was to get for " + rs.moves.moving.why + " could not take it over: " + why
	}
	rs.Event(protocol.KindLost, protocol.Missing{Cause: cause})
	rs.termination.finish(rs.State)
}
