// What becomes of processes that a gdb was attached to, when it has ended.

package gdb

import (
	"errors"
	"syscall"

	"sdm/backend/gdb/inferior"
)

// Custody is told of the processes that gdbs attach to, and of the gdbs, so that somebody can
// release them if we are killed: custody.Custodian.
type Custody interface {
	// Process tells of one before it is attached to. stopped tells that it is stopped by a
	// signal already.
	Process(pid int, stopped bool)
	// Debugger tells of a gdb before it is told to attach.
	Debugger(pid int)
	// Forget tells that one of them needs nothing any more.
	Forget(pid int)
	// Close waits until nothing is left.
	Close()
}

// noCustody is nobody.
type noCustody struct{}

func (noCustody) Process(int, bool) {}
func (noCustody) Debugger(int)      {}
func (noCustody) Forget(int)        {}
func (noCustody) Close()            {}

// isAttached tells whether the process of a slot is not ours: it must be left as it was found.
func (s *slot) isAttached() bool { return !s.machine.target.Held && !s.machine.isCore() }

// isAttached tells whether those of a keeper are.
func (k *keeper) isAttached() bool { return len(k.slots) > 0 && k.slots[0].isAttached() }

// hold notes a process that is about to be attached to.
func (l *loop) hold(s *slot) {
	if s.isAttached() {
		l.custody.Process(s.machine.target.PID, s.stopped)
	}
}

// thawed notes that a process runs at the person's will that was stopped before.
func (l *loop) thawed(s *slot, sig syscall.Signal) {
	if sig == syscall.SIGCONT && s.stopped {
		s.stopped = false
		l.hold(s)
	}
}

// errReleased ends an order that starts no gdb.
var errReleased = errors.New("released")

// release sees that a process whose gdb is gone runs as it did before. Where gdb was killed, or the process
// was stopped for another gdb that has not come, breakpoints are looked for, which takes a while: the
// forker does it.
func (l *loop) release(s *slot, crashed bool) {
	if !s.isAttached() || s.released {
		return
	}
	s.released = true
	pid, stopped, halted := s.target.PID(), s.stopped, s.halted
	if !crashed && !halted {
		s.target.Settle(stopped)
		l.custody.Forget(pid)
		return
	}
	target := inferior.Open(pid)
	if s.target.Gone() { // the number may be that of another by now
		target.Close()
		l.custody.Forget(pid)
		return
	}
	l.forker.start(order{
		before: func() error {
			if err := target.Undo(stopped, halted); err != nil && l.e.cfg.Log != nil {
				l.e.cfg.Log.Warn("breakpoints of a gdb that was killed may be left", "process", pid, "err", err)
			}
			target.Close()
			return errReleased
		},
		done: func(*process, error) { l.custody.Forget(pid) },
	})
}
