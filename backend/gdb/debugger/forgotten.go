// Ranks that a shared gdb has forgotten.

package debugger

import (
	"strings"
	"time"

	"sdm/backend/gdb/inferior"
	"sdm/backend/gdb/request"
)

// Where a thread of a rank forks while gdb stops the threads of a neighbour for a vfork, gdb 13 and 16 take the event in
// and never come back to it (infrun.c, handle_one: the thread is not resumed, and restart_threads is about the
// neighbour alone). The rank stands for ever, gdb says that it runs, and an interrupt does nothing. Only the kernel
// knows: the thread is held by its tracer, and does not move while gdb is idle. Then the rank gets a gdb of its own.

// stoppedThreads is what the last look at a process that runs has shown.
type stoppedThreads struct {
	threads string // that its tracer holds, see inferior.Held; "" is none
	gdb     string // processor time of gdb
	since   time.Duration
}

const (
	heldIdle = time.Second      // how long threads may be stopped while gdb does nothing
	heldTold = 3 * time.Second  // … where it has told that some have stopped
	heldBusy = 10 * time.Second // … that fork, while it is busy, with symbols or with neighbours
	forkLook = time.Second / 4  // when ranks are looked at after one of their gdb has forked, or was let go
)

// receiveFork has all ranks of a shared gdb looked at when one of them has forked.
func (d *Debugger) receiveFork(now time.Duration, text string) {
	if d.several && strings.HasPrefix(text, "[Detaching after ") {
		d.lookSoon(now)
	}
}

func (d *Debugger) lookSoon(now time.Duration) {
	for _, m := range d.Machines {
		if r := m.run; r != nil && r.started {
			r.pause = firstLook
			r.lookAt = min(r.lookAt, now+forkLook)
		}
	}
}

// Checked takes what a check of a running process has shown, and the processor time of gdb.
func (m *Machine) Checked(now time.Duration, held inferior.Stopped, cpu string) {
	r := m.run
	if r == nil || !m.GDB.Shared() || m.State.IsOver() || m.termination.leaving {
		return
	}
	before := r.lastStopped
	r.lastStopped = stoppedThreads{threads: held.Threads, gdb: cpu, since: now}
	patience := m.recovery.patienceFor(held)
	if held.Threads == "" || patience == 0 {
		return
	}
	r.lookAt = min(r.lookAt, now+heldIdle)
	if before.threads != held.Threads {
		return
	}
	r.lastStopped.since = before.since
	took := now - before.since
	switch {
	case r.stuck == halting && !held.All && took < 2*heldIdle:
		r.lookAt = now + forkLook
	case r.stuck > noticed || took >= patience && before.gdb == cpu || took >= heldBusy && held.Forks:
		m.recovery.detachStuck(held.All)
	}
}

// patienceFor is how long threads may be stopped while gdb does nothing; 0 is for good, as those are of which it has told.
func (rs *recovery) patienceFor(held inferior.Stopped) time.Duration {
	switch r := rs.run; {
	case held.Forks || r.stuck > noticed || rs.saysAllRun():
		return heldIdle
	case r.interrupted && held.All:
		return heldTold
	}
	return 0
}

// forgotten is how far the parting of a rank from a gdb that has forgotten it has come.
type forgotten int

const (
	noticed  forgotten = iota
	halting            // its other threads are told to stop, so that none takes our SIGSTOP before gdb lets go
	detached           // gdb is told to let the rank go
)

// detachStuck has gdb let the rank go, which it can: it looks at all threads then, with what it has missed. Another
// gdb takes the rank over. Each look is a step; a gdb that has not answered in two is replaced. The rank is stopped once:
// before gdb lets it go where no thread runs, so that it carries out nothing in between, and else behind that.
func (rs *recovery) detachStuck(still bool) {
	const cause = "it had lost track of a thread of the rank"
	r := rs.run
	r.stuck++
	r.lookAt = min(r.lookAt, rs.now+forkLook)
	switch r.stuck {
	case halting:
		rs.Tell("interrupt", "-exec-interrupt", "--thread-group", rs.group)
		return
	case detached:
	default:
		rs.GDB.replace("ended: " + cause)
		return
	}
	r.lookAt = rs.now + heldIdle
	for _, p := range rs.points.list {
		if !p.gone {
			rs.Tell("delete", "-break-delete", p.gdb)
		}
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
		default: // also where its threads have come to a stop meanwhile
			steps := rs.run != nil && rs.run.thread != 0
			rs.orphaned(rs.now, cause)
			rs.alive = true
			rs.running = rs.running && !steps // where a step was to end, gdb has forgotten, too
			rs.GDB.lookSoon(rs.now)
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
	return rs.run.owed == 0 && rs.GDB.Calls.current() == nil
}
