// What has changed in a rank since it was looked at before.

package probe

import (
	"slices"
	"strings"
	"time"

	"sdm/backend/probe/hold"
	"sdm/backend/probe/snapshot"
	"sdm/backend/probe/unwind"
	"sdm/protocol"
	"sdm/protocol/column"
	"sdm/protocol/digest"
	"sdm/protocol/rank"
	"sdm/protocol/stack"
)

const (
	// mostStates is how many different states of a thread are remembered. A thread that returns to one of
	// them, as one that calls MPI_Test without end does, is not taken to have made progress.
	mostStates = 16
	// mostThreads bounds the threads of a rank whose states are remembered.
	mostThreads = 4096
	// leastIO is the number of bytes from which on a rank has read or written something. Timers and
	// notifications within a process are 8 bytes each.
	leastIO = 64
	// leastTime is the processor time from which on the children of a rank have done something.
	leastTime = 20 * time.Millisecond
	// mostValue bounds the bytes of a variable that are compared.
	mostValue = 64 << 10
	// statusWait is how long the parent of a rank may take to wait for it, so that the kernel tells how it
	// has ended.
	statusWait = 200 * time.Millisecond
)

// signs are what is compared.
type signs struct {
	threads  map[int]uint64 // hashes of the states of threads, by thread ID
	messages uint64         // hash of what MPI counts; 0: not known
	value    uint64         // hash of the variable
	valued   bool           // the rank has the variable
}

// progress is what is remembered of a rank; the zero value is that of a rank that was not looked at.
type progress struct {
	states map[int][]uint64 // hashes of the last different states of each thread; nil: not looked at yet
	last   signs
	before tally
}

// tally is what the kernel counts of a rank.
type tally struct {
	moved    hold.Transfer
	children time.Duration // processor time of the processes that it has started
}

// tallyOf returns the tally of a process.
func tallyOf(pid int) tally { return tally{hold.TransferOf(pid), hold.ChildrenTime(pid)} }

// signsOf returns the signs of a process. threads are its stacks as they are shown. Helper threads of runtimes
// are left out: they spin, or wait with a time limit.
func (p *process) signsOf(shot *snapshot.Process, held *hold.Process, w *waits, threads [][]stack.Frame, variable string) *signs {
	s := &signs{threads: map[int]uint64{}}
	messages := digest.New()
	counted := false
	for i := range shot.Threads {
		t := &shot.Threads[i]
		c, inMPI := p.calls[t.TID]
		if len(threads[i]) > 0 && threads[i][0].Func == stack.Helpers && !inMPI || len(s.threads) == mostThreads {
			continue
		}
		hash := digest.New()
		stamp(hash, shot, held, t, c.frame, inMPI, remainders(t))
		s.threads[t.TID] = hash.Sum()
		if inMPI && c.sequenced {
			addNumber(messages, c.sequences)
			counted = true
		}
	}
	if w.arrivals != 0 {
		addNumber(messages, w.arrivals)
		counted = true
	}
	if counted {
		s.messages = messages.Sum()
	}
	if variable != "" {
		s.value, s.valued = p.valueOf(variable)
	}
	return s
}

// remainder is the size of a struct timespec or timeval.
const remainder = 16

// remainders returns the addresses to which the kernel may write the rest of a time limit when a sample interrupts a
// thread in clock_nanosleep, nanosleep, select, pselect or ppoll: what their arguments after the first are.
func remainders(t *snapshot.Thread) (addrs []uint64) {
	arguments := []uint64{1, 4, 8, 10} // RDX, RSI, R8, R10 (System V ABI, AMD64, figure 3.36)
	if hold.Machine.PC != unwind.AMD64.PC {
		arguments = []uint64{1, 2, 3, 4} // X1 to X4
	}
	for _, n := range arguments {
		if v, ok := t.Registers.Get(n); ok {
			addrs = append(addrs, v)
		}
	}
	return addrs
}

// valueOf returns a hash of the value of a global variable, or a static one. A name of Fortran with its module
// is written as in gdb, "module::name".
func (p *process) valueOf(name string) (hash uint64, ok bool) {
	if module, variable, fortran := strings.Cut(name, "::"); fortran {
		name = "__" + module + "_MOD_" + variable
	}
	for i := range p.placed {
		x := placed{p, i}
		addr, size, found := x.symbols().Variable(name)
		if !found || size == 0 {
			continue
		}
		b := make([]byte, min(size, mostValue))
		if !hold.Memory(p.pid).Read(addr+x.Module().Bias, b) {
			continue
		}
		return digest.Of(b), true
	}
	return 0, false
}

// compare returns the words for what has changed, and remembers the signs.
func (x *progress) compare(now *signs, seen tally, variable bool) string {
	first := x.states == nil
	states := make(map[int][]uint64, len(now.threads))
	changed := len(now.threads) < len(x.states)
	for tid, hash := range now.threads {
		known := x.states[tid]
		if !slices.Contains(known, hash) {
			changed = true
			known = append(known[max(0, len(known)-mostStates+1):], hash)
		}
		states[tid] = known
	}
	var words []string
	if now.messages != 0 && x.last.messages != 0 && now.messages != x.last.messages {
		words = append(words, protocol.ProgressMessages)
	}
	if changed {
		words = append(words, protocol.ProgressStack)
	}
	if seen.moved.Since(x.before.moved) >= leastIO {
		words = append(words, protocol.ProgressIO)
	}
	if spent := seen.children - x.before.children; spent >= leastTime || spent < 0 {
		words = append(words, protocol.ProgressChildren)
	}
	switch {
	case !variable:
	case !now.valued:
		words = append(words, protocol.ProgressNoValue)
	case !x.last.valued || now.value != x.last.value:
		words = append(words, protocol.ProgressValue)
	}
	x.states, x.before = states, seen
	if now.messages == 0 { // it is in no call of MPI, and they are counted when it is in the next
		now.messages = x.last.messages
	}
	x.last = *now
	switch {
	case first && variable && !now.valued:
		return protocol.ProgressFirst + "," + protocol.ProgressNoValue
	case first:
		return protocol.ProgressFirst
	case len(words) == 0:
		return protocol.ProgressNone
	}
	return strings.Join(words, ",")
}

// progressOf returns the column with what has changed in ranks.
func (b *Backend) progressOf(ids []rank.ID, samples []sample, variable string) column.Column {
	b.tells.Store(true)
	all := map[string]rank.Set{}
	for i, s := range samples {
		if s.err != nil || s.signs == nil {
			continue
		}
		w := b.ranks[ids[i]]
		words := w.progress.compare(s.signs, tallyOf(w.pid), variable != "")
		all[words] = all[words].Union(rank.Range(ids[i], ids[i]))
	}
	return columnOf(protocol.Progress, all, mostActivities)
}

// exitOf returns how a process has ended that is not our child. The kernel is asked only if a request
// has asked for progress.
func (b *Backend) exitOf(h *hold.Handle) protocol.Exit {
	if !b.tells.Load() {
		return protocol.Exit{Unknown: true}
	}
	status, ok := h.Status(statusWait)
	return protocol.Exit{Code: status.Code, Signal: status.Signal, Meaning: status.Meaning, Unknown: !ok}
}
