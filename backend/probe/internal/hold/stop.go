// Stopping the threads of a process, and resuming them.

package hold

import (
	"fmt"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"sdm/backend/probe/internal/kernelcall"
	"sdm/backend/probe/internal/proc"
)

// prepare allocates what is needed while the process is held.
func (p *Process) prepare() {
	p.task = fmt.Sprintf("/proc/%d/task", p.PID)
	p.copied = make([]int, 0, len(p.Threads))
}

// seize attaches to the threads that are not known yet (PTRACE_SEIZE). It returns whether there were any.
func (p *Process) seize() (some bool) {
	if p.known == nil {
		p.known = map[int]bool{}
	}
	tids := Threads(p.PID)
	if p.Threads == nil {
		p.Threads = make([]Thread, 0, len(tids))
	}
	for _, tid := range tids {
		if p.known[tid] {
			continue
		}
		some, p.known[tid] = true, true
		t := Thread{TID: tid, Call: kernelcall.Call{Number: kernelcall.None}}
		switch {
		case p.Tracer.yields(): // it stops the other threads, too
			t.Why = p.Tracer.Why()
		case len(p.Threads) >= maxHeld:
			t.Why = tooMany
		default:
			t.Why = p.seizeOne(tid)
			t.seized = t.Why == ""
		}
		p.Threads = append(p.Threads, t)
	}
	return some
}

// complete reports whether all threads of the process are known: the link count of the directory
// /proc/PID/task is the number of threads plus two.
func (p *Process) complete() bool {
	var st unix.Stat_t
	n := 0
	for i := range p.Threads {
		if p.Threads[i].Why != ended {
			n++
		}
	}
	return unix.Stat(p.task, &st) == nil && int(st.Nlink) == n+2
}

// ended is the Why of a thread that has ended.
const ended = "ended"

// interrupt requests the stop of all threads that have not stopped.
func (p *Process) interrupt() {
	for i := range p.Threads {
		if t := &p.Threads[i]; t.seized && !t.stopped {
			_ = unix.PtraceInterrupt(t.TID) // poll notices a thread that has ended
		}
	}
}

// maxRounds bounds how often stopAll looks for new threads.
const maxRounds = 100

// stopAll waits until all threads have stopped, including those that are started during the wait.
func (p *Process) stopAll(deadline time.Time) {
	for range maxRounds {
		p.wait(deadline)
		if p.complete() || !p.seize() {
			break
		}
		p.interrupt()
	}
	p.giveUp()
}

// giveUp says of threads why they have not stopped.
func (p *Process) giveUp() {
	for i := range p.Threads {
		if t := &p.Threads[i]; t.seized && !t.stopped {
			t.Why = notStopped + proc.StatusOf(p.PID, t.TID).State
		}
	}
}

// notStopped begins the Why of a thread that has not stopped in time; its state follows.
const notStopped = "in state "

// Late reports whether some thread could have been stopped and was not, as on a machine with too much load. Those in
// uninterruptible sleep cannot be stopped.
func (p *Process) Late() bool {
	return slices.ContainsFunc(p.Threads, func(t Thread) bool { return t.seized && !t.stopped && t.Why != notStopped+"D" })
}

const (
	briefly  = 300 * time.Microsecond // during which wait yields the processor between polls
	pollEach = 50 * time.Microsecond  // pause between polls afterwards
	diskWait = 5 * time.Millisecond   // after which threads in state D are not waited for
)

// wait waits until all seized threads have stopped or the deadline has passed, or until only threads in
// uninterruptible sleep have not stopped for diskWait.
func (p *Process) wait(deadline time.Time) {
	for begin := time.Now(); p.poll(); {
		now := time.Now()
		waited := now.Sub(begin)
		if now.After(deadline) || waited > diskWait && p.onlyDisk() {
			return
		}
		if waited < briefly {
			_, _, _ = unix.RawSyscall(unix.SYS_SCHED_YIELD, 0, 0, 0)
		} else {
			rest := unix.NsecToTimespec(int64(pollEach))
			_ = unix.Nanosleep(&rest, nil) // a signal may end it early
		}
	}
}

// onlyDisk reports whether all threads that have not stopped wait uninterruptibly.
func (p *Process) onlyDisk() bool {
	for _, t := range p.Threads {
		if !t.seized || t.stopped {
			continue
		}
		if proc.StatusOf(p.PID, t.TID).State != "D" {
			return false
		}
	}
	return true
}

// poll asks the kernel for each thread whether it has stopped; it returns whether some have not. It calls
// wait4 for single threads only, since this process has other children.
func (p *Process) poll() (pending bool) {
	for i := range p.Threads {
		t := &p.Threads[i]
		if !t.seized || t.stopped {
			continue
		}
		var status unix.WaitStatus
		tid, err := unix.Wait4(t.TID, &status, unix.WALL|unix.WNOHANG, nil)
		switch {
		case err == unix.EINTR || err == nil && tid == 0:
			pending = true
		case err != nil || status.Exited() || status.Signaled():
			t.seized, t.Why = false, ended
		case status.Stopped():
			t.stop(status)
		}
	}
	return pending
}

// stop records a stop. A stop without an event is the delivery of a signal, which the thread gets when it is
// detached (ptrace(2), Signal-delivery-stop).
func (t *Thread) stop(status unix.WaitStatus) {
	t.stopped = true
	if uint32(status)>>16 == 0 {
		t.signal = status.StopSignal()
	}
	t.StoppedBy = stopSignal(status)
	regs, pointer, call, err := registersOf(t.TID)
	if err != nil {
		t.Why = "registers: " + err.Error()
		return
	}
	t.Registers, t.Pointer, t.Call = regs, pointer, call
}

// release detaches all stopped threads, which resume. A thread in group-stop stays stopped.
func (p *Process) release() {
	for i := range p.Threads {
		if t := &p.Threads[i]; t.stopped {
			_, _, _ = unix.RawSyscall6(unix.SYS_PTRACE, unix.PTRACE_DETACH, uintptr(t.TID), 0, uintptr(t.signal), 0, 0)
		}
	}
}

// maxHeld bounds the threads of a process that are stopped at a time: to stop and resume one takes 20 to 60 µs.
const maxHeld = 512

// tooMany is the Why of the others until holdRest.
const tooMany = "one of too many"

// IsParted reports whether the process has too many threads to stop all of them at the same time.
func (p *Process) IsParted() bool { return len(p.Threads) > maxHeld }

// holdRest stops the threads of a process that were too many, some at a time, copies registers and stacks, and resumes
// them. The first ones run meanwhile.
func (p *Process) holdRest(patience time.Duration, each int, end func(sp uint64) uint64, buffer *Buffer) {
	for first := maxHeld; first < len(p.Threads) && !p.Tracer.yields(); first += maxHeld {
		part := Process{PID: p.PID, Threads: p.Threads[first:min(first+maxHeld, len(p.Threads))]}
		part.prepare()
		begin := time.Now()
		for i := range part.Threads {
			t := &part.Threads[i]
			t.Why = p.seizeOne(t.TID)
			t.seized = t.Why == ""
		}
		part.interrupt()
		part.wait(begin.Add(patience))
		part.giveUp()
		part.copyStacks(each, end, buffer)
		part.release()
		p.Held = max(p.Held, time.Since(begin))
	}
}
