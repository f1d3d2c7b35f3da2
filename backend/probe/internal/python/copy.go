// States of threads and their frames at one instant.

package python

import "slices"

// Snapshot is the state of the interpreters of a process at one instant.
type Snapshot struct {
	Threads []Thread
	// Inconsistent says what was inconsistent, for instance because a thread was not stopped, or was in the
	// middle of a change; "": nothing. A snapshot at another time may be consistent.
	Inconsistent string

	pieces []Piece          // copies of states and frames
	codes  map[uint64]*code // of all frames, by address
	fresh  []*code          // those that are not decoded yet
}

// Copy reads the states of all threads, their frames and the beginnings of the names of the frames. The process
// should be held. Name sets the names of the frames afterwards.
func (in *Interpreter) Copy(mem Memory, p *Plan) *Snapshot {
	mem.ReadMany(p.pieces)
	w := walk{in: in, mem: layers{p.pieces, mem}, snapshot: &Snapshot{}}
	w.current = w.lockOfRuntime()
	w.threads(w.thread)
	w.snapshot.pieces = w.mem.pieces
	in.fetch(mem, w.snapshot)
	return w.snapshot
}

// walk follows the structures of an interpreter.
type walk struct {
	in         *Interpreter
	mem        layers
	snapshot   *Snapshot // nil: for a plan
	chunkBytes int       // of all chunks so far
	steps      int       // links that were followed, of all threads
	frames     int       // of all threads
	current    uint64    // state of the thread that holds the lock of all interpreters, up to 3.11; 0: none
	lock       uint64    // address of the lock of the present interpreter, from 3.12; 0: not known
	holder     uint64    // state of the thread that holds the lock of the present interpreter, from 3.12; 0: none
}

// step counts a link that is followed; it returns false if there were too many.
func (w *walk) step() bool {
	w.steps++
	return w.steps <= maxSteps
}

func (w *walk) inconsistent(why string) {
	if w.snapshot != nil && w.snapshot.Inconsistent == "" {
		w.snapshot.Inconsistent = why
	}
}

// threads calls do for the state of each thread of each interpreter.
func (w *walk) threads(do func(interpreter int, addr uint64, state []byte)) {
	l := &w.in.layout
	interp, ok := w.mem.word(w.in.runtime + l.interpreters)
	state := make([]byte, l.thread.size)
	count := 0
	for n := 0; ok && interp != 0 && n < maxInterpreters; n++ {
		w.lock, w.holder = w.lockOf(interp)
		var at uint64
		for at, ok = w.mem.word(interp + l.interp.threads); ok && at != 0 && count < maxThreads; count++ {
			if ok = w.mem.Read(at, state) && le.Uint64(state[l.thread.interp:]) == interp; ok {
				do(n, at, state)
				at = le.Uint64(state[l.thread.next:])
			}
		}
		if !ok {
			w.inconsistent("the list of threads cannot be followed")
			return
		}
		interp, ok = w.mem.word(interp + l.interp.next)
	}
	if !ok {
		w.inconsistent("the list of interpreters cannot be followed")
	}
}

// lockOfRuntime returns the state of the thread that holds the lock of all interpreters, up to 3.11; 0: none
// does.
func (w *walk) lockOfRuntime() uint64 {
	if w.in.layout.current == 0 {
		return 0
	}
	holder, _ := w.mem.word(w.in.runtime + w.in.layout.current)
	return holder
}

// lockOf returns the lock of an interpreter, and the state of the thread that holds it, from 3.12; 0: none does.
func (w *walk) lockOf(interp uint64) (lock, holder uint64) {
	l := &w.in.layout
	if l.interp.lock == 0 {
		return 0, 0
	}
	lock, ok := w.mem.word(interp + l.interp.lock)
	var b [24]byte
	if !ok || lock == 0 || !w.mem.Read(lock, b[:]) || int32(le.Uint32(b[l.lock.locked:])) != 1 {
		return lock, 0
	}
	return lock, le.Uint64(b[l.lock.holder:])
}

// thread adds a thread with its frames to the snapshot.
func (w *walk) thread(interpreter int, addr uint64, state []byte) {
	l := &w.in.layout.thread
	t := Thread{Pointer: le.Uint64(state[l.pointer:]), Interpreter: interpreter, lock: w.lock, HasLock: addr == w.current || addr == w.holder}
	if l.native != 0 {
		t.Native = int(int32(le.Uint32(state[l.native:])))
	}
	c := chain{walk: w, thread: &t}
	var first uint64
	switch {
	case l.evaluator == 0 || w.in.layout.minor == 10:
		first = le.Uint64(state[l.frame:])
	default:
		first, _ = w.mem.word(le.Uint64(state[l.evaluator:]) + w.in.layout.evaluator.frame)
	}
	if first != 0 && l.chunk != 0 {
		w.chunks(le.Uint64(state[l.chunk:]))
	}
	if l.evaluator != 0 && w.in.layout.minor <= 11 {
		c.evaluators(le.Uint64(state[l.evaluator:]))
	}
	c.follow(first)
	w.frames += len(c.frames)
	w.snapshot.Threads = append(w.snapshot.Threads, t)
}

// chunks copies the chunks with frames of a thread that are not in the plan.
func (w *walk) chunks(at uint64) {
	for n := 0; at != 0 && n < maxChunks && w.step(); n++ {
		if p := w.mem.find(at); p != nil && p.Addr == at {
			at = le.Uint64(p.Bytes[chunkPrevious:])
			continue
		}
		previous, size, ok := w.chunk(at)
		if !ok {
			return
		}
		p := Piece{Addr: at, Bytes: make([]byte, size)}
		p.Read = w.mem.memory.Read(at, p.Bytes)
		w.mem.add(p)
		at = previous
	}
}

// chain follows the frames of a thread, the innermost first.
type chain struct {
	*walk
	thread  *Thread
	structs []uint64 // addresses of the structures of evaluators (CFrame), innermost first; 3.10 and 3.11
	frames  []Frame
	calls   []span // of frames
}

// span is a call of the evaluator with the numbers of its frames.
type span struct {
	address    uint64
	first, end int
}

// evaluators follows the list of structures of evaluators. The last one is in the state of the thread, not in
// the frame of an evaluator.
func (c *chain) evaluators(at uint64) {
	for c.step() {
		previous, ok := c.mem.word(at + c.in.layout.evaluator.previous)
		if !ok || previous == 0 || previous == at {
			return
		}
		c.structs = append(c.structs, at)
		at = previous
	}
}

// follow reads frames from the innermost on. If there are too many, the innermost are kept; the others are read
// nevertheless, since the addresses of their evaluators are needed.
func (c *chain) follow(at uint64) {
	l := &c.in.layout.frame
	b := make([]byte, l.size)
	for n := 0; at != 0; n++ {
		if n == maxChain || !c.step() {
			c.thread.Cut = "too many Python frames"
			break
		}
		if !c.mem.Read(at, b) {
			c.thread.Cut = "a Python frame cannot be read"
			c.inconsistent(c.thread.Cut)
			break
		}
		c.add(at, b)
		at = le.Uint64(b[l.previous:])
	}
	if begun := c.begun(); begun < len(c.frames) { // their evaluator was not reached
		c.calls = append(c.calls, span{0, begun, len(c.frames)})
	}
	for _, s := range c.calls {
		c.thread.Calls = append(c.thread.Calls, Call{s.address, slices.Clip(c.frames[s.first:s.end])})
	}
}

// begun returns the index of the first frame that is not in a call yet.
func (c *chain) begun() int {
	if len(c.calls) == 0 {
		return 0
	}
	return c.calls[len(c.calls)-1].end
}

// add adds a frame, or ends the call of an evaluator if the frame is its outermost one.
func (c *chain) add(at uint64, b []byte) {
	l := &c.in.layout
	minor := l.minor
	if minor >= 12 && b[l.frame.owner] >= evaluatorOwned {
		c.calls = append(c.calls, span{at, c.begun(), len(c.frames)})
		return
	}
	if len(c.frames) < maxFrames && c.walk.frames+len(c.frames) < maxAll {
		f := l.frameOf(b)
		f.address = at
		c.frames = append(c.frames, f)
	} else {
		c.thread.Cut = "too many Python frames"
	}
	if minor <= 10 || minor == 11 && b[l.frame.entry] != 0 {
		s := span{0, c.begun(), len(c.frames)}
		if k := len(c.calls); k < len(c.structs) {
			s.address = c.structs[k]
		}
		c.calls = append(c.calls, s)
	}
}

// frameOf decodes a frame.
func (l *layout) frameOf(b []byte) Frame {
	f := Frame{code: le.Uint64(b[l.frame.code:]) &^ l.frame.tag}
	if l.code.instructions != 0 {
		f.at = int64(le.Uint64(b[l.frame.instruction:]) - (f.code + l.code.instructions))
		return f
	}
	f.at = int64(int32(le.Uint32(b[l.frame.instruction:])))
	if l.minor == 10 && f.at > 0 {
		f.at *= 2 // in 3.10 it counts instructions of 2 bytes
	}
	if le.Uint64(b[l.frame.trace:]) != 0 {
		f.line = int(int32(le.Uint32(b[l.frame.line:])))
	}
	return f
}
