// What ranks wait for.

package sampler

import (
	"slices"
	"strings"
	"time"

	"sdm/backend/probe/internal/hold"
	"sdm/backend/probe/internal/snapshot"
	"sdm/protocol/digest"
	"sdm/protocol/stack"
	"sdm/protocol/wait"
)

// Waits is what a process waits for.
type Waits struct {
	wait.Rank
	Marks
	// Peer is the process that can end the wait of the first thread, and Object what it has; 0: none is known.
	Peer   int
	Object string

	inCall   bool         // a thread is in a call of MPI or torch.distributed
	size     int          // of MPI_COMM_WORLD
	numbered bool         // the library numbers its messages, and the numbers are in stamp
	inTorch  bool         // a thread is in a call of torch.distributed
	polling  map[int]bool // threads that poll its connections
	parted   bool         // its threads were not held at the same time, since there are too many
}

// Marks are what is compared of two samples of a process. A mark of 0 is not known.
type Marks struct {
	// stamp changes if the process makes progress: if it makes another call of MPI, or if registers or stacks of the
	// functions that made the call change.
	stamp uint64
	// arrivals changes if a message reaches the process, or another process that shares memory with it.
	arrivals uint64
	// others changes if a thread of the program runs that is not in the call and not the first one. It may send what
	// other ranks wait for. 0: there is none, or none is in a call.
	others uint64
	// children changes if a child of the process makes progress. 0: there is none, or not all were read.
	children uint64
	runs     *runs // of a process in which a thread is in a call of torch.distributed
}

// Compare tells of a sample what follows from the last one of the same process that was held, whose marks are last.
// Then it sets them to the marks of this sample. ranks is the number of ranks of this host.
func (w *Waits) Compare(last *Marks, ranks int) {
	if w.Unheld {
		return
	}
	childMoved := last.children != 0 && w.children != 0 && last.children != w.children
	w.Moved = last.stamp != 0 && last.stamp != w.stamp || childMoved
	switch local := w.size <= ranks; {
	case w.inTorch:
		w.Doubt = !w.runs.slept(last.runs, w.polling)
	case w.inCall && !w.numbered: // messages of other hosts do not come by shared memory
		w.Doubt = !local || w.arrivals == 0 || w.arrivals != last.arrivals
	}
	otherRan := w.inCall && last.stamp != 0 && w.others != last.others // it may have sent what other ranks wait for
	w.Doubt = w.Doubt || w.parted || otherRan
	*last = w.Marks
}

// waits returns what a process waits for. frames are its stacks as they are shown, outermost frame first.
func (r *reading) waits(frames [][]stack.Frame) *Waits {
	w := &Waits{parted: r.held.IsParted()}
	w.Number, w.Numbered = r.number.value, r.number.known
	w.Unheld = r.held.Tracer.TID != 0 || r.held.Late()
	if r.held.Tracer.Passing {
		w.Doing = wait.Doing{State: wait.Unread, Detail: "it is " + r.held.Tracer.Why()}
		return w
	}
	w.Doing.State = r.state
	m := newTeam(r, frames)
	calls := m.libraryCalls()
	w.addCalls(calls)
	concerned := m.describe(&w.Doing, calls)
	w.Peer, w.Object = m.peer()
	if w.inTorch {
		w.runs, w.polling = r.runs, r.polling(r.shot)
	}
	if !w.Unheld { // else a part of the registers is missing
		w.stamp = m.stampOfCalls(calls, concerned)
	}
	switch {
	case w.inCall:
		w.others = m.stampOfOthers(calls)
		if !w.numbered {
			w.arrivals = r.arrivals()
		}
	case r.wasNotRead():
		w.Doing = wait.Doing{State: wait.Unread}
	}
	return w
}

// addCalls adds the calls of libraries for communication that threads are in.
func (w *Waits) addCalls(calls []libraryCall) {
	n := 0
	for i := range calls {
		if calls[i].isNone() {
			continue
		}
		before := len(w.Calls) + len(w.Waits)
		w.addCall(&calls[i])
		calls[i].waits = len(w.Calls)+len(w.Waits) > before
		n++
	}
	if w.inCall = n > 0; n > 1 {
		w.Doing.Calls = n
	}
}

// addCall adds the call that a thread is in. The states Running and Sleeping say nothing about a rank in a call:
// libraries spin or sleep while they wait.
func (w *Waits) addCall(c *libraryCall) {
	switch {
	case c.mpi != nil:
		if c.mpi.world.Err == nil {
			w.size = len(c.mpi.world.World)
		}
		w.numbered = c.mpi.sequenced
		w.addMPI(&c.mpi.wait, c.mpi.world)
		w.came(c.mpi.unexpected)
	case c.torch != nil:
		w.addTorch(c.torch)
	default:
		w.Waits = append(w.Waits, unknownMessage(c.unnamed.function))
	}
	if w.Doing.State == wait.Running || w.Doing.State == wait.Sleeping {
		w.Doing.State = wait.NotKnown
	}
}

// describe sets what the process does, by its first thread or the only one in a call, and the threads for which it
// waits. It returns the indices of these threads, and of those that wait for one another. calls are the calls of
// libraries that the threads are in: one that waits tells for what.
func (m *team) describe(d *wait.Doing, calls []libraryCall) (concerned []int) {
	first := m.first()
	told := first // the thread whose frames are told
	if caller := m.onlyCaller(calls); caller >= 0 && d.State == wait.NotKnown {
		told = caller
	}
	if told >= 0 {
		d.Frames = m.framesOutside(told, &calls[told])
	}
	if m.halted(d, first) {
		return nil
	}
	numbers := m.cycles()
	if first >= 0 && !calls[first].waits {
		t := m.thread(first)
		if told == first {
			d.Does, d.Detail, d.For, d.Lock = t.Does, t.Detail, t.For, t.Lock
			d.Left = int((m.waits[first].Left + time.Second - 1) / time.Second)
		}
		numbers = append(m.chain(t.Number), numbers...)
	}
	seen := map[int]bool{1: true} // the first thread is in d itself
	for _, n := range numbers {
		if seen[n] || len(d.Others) == wait.MaxThreads {
			continue
		}
		seen[n] = true
		i := m.index(n)
		d.Others, concerned = append(d.Others, m.thread(i)), append(concerned, i)
	}
	slices.SortFunc(d.Others, func(a, b wait.Thread) int { return a.Number - b.Number })
	return concerned
}

// wasNotRead reports whether a process runs and some thread of it could not be stopped. Such a thread may be
// in any call.
func (r *reading) wasNotRead() bool {
	return (r.state == wait.Running || r.state == wait.Sleeping || r.state == wait.NotKnown) &&
		slices.ContainsFunc(r.shot.Threads, func(t snapshot.Thread) bool { return t.Why != "" })
}

// maxShared bounds the mappings of shared memory that are looked at.
const maxShared = 4096

// arrivals returns a hash of the first page of each mapping of shared memory, which has the ends of the
// message queues of UCX. 0: there is no such mapping.
func (p *process) arrivals() uint64 {
	hash, n := digest.New(), 0
	page := make([]byte, pageSize)
	for i := range p.maps {
		m := &p.maps[i]
		shared := strings.HasPrefix(m.Path, "/SYSV") || strings.HasPrefix(m.Path, "/dev/shm/")
		if shared && m.Writable && n < maxShared && hold.Memory(p.pid).Read(m.Start, page) {
			hash.Add(page)
			n++
		}
	}
	if n == 0 {
		return 0
	}
	return hash.Sum()
}
