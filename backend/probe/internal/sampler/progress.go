// What has changed in a rank since it was looked at before.

package sampler

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"sdm/backend/probe/internal/expression"
	"sdm/backend/probe/internal/hold"
	"sdm/backend/probe/internal/image"
	"sdm/backend/probe/internal/variable"
	"sdm/protocol"
	"sdm/protocol/digest"
	"sdm/protocol/stack"
	"sdm/protocol/wait"
)

const (
	// maxStates is how many different states of a thread are remembered. A thread that returns to one of
	// them, as one that calls MPI_Test without end does, is not taken to have made progress.
	maxStates = 16
	// maxThreads bounds the threads of a rank whose states are remembered.
	maxThreads = 4096
	// leastIO is the number of bytes from which on a rank has read or written something. Timers and
	// notifications within a process are 8 bytes each.
	leastIO = 64
	// leastTime is the processor time from which on the children of a rank have done something.
	leastTime = 20 * time.Millisecond
)

// Signs are what is compared.
type Signs struct {
	threads  map[int]uint64 // hashes of the states of threads, by thread ID
	messages uint64         // hash of what MPI counts; 0: not known
	value    uint64         // hash of the value of the user's expression
	valued   bool           // it has a value
	Trouble  string         // why it has none
	unheld   bool           // another sampler held the process, or it did not stop in time: there is nothing else
	halted   bool           // a debugger holds it: the states of its threads are not as in other samples
}

// Progress is what is remembered of a rank; the zero value is for a rank that was not looked at.
type Progress struct {
	states map[int][]uint64 // hashes of the last different states of each thread; nil: not looked at yet
	last   Signs
	before tally
}

// tally is what the kernel counts of a rank.
type tally struct {
	moved    hold.Transfer
	children time.Duration // processor time of the processes that it has started
}

// tallyOf returns the tally of a process.
func tallyOf(pid int) tally { return tally{hold.TransferOf(pid), hold.ChildrenTime(pid)} }

// signs returns the signs of a process. frames are its stacks as they are shown. Helper threads of runtimes
// are left out: they spin, or wait with a time limit.
func (r *reading) signs(w *Waits, frames [][]stack.Frame) *Signs {
	s := &Signs{threads: map[int]uint64{}, messages: cmp.Or(r.messages, w.arrivals)}
	if s.halted = r.held.Tracer.TID != 0 && r.state == wait.Traced; r.held.Tracer.Passing || r.held.Late() {
		s.unheld = true
		return s
	}
	for i := range r.shot.Threads {
		t := &r.shot.Threads[i]
		c, inMPI := r.calls[t.TID]
		if len(frames[i]) > 0 && frames[i][0].Func == stack.Helpers && !inMPI || len(s.threads) == maxThreads {
			continue
		}
		hash, call := digest.New(), noCall
		if inMPI {
			call = c.frame
		}
		r.addStamp(hash, t, call, remainders(t))
		s.threads[t.TID] = hash.Sum()
	}
	if value := r.options.Value; value != nil {
		s.value, s.Trouble = r.valueOf(value)
		s.valued = s.Trouble == ""
	}
	return s
}

// valueOf returns a hash of the value of an expression, or why it has none. The process runs: a value that changes
// meanwhile is another one in any case.
func (p *process) valueOf(e *expression.Expr) (hash uint64, trouble string) {
	value, err := variable.Evaluate(e, p.variables(), hold.Memory(p.pid))
	if err != nil {
		return 0, err.Error()
	}
	return digest.Of(value.Bytes), ""
}

// variables returns the program and its libraries.
func (p *process) variables() (images []variable.Image) {
	for i := range p.placed {
		if x := (placed{p, i}); x.Module().File == p.program {
			images = slices.Insert(images, 0, variable.Image(x))
		} else {
			images = append(images, x)
		}
	}
	return images
}

// Names implements variable.Image.
func (x placed) Names() *variable.Names { return x.images[x.i].variables(x.Module(), x.pid) }

// Symbols implements variable.Image.
func (x placed) Symbols() *image.Symbols { return x.symbols() }

// Bias implements variable.Image.
func (x placed) Bias() uint64 { return x.Module().Bias }

// variables returns the variables of an image; nil: there is no debug information, or it cannot be read.
func (s *shared) variables(m *image.Module, pid int) *variable.Names {
	s.need(m, pid)
	s.loaded = true
	if !s.searched && s.named {
		s.searched = true
		for _, b := range [][]byte{s.file, s.separate} {
			if b == nil || s.names != nil {
				continue
			}
			if d, err := image.ReadDebug(b); d != nil && err == nil {
				s.names = variable.New(d)
			}
		}
	}
	return s.names
}

// Compare returns the words for what has changed in a process, and remembers its signs. variable: they tell of the
// value of an expression.
func (x *Progress) Compare(pid int, now *Signs, variable bool) string {
	return x.compare(now, tallyOf(pid), variable)
}

// compare is Compare. seen is what the kernel counts now.
func (x *Progress) compare(now *Signs, seen tally, variable bool) string {
	if now.unheld {
		return x.compareUnheld(seen)
	}
	first := x.states == nil
	states := make(map[int][]uint64, len(now.threads))
	changed := len(now.threads) < len(x.states)
	if now.halted && !first {
		now.threads, states, changed = nil, x.states, false
	}
	for tid, hash := range now.threads {
		known := x.states[tid]
		if !slices.Contains(known, hash) {
			changed = true
			known = append(known[max(0, len(known)-maxStates+1):], hash)
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
	words = append(words, x.counted(seen)...)
	switch {
	case !variable:
	case !now.valued:
		words = append(words, protocol.ProgressNoValue)
	case !x.last.valued || now.value != x.last.value:
		words = append(words, protocol.ProgressValue)
	}
	x.states, x.before = states, seen
	if now.messages == 0 { // not known this time
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

// compareUnheld is compare for a process that another sampler held: only what the kernel counts is compared.
func (x *Progress) compareUnheld(seen tally) string {
	words := []string{protocol.ProgressUnheld}
	if x.states != nil {
		words = append(words, x.counted(seen)...)
		x.before = seen
	}
	return strings.Join(words, ",")
}

// counted returns the words for what the kernel counts.
func (x *Progress) counted(seen tally) (words []string) {
	if seen.moved.Since(x.before.moved) >= leastIO {
		words = append(words, protocol.ProgressIO)
	}
	if spent := seen.children - x.before.children; spent >= leastTime || spent < 0 {
		words = append(words, protocol.ProgressChildren)
	}
	return words
}
