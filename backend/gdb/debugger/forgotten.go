// Ranks that a shared gdb has forgotten.

package debugger

import (
	"strings"
	"time"

	"sdm/backend/gdb/inferior"
	"sdm/backend/gdb/request"
)

// If a thread of a rank forks while gdb stops the threads of another rank for a vfork, gdb 13 and 16 read the event
// and never process it (infrun.c, handle_one: the thread is not resumed, and restart_threads only resumes threads of
// the other rank). The rank stays stopped for ever, gdb reports it as running, and an interrupt has no effect. Only the
// kernel shows it: its tracer keeps the thread stopped, and gdb is idle. Such a rank gets a gdb of its own.

const (
	// How long threads may be stopped while gdb is idle; if gdb has reported that some have stopped; and if
	// they fork while gdb is busy, with symbols or with other ranks.
	stoppedIdle = time.Second
	stoppedTold = 3 * time.Second
	stoppedBusy = 10 * time.Second
	// forkCheck is the time until ranks are checked after another rank of their gdb has forked or was
	// detached from.
	forkCheck = time.Second / 4
)

// receiveFork makes all ranks of a shared gdb be checked soon if gdb's output reports that one has forked.
func (d *GDB) receiveFork(now time.Duration, text string) {
	if d.several && strings.HasPrefix(text, "[Detaching after ") {
		d.checkSoon(now)
	}
}

func (d *GDB) checkSoon(now time.Duration) {
	for _, m := range d.ranks {
		if r := m.run; r != nil && r.started {
			r.checkDelay = firstCheck
			r.checkAt = min(r.checkAt, now+forkCheck)
		}
	}
}

// stuckAfter returns how long threads may be stopped while gdb is idle; 0: for any time, as threads whose stops
// gdb has reported may.
func (rs *recovery) stuckAfter(held inferior.Stopped) time.Duration {
	switch r := rs.run; {
	case held.Forks || r.stuck > noticed || rs.saysAllRun():
		return stoppedIdle
	case r.interrupted && held.All:
		return stoppedTold
	}
	return 0
}

// detachStuck takes the next step of detaching gdb from the rank; another gdb then takes the rank over. A detach
// works, since gdb then reads the states of all threads. Each check that finds the rank stuck takes one step; a gdb
// that has not detached after two is replaced. still says that no thread runs: then the rank gets SIGSTOP before the
// detach, so that it does not execute anything in between, otherwise after it.
func (rs *recovery) detachStuck(still bool) {
	const cause = "it had lost track of a thread of the rank"
	r := rs.run
	r.stuck++
	r.checkAt = min(r.checkAt, rs.now+forkCheck)
	switch r.stuck {
	case halting:
		rs.Tell("interrupt", "-exec-interrupt", "--thread-group", rs.threadGroup)
		return
	case detached:
	default:
		rs.GDB.replace("ended: " + cause)
		return
	}
	r.checkAt = rs.now + stoppedIdle
	for _, number := range rs.points.Existing() {
		rs.Tell("delete", "-break-delete", number)
	}
	stop := func() { rs.send(ToTarget, sigStop) }
	if still {
		stop()
	}
	rs.termination.detachFrom(request.Internal("detach"), func(a request.Answer) {
		switch {
		case rs.State.IsOver():
		case a.Failed():
			rs.GDB.replace("ended: " + cause)
		default: // also if its threads have stopped meanwhile
			steps := rs.run != nil && rs.run.thread != 0
			rs.orphaned(rs.now, death{cause: cause})
			rs.alive = true
			rs.running = rs.running && !steps // the place where a step was to end is lost
			rs.GDB.checkSoon(rs.now)
			if !still {
				stop()
			}
			rs.Out.Move = true
		}
	})
}

// saysAllRun reports whether gdb says that all threads run.
func (rs *recovery) saysAllRun() bool {
	for _, t := range rs.threads {
		if !t.Running {
			return false
		}
	}
	return rs.run.outstanding == 0 && rs.GDB.Calls.current() == nil
}
