// What threads wait for that are not in calls of MPI.

package sampler

import (
	"path/filepath"
	"slices"
	"strconv"
	"syscall"

	"sdm/backend/probe/internal/hold"
	"sdm/backend/probe/internal/kernelcall"
	"sdm/backend/probe/internal/proc"
	"sdm/backend/probe/internal/snapshot"
	"sdm/backend/probe/internal/unwind"
	"sdm/protocol/stack"
	"sdm/protocol/wait"
)

// futex is memory from the word on for which a thread waits, as it was while the process was held.
type futex struct {
	bytes [kernelcall.FutexSize]byte
	read  bool
}

// copyFutexes copies the futexes for which threads wait, and returns them by thread ID. It is called while the process
// is held.
func copyFutexes(held *hold.Process) map[int]*futex {
	var waiting []*hold.Thread
	for i := range held.Threads {
		c := held.Threads[i].Call
		isFutex := c.Number == kernelcall.FutexCall || c.Number == kernelcall.Restart
		// A thread that sleeps has the number of a clock there, and to read that takes a call each.
		if isFutex && c.Args[0] >= pageSize {
			waiting = append(waiting, &held.Threads[i])
		}
	}
	if len(waiting) == 0 {
		return nil
	}
	all := make([]futex, len(waiting))
	hold.Memory(held.PID).ReadMany(len(all), func(i int) (uint64, []byte) {
		return waiting[i].Call.Args[0], all[i].bytes[:]
	}, func(i int) { all[i].read = true })
	futexes := make(map[int]*futex, len(all))
	for i, t := range waiting {
		futexes[t.TID] = &all[i]
	}
	return futexes
}

// team is the threads of one process and what they wait for.
type team struct {
	*reading
	frames    [][]stack.Frame   // of the threads of shot, outermost first
	tids      []int             // in the order of compare: the number of a thread is its index here, and one
	inner     map[int]int       // thread IDs by the IDs that the process knows; nil: they are the same
	waits     []kernelcall.Wait // of the threads of shot
	waitFor   []int             // number of the thread for which a thread of shot waits; 0: none
	wantsLock []bool            // which threads of shot wait for the lock of Python
}

// newTeam finds out what the threads of a process wait for.
func newTeam(r *reading, frames [][]stack.Frame) *team {
	n := len(r.shot.Threads)
	m := &team{reading: r, frames: frames, waits: make([]kernelcall.Wait, n),
		waitFor: make([]int, n), wantsLock: make([]bool, n)}
	for i := range r.shot.Threads {
		m.tids = append(m.tids, r.shot.Threads[i].TID)
	}
	slices.SortFunc(m.tids, m.compare)
	if len(r.futexes) > 0 && proc.StatusOf(r.pid, r.pid).Namespaces > 1 {
		m.inner = map[int]int{}
		for _, tid := range m.tids {
			m.inner[proc.StatusOf(r.pid, tid).Inner] = tid
		}
	}
	for i := range r.shot.Threads {
		switch c := m.call(i); c.Number {
		case kernelcall.FutexCall:
			m.futexWait(i, c)
		case kernelcall.None:
			if holder := r.interpreter.holder(r.shot.Threads[i].Pointer); holder != 0 && takesLock(frames[i]) {
				m.pythonWait(i, holder)
			}
		}
	}
	return m
}

// compare orders the IDs of threads: the first thread of the process, which may not have the lowest one since IDs
// start again from low numbers when they are used up, then the others ascending.
func (m *team) compare(a, b int) int {
	switch {
	case a == b:
		return 0
	case a == m.pid:
		return -1
	case b == m.pid:
		return 1
	}
	return a - b
}

// number returns the number of a thread; 0: there is none with this ID.
func (m *team) number(tid int) int {
	i, found := slices.BinarySearchFunc(m.tids, tid, m.compare)
	if !found {
		return 0
	}
	return i + 1
}

// index returns the index in shot of the thread with a number.
func (m *team) index(number int) int {
	return slices.IndexFunc(m.shot.Threads, func(t snapshot.Thread) bool { return t.TID == m.tids[number-1] })
}

// outer returns a thread ID as we know it, by one that the process knows.
func (m *team) outer(tid int) int {
	if m.inner == nil {
		return tid
	}
	return m.inner[tid]
}

// call returns the system call in which a thread waits. One that goes on after an interruption is found by the
// instruction before, which loads its number.
func (m *team) call(i int) kernelcall.Call {
	t := m.stopped[m.shot.Threads[i].TID]
	if t == nil {
		return kernelcall.Call{Number: kernelcall.None}
	}
	c := t.Call
	if c.Number == kernelcall.Restart {
		pc, _ := t.Registers.Get(hold.Machine.PC)
		b := make([]byte, kernelcall.LoadSize)
		if c.Number = kernelcall.None; m.shot.Memory().Read(pc-uint64(len(b)), b) {
			c.Number = kernelcall.Loaded(b)
		}
		if c.Number == kernelcall.None {
			c.Number = kernelcall.Restarted(innerFunctions(m.frames[i]))
		}
	}
	return c
}

// futexWait determines what a thread waits for in futex(2).
func (m *team) futexWait(i int, c kernelcall.Call) {
	tid := m.shot.Threads[i].TID
	if holder, ok := m.interpreter.lockAt(c.Args[0]); ok {
		m.pythonWait(i, holder)
		return
	}
	if m.waitsInOpenMP(i) { // see inOpenMP
		return
	}
	f := kernelcall.Futex{Call: c, Functions: innerFunctions(m.frames[i])}
	if x := m.futexes[tid]; x != nil && x.read {
		f.Memory = x.bytes[:]
	}
	f.Exists = func(tid int) bool {
		if m.number(m.outer(tid)) != 0 {
			return true
		}
		return f.Shared() && m.inner == nil && proc.ProcessOf(tid) != 0
	}
	if f.Shared() {
		f.Described = m.described(c.Args[0])
	}
	w, owner := f.Of()
	if owner != 0 {
		if m.waitFor[i] = m.number(m.outer(owner)); m.waitFor[i] == 0 {
			w.For, w.Object = proc.ProcessOf(owner), "mutex in shared memory"
			w.Detail = m.host.peer(w.For).String() + " holds it"
		} else if w.Does == kernelcall.EndOfThread {
			w.Does = "waits for the end of thread " + strconv.Itoa(m.waitFor[i])
		}
	}
	if _, called := m.ofUser(i); called != "" {
		w.Does = "waits " + called
	}
	m.waits[i] = w
}

// pythonWait records that a thread waits for the lock of its interpreter, which the thread with the pointer holder has;
// 0: it is not known which.
func (m *team) pythonWait(i int, holder uint64) {
	m.wantsLock[i] = true
	m.waits[i] = kernelcall.Wait{Does: "waits for the lock of Python"}
	for k := range m.shot.Threads {
		if holder != 0 && m.shot.Threads[k].Pointer == holder && k != i {
			m.waits[i].Lock, m.waitFor[i] = true, m.number(m.shot.Threads[k].TID)
		}
	}
}

// described is kernelcall.Futex.Described of an address.
func (m *team) described(addr uint64) int {
	i := slices.IndexFunc(m.shot.Threads, func(t snapshot.Thread) bool {
		return t.Pointer != 0 && addr-t.Pointer < kernelcall.DescriptorSize
	})
	switch {
	case i < 0:
		return 0
	case m.inner == nil:
		return m.shot.Threads[i].TID
	}
	return proc.StatusOf(m.pid, m.shot.Threads[i].TID).Inner
}

// innerFunctions returns the functions of a thread, innermost first, as in kernelcall.Futex.
func innerFunctions(frames []stack.Frame) (all []string) {
	const most = 16
	for i := len(frames) - 1; i >= 0 && len(all) < most; i-- {
		text := frames[i].Func
		if frames[i].From != "" {
			text += " from " + filepath.Base(frames[i].From)
		}
		all = append(all, text)
	}
	return all
}

// thread returns what the thread of shot with an index does.
func (m *team) thread(i int) wait.Thread {
	t := &m.shot.Threads[i]
	c, w := m.complete(i), &m.waits[i]
	out := wait.Thread{Number: m.number(t.TID), State: wait.Running, Frames: m.framesText(i)}
	if t.TID != m.pid {
		if name := proc.Name(t.TID); name != proc.Name(m.pid) {
			out.Name = kernelcall.Shown(name)
		}
	}
	if c.Number != kernelcall.None || m.wantsLock[i] {
		out.State = wait.Sleeping
	}
	if t.Why == "in state D" {
		out.State = wait.Disk
	}
	out.Does, out.Detail, out.For, out.Lock = w.Does, w.Detail, m.waitFor[i], w.Lock
	if out.State == wait.Disk && out.Detail == "" {
		if f := proc.Kernel(m.pid, t.TID); f != "" {
			out.Detail = "it cannot be interrupted in " + f + " of the kernel"
		}
	}
	return out
}

// inOpenMP adds to a thread that waits in a runtime of OpenMP the thread for which it waits: one that has come from the
// runtime and is outside of it.
func (m *team) inOpenMP(i int) {
	if !m.waitsInOpenMP(i) {
		return
	}
	for number := range len(m.tids) {
		k := m.index(number + 1)
		if k != i && m.cameFromOpenMP(k) && !m.waitsInOpenMP(k) {
			m.waits[i] = kernelcall.Wait{Does: "waits for thread " + strconv.Itoa(number+1) + " of OpenMP"}
			m.waitFor[i] = number + 1
			return
		}
	}
}

// complete determines what a thread waits for, unless newTeam has, and returns the system call in which it waits.
func (m *team) complete(i int) kernelcall.Call {
	c, w := m.call(i), &m.waits[i]
	if w.Does == "" && m.waitFor[i] == 0 {
		if *w = kernelcall.Of(c, asking{m.reading}); c.Number == kernelcall.FutexCall {
			w.Does = "waits for other threads of OpenMP"
		}
		m.inOpenMP(i)
	}
	return c
}

// first returns the index of the first thread; -1: it is not there.
func (m *team) first() int {
	return slices.IndexFunc(m.shot.Threads, func(t snapshot.Thread) bool { return t.TID == m.pid })
}

// halted sets by what a process is stopped; false: it is not stopped.
func (m *team) halted(d *wait.Doing, first int) bool {
	switch m.state {
	case wait.Stopped:
		if first < 0 {
			return true
		}
		if t := m.stopped[m.pid]; t != nil && t.StoppedBy != 0 {
			d.Does = "is stopped by " + proc.SignalName(t.StoppedBy)
		}
	case wait.Traced:
		if t := m.held.Tracer; t.TID > 0 {
			d.Does = "is stopped by a debugger"
			d.Detail = kernelcall.Peer{PID: t.TID, Name: kernelcall.Shown(t.Name)}.String() + " traces it"
		}
	default:
		return false
	}
	return true
}

// peer returns the process for which the first thread waits, and what it has; 0: none is known.
func (m *team) peer() (pid int, object string) {
	i := m.first()
	if i < 0 {
		return 0, ""
	}
	return m.waits[i].For, m.waits[i].Object
}

// framesText returns the innermost functions of the thread of shot with an index.
func (m *team) framesText(i int) string {
	frames, _ := m.ofUser(i)
	return framesText(frames, "", m.signal(i))
}

// signal names the signal whose handler a thread executes; with several handlers, of the innermost. "a signal" if it is
// not known.
func (m *team) signal(i int) string {
	t := &m.shot.Threads[i]
	for _, f := range t.Stack.Frames {
		if f.Signal {
			status := proc.StatusOf(m.pid, t.TID)
			n := kernelcall.Handled(m.shot.Memory(), f.SP, status.Blocked, status.Caught)
			if n != 0 && hold.Machine.PC == unwind.AMD64.PC {
				return proc.SignalName(syscall.Signal(n))
			}
			break
		}
	}
	return "a signal"
}

// chain returns the numbers of the threads for which a thread waits, one after the other, until one is there again.
func (m *team) chain(number int) (numbers []int) {
	for {
		i := m.index(number)
		m.complete(i) // so that threads of OpenMP are seen
		number = m.waitFor[i]
		if number == 0 || slices.Contains(numbers, number) {
			return numbers
		}
		numbers = append(numbers, number)
	}
}

// cycles returns the numbers of the threads that wait for one another.
func (m *team) cycles() (numbers []int) {
	for start := range m.waitFor {
		number := m.number(m.shot.Threads[start].TID)
		var path []int
		for next := m.waitFor[start]; next != 0 && len(path) < wait.MaxThreads; next = m.waitFor[m.index(next)] {
			if path = append(path, next); next == number {
				numbers = append(numbers, path...)
				break
			}
		}
		if len(numbers) >= wait.MaxThreads {
			break
		}
	}
	return numbers
}
