// Processes that were attached to, after their gdb has ended.

package gdb

import (
	"syscall"

	"sdm/backend/gdb/inferior"
)

// Custody registers attached processes and gdbs, to release the processes if this process
// is killed. custody.Custodian implements it.
type Custody interface {
	// Process registers a process before it is attached to. stopped says that it is
	// stopped by a signal already.
	Process(pid int, stopped bool)
	// Debugger registers a gdb before it is told to attach.
	Debugger(pid int)
	// Forget removes a process or a gdb.
	Forget(pid int)
	// Close waits until the resources of the implementation are released.
	Close()
}

// noCustody does nothing.
type noCustody struct{}

func (noCustody) Process(int, bool) {}
func (noCustody) Debugger(int)      {}
func (noCustody) Forget(int)        {}
func (noCustody) Close()            {}

// isAttached reports whether the process of an entry was not started by sdm: it must be
// left as it was found.
func (s *rankEntry) isAttached() bool { return !s.machine.Target.Held && !s.machine.IsCore() }

// isAttached reports whether the processes of a gdb were not started by sdm.
func (k *gdbProcess) isAttached() bool { return len(k.entries) > 0 && k.entries[0].isAttached() }

// register registers a process that is about to be attached to with the custodian.
func (l *loop) register(s *rankEntry) {
	if s.isAttached() {
		l.custody.Process(s.machine.Target.PID, s.stopped)
	}
}

// continued records that a process that was stopped before was continued by the user.
func (l *loop) continued(s *rankEntry, sig syscall.Signal) {
	if sig == syscall.SIGCONT && s.stopped {
		s.stopped = false
		l.register(s)
	}
}

// release makes a process whose gdb has ended run as before. If gdb was killed, or the
// process was stopped for another gdb that has not come, the forker removes
// breakpoints, which takes a while.
func (l *loop) release(s *rankEntry, crashed bool) {
	if !s.isAttached() || s.released {
		return
	}
	s.released = true
	pid, stopped, halted := s.target.PID(), s.stopped, s.halted
	if !crashed && !halted {
		s.target.ContinueDetached(stopped)
		l.custody.Forget(pid)
		return
	}
	target := inferior.Open(pid)
	if s.target.Gone() { // its ID may have been reused
		target.Close()
		l.custody.Forget(pid)
		return
	}
	l.forker.do(func() {
		if err := target.Undo(stopped, halted); err != nil && l.e.cfg.Log != nil {
			l.e.cfg.Log.Warn("breakpoints of a gdb that was killed may be left", "process", pid, "err", err)
		}
		target.Close()
		l.custody.Forget(pid)
	})
}
