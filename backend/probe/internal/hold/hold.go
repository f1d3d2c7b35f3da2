// Package hold stops the threads of processes for the instant in which their registers and stacks
// are copied. It is the only part of the probe that calls ptrace.
package hold

import (
	"slices"
	"syscall"
	"time"

	"sdm/backend/probe/internal/cfi"
	"sdm/backend/probe/internal/kernelcall"
)

// Thread is one thread of a process, with copies of its registers and its stack.
type Thread struct {
	TID int
	// Registers are known as a whole if the thread was stopped. If it was not stopped, but waits in the
	// kernel, the ones that parseSyscall returns are known; otherwise none are.
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

// Defaults are limits that suffice for stacks of ten thousand frames and for threads that wait for a disk. Another
// sampler holds a process for some milliseconds.
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
	// Known are registers of threads that a debugger has told. They complete the registers of threads with the same stack
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
