// Recovery of a rank whose gdb has died.

package debugger

import (
	"cmp"
	"slices"
	"time"

	"sdm/backend"
	"sdm/backend/gdb/request"
	"sdm/backend/gdb/values"
	"sdm/protocol"
)

// rescue is the state of a rank whose gdb has died. The kernel releases its process,
// which runs on. The loop stops it at once, removes the breakpoints that gdb has left
// in it (inferior.Mend), and starts another gdb for this rank alone, so that a rank
// that crashes gdb no longer affects others.
//
//	gdb dies ─→ open requests fail ─→ SIGSTOP, Mend, new gdb attaches ─→ journal
//	   ├─ was stopped: reported as stopped
//	   ├─ ran: runs on
//	   └─ ran to its first stop: see toFirstStop
//
// If gdb died before it had the rank under control, another one starts over, and the
// request stays open.
type rescue struct {
	under   bool               // recovery is under way
	running bool               // it was running
	away    string             // to this first stop
	seeks   bool               // as a wrapper, to its program
	journal []protocol.Command // commands that the new gdb must execute
	cause   string             // how gdb ended
	alive   bool               // gdb has not died but detached; see letForgottenGo
	detach  *request.Request   // the new gdb has to detach for this request
	count   int                // number of gdbs that this rank has lost
	bound   bound              // deadline for all gdbs that try to take over
}

// mostRescues bounds the gdbs that a rank may use up: the program may make each gdb
// crash.
const mostRescues = 3

// rescueWait is how long new gdbs may take to take over a rank, if no limit is given.
const rescueWait = time.Minute

// remember adds an executed command to the journal, or removes what it has ended.
func (m *Machine) remember(q *request.Request) {
	info, _ := protocol.LookupCommand(q.Name)
	switch {
	case q.Name == "gdb" && protocol.IsSetting(q.Args.Text):
		m.rememberLine(q)
	case info.Lasts():
		for _, a := range q.Args.PerBreakpoint() {
			if q.Located != "" {
				a.Location = q.Located
			}
			m.journal = append(m.journal, protocol.Command{Name: q.Name, Args: a})
		}
	case info.Effect != protocol.Removes || !info.ChangesPoints():
	case len(q.Args.Breakpoints) == 0:
		m.journal = slices.DeleteFunc(m.journal, func(c protocol.Command) bool {
			of, _ := protocol.LookupCommand(c.Name)
			return of.Object == protocol.Breakpoints
		})
	default:
		for _, n := range q.Args.Breakpoints {
			m.forget(n)
		}
	}
}

// rememberLine adds a line for gdb, in place of an equal one.
func (m *Machine) rememberLine(q *request.Request) {
	m.journal = slices.DeleteFunc(m.journal, func(c protocol.Command) bool { return c.Name == "gdb" && c.Args.Text == q.Args.Text })
	m.journal = append(m.journal, protocol.Command{Name: "gdb", Args: q.Args})
}

// forget removes all commands about a breakpoint that does not exist any more.
func (m *Machine) forget(number int) {
	m.journal = slices.DeleteFunc(m.journal, func(c protocol.Command) bool {
		return number != 0 && (c.Args.Breakpoint == number || c.Args.ChangesOnly(number))
	})
}

// canBeRescued reports whether another gdb may take over the rank.
func (m *Machine) canBeRescued() bool {
	late := m.rescue.under && m.now >= m.rescue.bound.until
	return !m.State.IsOver() && !m.ending.killing && !m.ending.leaving && m.rescue.count < mostRescues && !late
}

// orphaned processes the end of gdb if another one will take over.
func (m *Machine) orphaned(now time.Duration, cause string) {
	m.now = now
	m.rescue.count++
	m.rescue.cause = cause
	switch {
	case m.rescue.under: // this gdb was about to take over
		m.Event(protocol.KindNote, protocol.Note{Text: "gdb died (" + cause + ") while it took the rank over; another one is started"})
		return
	case m.State == backend.Attaching && m.run == nil:
		m.Event(protocol.KindNote, protocol.Note{Text: "gdb died (" + cause + ") before it had the rank under control; another one is started"})
		return
	}
	m.beginRescue()
	m.moving = nil
	stopping := m.watch.unheard != nil || m.run != nil && m.run.interrupted
	// Without a run the stop of the rank is about to be reported.
	m.rescue.running = m.run != nil && !stopping && (m.State == backend.Running || m.run.silent || m.State == backend.Attaching)
	m.rescue.away, m.rescue.seeks = m.attach.away, m.attach.seeks
	m.rescue.journal, m.journal = m.journal, nil
	if m.State == backend.Attaching || !m.rescue.running {
		// a stopped rank runs now; reported before the failures, so that a user can
		// wait for it
		m.Event(protocol.KindRunning, struct{}{})
	}
	m.rescue.detach = m.ending.detach
	for _, q := range slices.Clone(m.Open) {
		switch {
		case q.Name == "detach": // the new gdb does it
			m.rescue.detach = q
		case q.Name == "interrupt": // the rank is stopped
			m.Done(q)
		default:
			m.Fail(q, &protocol.Fault{Kind: protocol.FaultEngine, Message: "gdb died (" + cause + ")", Hint: "another gdb takes the rank over: ask again"})
		}
	}
	m.State = backend.Attaching
}

// beginRescue starts the deadline for the gdbs that try to take over.
func (m *Machine) beginRescue() {
	m.rescue.under = true
	m.rescue.bound = LimitOf(m.now, cmp.Or(m.GDB.Bound.wait, rescueWait))
}

// TakeOver attaches with a new gdb, which the machine already has.
func (m *Machine) TakeOver(now time.Duration) {
	m.now = now
	m.threads, m.counted, m.points, m.signals, m.abort.read = nil, 0, breakpoints{}, nil, false
	m.run, m.watch, m.ending = nil, watch{}, ending{}
	m.held = nil
	m.values.Displays.GDBGone()
	m.identified = false
	m.Record = recording{Wanted: m.Record.Wanted}
	m.chosen = request.Selection{Thread: 1}
	m.journal = nil
	if m.rescue.under {
		m.GDB.Bound = m.rescue.bound
		m.ending.killAt = m.rescue.bound.until
		m.beginAttach(request.Internal("attach"), m.attach.stopAt, true)
		return
	}
	q := request.Internal("attach")
	if len(m.Open) > 0 {
		q = m.Open[0]
	}
	m.values.Displays.Forget() // see before
	m.beginAttach(q, m.attach.stopAt, true)
}

// rescued restores the state that the rank had when its gdb died.
func (m *Machine) rescued(first *values.Thread) {
	if m.moving != nil {
		m.ask(request.Internal("hand over"), func(a request.Answer) {
			m.recognize(a.Results)
			m.wake()
		}, "-list-thread-groups", m.group)
		return
	}
	if q := m.rescue.detach; q != nil {
		m.rescue.under, m.rescue.detach, m.ending.killAt = false, nil, 0
		m.detachAtOnce(q, nil)
		return
	}
	m.replay(m.rescue.journal, func() {
		switch {
		case !m.rescue.running:
			m.standsAgain(first)
		case m.rescue.seeks:
			m.runToProgram(request.Internal("launch"), m.runsAgain, func(string) { m.standsAgain(first) })
		case m.rescue.away != "":
			m.toFirstStop(first)
		default:
			m.runsAgain()
		}
	})
}

// toFirstStop lets the rank run to its first stop. If it is in main already and was to
// stop there, it has passed that place and stays where it is.
func (m *Machine) toFirstStop(first *values.Thread) {
	m.ask(request.Internal("launch"), func(a request.Answer) {
		for v := range a.Results.Path("stack").Fields.All("frame") {
			if m.rescue.away == stopAtMain && v.Fields.Str("func") == "main" {
				m.standsAgain(first)
				return
			}
		}
		m.breakAtStart(request.Internal("launch"), m.rescue.away, func(a request.Answer) {
			if a.Failed() {
				m.standsAgain(first)
				return
			}
			m.points.claim(0, m.rescue.away, a.Results.Path("bkpt").Fields)
			m.attach.away = m.rescue.away
			m.runsAgain()
		})
	}, "-stack-list-frames", "--thread", m.GDBThread(first.ID), "0", "999")
}

// standsAgain reports the rank as stopped after a new gdb has taken over.
func (m *Machine) standsAgain(first *values.Thread) {
	reason := "attached"
	if m.IsCore() {
		reason = ""
	}
	if m.takenOver() {
		m.stopNamed(first, reason)
	}
}

// runsAgain resumes the rank; to the user it is running.
func (m *Machine) runsAgain() {
	if m.takenOver() {
		m.State = backend.Stopped
		m.resumeAll(request.Internal("continue"))
		m.run.silent = true
	}
}

// takenOver ends the recovery, unless the rank has ended meanwhile.
func (m *Machine) takenOver() bool {
	if m.State.IsOver() {
		return false
	}
	text := "another one has taken the rank over, with its breakpoints. It may have run on a little"
	if m.IsCore() {
		text = "another one has opened the core file"
	}
	m.rescue.under, m.ending.killAt = false, 0
	m.watchAbort()
	if m.rescue.alive {
		m.rescue.alive = false
		m.Event(protocol.KindNote, protocol.Note{Text: "the rank has a gdb of its own now: of the one that it shared, " + m.rescue.cause + ". It may have run on a little"})
		return true
	}
	m.Event(protocol.KindNote, protocol.Note{Text: "gdb died (" + m.rescue.cause + "); " + text})
	return true
}

// abandoned reports the rank as lost if no gdb can take over.
func (m *Machine) abandoned(why string) {
	m.rescue.under = false
	cause := "gdb died (" + m.rescue.cause + "), and no other could take the rank over: " + why
	if m.moving != nil {
		cause = "the gdb that the rank was to get for " + m.moving.why + " could not take it over: " + why
	}
	m.Event(protocol.KindLost, protocol.Missing{Cause: cause})
	m.finish(m.State)
}
