// Detaches from a traced starter, or kills it.

package mpir

import "syscall"

// halt stops all running threads, so that nothing happens until the release, and no thread can hit
// a breakpoint of the tracer.
func (t *tracer) halt() {
	for tid, e := range t.known {
		if !e.stopped {
			t.haltThread(tid)
		}
	}
}

// removeBreakpoints removes the breakpoints. It is called after halt; from then on the starter can
// run even if this process ends. held is the thread that is stopped at MPIR_Breakpoint.
func (t *tracer) removeBreakpoints(held int) {
	t.at.remove(t.starter.pid)
	setCounter(held, t.at.addr)
	t.at = breakpoint{}
	for tid, e := range t.known {
		if e.entry.addr != 0 {
			e.entry.remove(tid)
			e.entry = breakpoint{}
		}
	}
}

// haltThread stops one thread by a SIGSTOP that is not delivered to it. Signals that arrive before
// the SIGSTOP are delivered.
func (t *tracer) haltThread(tid int) {
	e := t.known[tid]
	if !e.fresh && sendStop(tid) != nil {
		return
	}
	for {
		got, err := t.wait(tid)
		if err != nil || t.known[got] == nil {
			return // the thread has ended
		}
		sig := t.status.StopSignal()
		switch {
		case sig == syscall.SIGSTOP && t.status.TrapCause() <= 0 && (e.fresh || !t.groupStop(tid)):
			e.fresh, e.stopped = false, true
			return
		case sig == syscall.SIGTRAP && t.status.TrapCause() > 0:
			sig = 0
			if t.status.TrapCause() == syscall.PTRACE_EVENT_EXEC {
				break
			}
			if child, isNew := t.born(tid); isNew {
				t.haltThread(child)
			}
		case sig == syscall.SIGTRAP && t.hit(tid, t.at.addr):
			setCounter(tid, t.at.addr) // it executes the instruction again after the release
			sig = 0
		case sig == syscall.SIGTRAP && t.hit(tid, e.entry.addr):
			e.entry.remove(tid)
			setCounter(tid, e.entry.addr)
			e.entry = breakpoint{}
			sig = 0
		}
		t.resume(tid, sig)
	}
}

// sendStop sends SIGSTOP to one thread.
func sendStop(tid int) error {
	_, _, err := syscall.RawSyscall(syscall.SYS_TKILL, uintptr(tid), uintptr(syscall.SIGSTOP), 0)
	if err != 0 {
		return err
	}
	return nil
}

// release detaches from all threads. It is called after removeBreakpoints.
func (t *tracer) release() {
	for tid := range t.known {
		syscall.PtraceDetach(tid)
	}
}

// abandon kills the command and all traced threads.
func (t *tracer) abandon() {
	syscall.Kill(-t.root, syscall.SIGKILL)
	for tid := range t.known {
		syscall.Kill(tid, syscall.SIGKILL)
	}
}

// reap waits for the end of the command. It waits for all traced threads: a thread that was killed
// before it could be detached stays traced, and the end of the command is not reported before its
// threads have ended (ptrace(2)).
func (t *tracer) reap() {
	for {
		tid, err := t.wait(-1)
		if err != nil {
			return
		}
		if t.status.Stopped() { // it was killed while it was stopped
			t.resume(tid, t.status.StopSignal())
		}
	}
}
