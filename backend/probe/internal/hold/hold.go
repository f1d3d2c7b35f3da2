// Package hold stops the threads of processes for the instant in which their registers and stacks
// are copied. It is the only part of the probe that calls ptrace.
package hold

import (
	"fmt"
	"runtime"
	"slices"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"sdm/backend/probe/internal/cfi"
	"sdm/backend/probe/internal/kernelcall"
	"sdm/backend/probe/internal/proc"
)

// Thread is one thread of a process, with copies of its registers and its stack.
type Thread struct {
	TID int
	// Registers are known as a whole if the thread was stopped. If it was not stopped, but waits in the
	// kernel, those of parseSyscall are known; otherwise none are.
	Registers cfi.Registers
	Pointer   uint64 // thread pointer: FS base on x86-64, TPIDR_EL0 on arm64; 0: not known
	// Why says why the thread was not stopped; "": it was.
	Why   string
	Stack Piece
	// Call is the system call in which the thread waits. It is not known on arm64.
	Call kernelcall.Call
	// StoppedBy is the signal that has stopped the process, such as SIGSTOP; 0: it is not stopped.
	StoppedBy syscall.Signal

	seized, stopped bool
	signal          syscall.Signal // that was being delivered at the stop; 0: none
}

// Known is what a debugger has told of a thread.
type Known struct {
	Registers cfi.Registers
	Pointer   uint64 // thread pointer; 0: not known
}

// Process is a process whose threads were stopped together.
type Process struct {
	PID     int
	Threads []Thread
	// Held is an upper bound of the time for which a thread was stopped: from before the first thread
	// was interrupted until after the last one was resumed.
	Held time.Duration
	// SignMask has the bits of return addresses that hold authentication codes (arm64).
	SignMask uint64
	// Tracer is what traces threads of the process in our place.
	Tracer Tracer

	known  map[int]bool // threads in Threads
	task   string       // directory of the threads
	copied []int        // indices of the threads whose stacks are copied
}

// Limits bound what Together copies, and how long it waits for threads to stop.
type Limits struct {
	Stack    int           // bytes of the stack of one thread
	All      int           // bytes of the stacks of all threads of all processes
	Patience time.Duration // the longest wait for all threads to stop
	Others   time.Duration // the longest wait for other tracers to let go, before anything is held; 0: there is none
}

// Defaults are limits that suffice for stacks of ten thousand frames and for threads that wait for a disk. Another sampler
// holds a process for some milliseconds.
var Defaults = Limits{Stack: 8 << 20, All: 64 << 20, Patience: 100 * time.Millisecond, Others: 300 * time.Millisecond}

// Steps are the functions of its caller that Together calls, by one goroutine.
type Steps struct {
	// StackEnd returns the end of the stack of process i that contains the stack pointer sp; 0: not known.
	StackEnd func(i int, sp uint64) uint64
	// Held is called while all threads of process i are stopped and their stacks have been copied;
	// nil: nothing is to be done. The process stays stopped until it returns.
	Held func(i int, p *Process)
	// Lasting are the tracers of the processes that are not waited for, as Process.Tracer had them; nil: there are none.
	Lasting []int
	// Known are registers of threads that a debugger has told. They complete those of threads with the same stack
	// pointer and program counter that could not be stopped.
	Known []Known
	// Buffer is the memory for the copies of the stacks, which are valid until it is used again; nil: a
	// new one is made.
	Buffer *Buffer
}

// Together stops all threads of processes, copies registers and stacks, and resumes them. A thread has one tracer: if
// another process traces some, nothing is stopped until it lets go, or Limits.Others has passed.
//
// It works on an operating system thread of its own, which ends afterwards: the kernel then detaches all
// threads that it still traces, as it does if this process is killed. Together starts one or two
// goroutines, and waits for them, and for the end of the thread if a thread is still traced.
func Together(pids []int, l Limits, s Steps) []Process {
	withoutStops()
	for wait := newRivals(l.Others, s.Lasting); ; {
		all := make([]Process, len(pids))
		for i, pid := range pids {
			all[i].PID = pid
		}
		rival := -1
		tid := onOwnThread(func() { rival = together(all, l, s, wait) })
		if slices.ContainsFunc(all, Process.isTraced) {
			awaitEnd(tid)
		}
		if rival < 0 {
			wait.judge(all)
			return all
		}
		wait.letGo(rival, &all[rival])
	}
}

// onOwnThread calls f on a thread of the operating system that ends afterwards, and returns its number.
func onOwnThread(f func()) (tid int) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // it is not unlocked, so that the thread ends with the goroutine
		if tid = unix.Gettid(); tid == unix.Getpid() {
			tid = onOwnThread(f) // the first thread never ends; it is locked here, so that f gets another one
			runtime.UnlockOSThread()
			return
		}
		f()
	}()
	<-done
	return tid
}

// longestEnd bounds the wait for the end of the thread of onOwnThread.
const longestEnd = time.Second

// awaitEnd waits until a thread of this process has ended.
func awaitEnd(tid int) {
	for begin := time.Now(); unix.Tgkill(unix.Getpid(), tid, 0) == nil && time.Since(begin) < longestEnd; {
		rest := unix.NsecToTimespec(int64(pollEach))
		_ = unix.Nanosleep(&rest, nil)
	}
}

// isTraced reports whether a thread of the process is still traced: one that has not stopped cannot be
// detached.
func (p Process) isTraced() bool {
	return slices.ContainsFunc(p.Threads, func(t Thread) bool { return t.seized && !t.stopped })
}

// together does the work of Together on the present thread, which becomes the tracer. It returns the index of a process
// whose tracer is to be waited for, before anything was stopped; -1: there is none. Samplers begin with the same
// process, so that one of them gets all.
func together(all []Process, l Limits, s Steps, wait *rivals) (rival int) {
	buffer := s.Buffer
	if buffer == nil {
		buffer = &Buffer{}
	}
	for _, i := range ascending(all) {
		all[i].seize()
		if wait.isRival(i, &all[i]) {
			return i
		}
		all[i].prepare()
	}
	buffer.prepare(count(all))
	begin := time.Now()
	deadline := begin.Add(l.Patience)
	for i := range all {
		all[i].interrupt()
	}
	for i := range all {
		all[i].stopAll(deadline)
	}
	each := max(min(l.Stack, l.All/max(count(all), 1)), 4096)
	for i := range all {
		all[i].readSigning()
		blocked := all[i].readBlocked(s.Known)
		all[i].copyStacks(each, func(sp uint64) uint64 { return s.StackEnd(i, sp) }, buffer)
		all[i].confirmBlocked(blocked)
		if s.Held != nil {
			s.Held(i, &all[i])
		}
		all[i].release()
		all[i].Held = time.Since(begin)
	}
	for i := range all {
		all[i].holdRest(l.Patience, each, func(sp uint64) uint64 { return s.StackEnd(i, sp) }, buffer)
	}
	return -1
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

// ascending returns the indices of processes in the order of their IDs.
func ascending(all []Process) []int {
	order := make([]int, len(all))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, k int) int { return all[i].PID - all[k].PID })
	return order
}

// readSigning sets SignMask, which is the same for all threads.
func (p *Process) readSigning() {
	for i := range p.Threads {
		if p.Threads[i].stopped {
			p.SignMask = signMask(p.Threads[i].TID)
			return
		}
	}
}

// count returns the number of threads.
func count(all []Process) (n int) {
	for _, p := range all {
		n += len(p.Threads)
	}
	return n
}

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
