// Python frames of processes, and threads that wait for the lock of Python.

package sampler

import (
	"path/filepath"
	"slices"
	"strings"

	"sdm/backend/probe/internal/hold"
	"sdm/backend/probe/internal/python"
	"sdm/backend/probe/internal/snapshot"
	"sdm/backend/probe/internal/splice"
	"sdm/backend/probe/internal/unwind"
	"sdm/protocol/stack"
)

// pythonOf is what is known of the Python interpreters of a process. nil: it has none.
type pythonOf struct {
	in     *python.Interpreter // nil: it is not known
	why    string              // why it is not known, for users
	module int                 // number of the module that contains the interpreter
	plan   *python.Plan
}

// pythonCopy is the state of the Python interpreters of a process in one sample. nil: there is none, or it is not
// known.
type pythonCopy struct {
	in   *python.Interpreter
	shot *python.Snapshot
}

// maxInterpreters bounds the processes whose interpreters an image keeps.
const maxInterpreters = 4096

// pythonImages are the images of a process that may contain an interpreter.
type pythonImages struct {
	python.Images
	modules []int // their numbers
	holder  int   // index of the one that contains it; -1: none does
}

// pythonImagesOf looks for an interpreter in the program and in libraries whose names say so.
func (p *process) pythonImagesOf() *pythonImages {
	x := &pythonImages{}
	for i := range p.modules {
		m := &p.modules[i]
		switch program := m.File == p.program && m.File != ""; {
		case !python.MayHold(m.Path, program):
		case program:
			x.Images, x.modules = slices.Insert(x.Images, 0, python.Image(placed{p, i})), slices.Insert(x.modules, 0, i)
		default:
			x.Images, x.modules = append(x.Images, placed{p, i}), append(x.modules, i)
		}
	}
	x.holder = x.Holder()
	return x
}

// findPython looks for interpreters, and plans what to copy.
func (p *process) findPython() {
	p.python = nil
	if p.mayPython == nil {
		p.mayPython = p.pythonImagesOf()
	}
	images, holder := p.mayPython.Images, p.mayPython.holder
	if holder < 0 {
		return
	}
	x := &pythonOf{module: p.mayPython.modules[holder]}
	p.python = x
	s := p.images[x.module]
	if x.in = s.interpreters[p.pid]; x.in == nil || !x.in.IsIn(images) {
		var err error
		mem := pythonMemory{&copied{now: hold.Memory(p.pid)}}
		if x.in, err = python.New(mem, images, python.MinorOf(p.modules[x.module].Path, p.paths())); err != nil {
			x.why = err.Error()
			return
		}
		if len(s.interpreters) == maxInterpreters {
			clear(s.interpreters)
		}
		s.interpreters[p.pid] = x.in
	}
	x.plan = x.in.Plan(pythonMemory{&copied{now: hold.Memory(p.pid)}})
}

// paths returns the files of the modules.
func (p *process) paths() (all []string) {
	for i := range p.modules {
		all = append(all, p.modules[i].Path)
	}
	return all
}

// copy copies the states of the threads and their frames. It is called while the process is held.
func (x *pythonOf) copy(held *hold.Process) *pythonCopy {
	if x == nil || x.in == nil {
		return nil
	}
	return &pythonCopy{x.in, x.in.Copy(pythonMemory{memoryOf(held)}, x.plan)}
}

// name reads the names of the copied frames. It returns false if the snapshot is inconsistent.
func (x *pythonCopy) name(held *hold.Process) bool {
	if x == nil || x.shot == nil {
		return true
	}
	x.in.Name(pythonMemory{memoryOf(held)}, x.shot)
	return x.shot.Inconsistent == ""
}

// pythonMemory implements python.Memory.
type pythonMemory struct{ *copied }

// ReadMany implements python.Memory. The pieces are never on stacks, so the copies are not used.
func (m pythonMemory) ReadMany(pieces []python.Piece) {
	m.now.ReadMany(len(pieces), func(i int) (uint64, []byte) { return pieces[i].Addr, pieces[i].Bytes },
		func(i int) { pieces[i].Read = true })
}

// threads returns what the interpreters know of threads; none if there is no interpreter.
func (x *pythonCopy) threads() []python.Thread {
	if x == nil || x.shot == nil {
		return nil
	}
	return x.shot.Threads
}

// lock returns the innermost Python frame of the thread that holds the lock of its interpreter (GIL), as a
// text; with several interpreters, one for each held lock. "": none is held, or none is known.
func (x *pythonCopy) lock() string {
	var all []string
	threads := x.threads()
	for i := range threads {
		if t := &threads[i]; t.HasLock {
			all = append(all, innermost(t))
		}
	}
	return strings.Join(all, "; ")
}

// lockAt is python.Interpreter.LockAt of the present sample.
func (x *pythonCopy) lockAt(addr uint64) (holder uint64, ok bool) {
	if x == nil || x.shot == nil {
		return 0, false
	}
	return x.in.LockAt(x.shot, addr)
}

// holder is python.Snapshot.Holder of the present sample.
func (x *pythonCopy) holder(pointer uint64) uint64 {
	if x == nil || x.shot == nil {
		return 0
	}
	return x.shot.Holder(pointer)
}

// takingLock are the functions of CPython in which a thread takes the lock of its interpreter, and does little else.
var takingLock = map[string]bool{
	"take_gil": true, "PyEval_RestoreThread": true, "PyEval_AcquireThread": true, "PyGILState_Ensure": true,
	"_Py_HandlePending": true, "eval_frame_handle_pending": true,
}

// takesLock reports whether a thread that runs takes the lock of its interpreter: it wakes every 5 ms to look at the
// clock.
func takesLock(frames []stack.Frame) bool {
	const most = 6 // below are the wait for a condition and the clock
	return slices.ContainsFunc(frames[max(len(frames)-most, 0):], func(f stack.Frame) bool { return takingLock[f.Func] })
}

// position returns the python.Thread.Position of a thread by its pointer; 0: it has none.
func (x *pythonCopy) position(pointer uint64) uint64 {
	threads := x.threads()
	for i := range threads {
		if threads[i].Pointer == pointer {
			return threads[i].Position()
		}
	}
	return 0
}

// innermost formats the innermost Python frame of a thread.
func innermost(t *python.Thread) string {
	for _, c := range t.Calls {
		for _, f := range c.Frames {
			out := pythonFrame(&f, "line")
			out.File = filepath.Base(out.File)
			return out.String()
		}
	}
	return "a thread without Python frames"
}

// join returns the frames of a thread, innermost first, Python's among them.
func (r *reading) join(t *snapshot.Thread) []splice.Frame {
	s := splice.Stack{Pointer: t.Pointer, Cut: t.Stack.Cut != "", Frames: make([]splice.Native, 0, len(t.Stack.Frames))}
	for _, f := range t.Stack.Frames {
		s.Frames = append(s.Frames, splice.Native{SP: f.SP, CFA: f.CFA, Place: r.place(f)})
	}
	if n := len(s.Frames); n > 0 {
		s.End = r.stackEnd(s.Frames[n-1].SP)
	}
	s.Name = func(i int) string {
		f := t.Stack.Frames[i]
		m := r.module(f.Lookup())
		if m < 0 || f.Signal {
			return ""
		}
		name, _, _ := placed{r.process, m}.Function(f.Lookup())
		return name
	}
	return splice.Join(&s, r.interpreter.threads())
}

// place tells whose code a frame executes.
func (p *process) place(f unwind.Frame) splice.Place {
	switch m := p.module(f.Lookup()); {
	case f.Signal:
		return splice.Elsewhere
	case m < 0:
		return splice.Nowhere
	case p.python != nil && m == p.python.module:
		return splice.Interpreter
	}
	return splice.Elsewhere
}

// pythonFrame returns a Python frame as it is shown.
func pythonFrame(f *python.Frame, by string) stack.Frame {
	switch {
	case f.Function == "" && f.File == "":
		return stack.Frame{Func: "(Python function that has ended)"}
	case by == "function":
		return stack.Frame{Func: f.Function}
	}
	return stack.Frame{Func: f.Function, File: f.File, Line: f.Line}
}
