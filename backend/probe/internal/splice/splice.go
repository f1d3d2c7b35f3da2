// Package splice joins the Python frames of a thread with its native ones. It is pure.
//
// An evaluator is a C function that evaluates Python code. From Python 3.10 on, its frame contains a structure
// whose address the interpreter stores. The Python frames of an evaluator take the place of the native frame
// that contains this address. Evaluators and Python frames are not matched by counting: an evaluator may have
// no Python frames, and C functions may be inlined or renamed.
package splice

import (
	"cmp"
	"slices"
	"sort"
	"strings"

	"sdm/backend/probe/internal/python"
)

// Place says whose code a native frame is.
type Place uint8

// Places of code.
const (
	Elsewhere   Place = iota // of the program or a library
	Interpreter              // of the image that holds the interpreter
	Nowhere                  // of no image: generated code
)

// Native is a native frame.
type Native struct {
	// The memory of the frame is from SP to CFA. CFA is 0 if the caller is not known.
	SP, CFA uint64
	Place   Place
}

// Stack is the native stack of a thread.
type Stack struct {
	Frames []Native // innermost first
	// Name returns the function of frame i; "": not known. It is called for few frames.
	Name func(i int) string
	// Pointer is the thread pointer; 0: not known.
	Pointer uint64
	// Cut: outer frames are missing. End is then the end of the memory of the stack.
	Cut bool
	End uint64
}

// Frame is a frame of the joined stack: one of Python, a native one, or the place where the native
// stack was cut.
type Frame struct {
	Python *python.Frame
	Native int // without Python: number in Stack.Frames, CutHere, or CutPython
}

// Places in the joined stack that are no frames.
const (
	CutHere   = -1 // where the native stack was cut
	CutPython = -2 // where the Python frames were cut
)

// Join returns the frames of a thread, innermost first, with Python's frames in place of the
// interpreter's own. threads are all that the interpreters of the process know. Without Python frames
// the stack is returned as it is.
func Join(s *Stack, threads []python.Thread) []Frame {
	j := joiner{Stack: s, bySP: make([]int, len(s.Frames))}
	for i := range j.bySP {
		j.bySP[i] = i
	}
	slices.SortStableFunc(j.bySP, func(a, b int) int { return cmp.Compare(s.Frames[a].SP, s.Frames[b].SP) })
	for i := range threads {
		j.take(&threads[i])
	}
	if len(j.calls) == 0 {
		return s.plain()
	}
	j.place()
	j.walk()
	return j.out
}

// plain returns the stack without Python frames.
func (s *Stack) plain() []Frame {
	out := make([]Frame, 0, len(s.Frames)+1)
	for i := range s.Frames {
		out = append(out, Frame{Native: i})
	}
	if s.Cut {
		out = append(out, Frame{Native: CutHere})
	}
	return out
}

// joiner joins one stack.
type joiner struct {
	*Stack
	bySP  []int // numbers of the frames by their SP: with a stack for signals they do not ascend
	calls []call
	short bool        // outer Python calls are missing
	at    map[int]int // calls by the number of the native frame of their evaluator
	out   []Frame
}

// call is a call of an evaluator in this stack.
type call struct {
	python.Call
	frame int // native frame of the evaluator; the number of frames: it has been cut off, or is not known
}

// take adds the calls of a thread of an interpreter that are in this stack. The state of a thread may be used
// by another thread than the one that made it, so addresses decide, and the thread pointer only for calls
// without an address. A thread has one state for each interpreter.
func (j *joiner) take(t *python.Thread) {
	mine := j.Pointer != 0 && t.Pointer == j.Pointer
	some := false
	for _, c := range t.Calls {
		i, ok := j.frameAt(c.Address)
		if c.Address == 0 && mine || ok || j.isCutOff(c.Address) {
			j.calls = append(j.calls, call{c, i})
			some = true
		}
	}
	j.short = j.short || t.Cut != "" && (mine || some)
}

// frameAt returns the native frame whose memory contains an address.
func (j *joiner) frameAt(addr uint64) (int, bool) {
	k := sort.Search(len(j.bySP), func(k int) bool { return j.Frames[j.bySP[k]].SP > addr }) - 1
	if k >= 0 && addr < j.Frames[j.bySP[k]].CFA {
		return j.bySP[k], true
	}
	return len(j.Frames), false
}

// isCutOff reports whether an address is in the part of the stack whose frames are missing.
func (j *joiner) isCutOff(addr uint64) bool {
	n := len(j.Frames)
	return j.Cut && n > 0 && addr >= j.Frames[n-1].SP && addr < j.End
}

// place orders the calls, innermost first, and matches them with native frames. Where no call has an
// address, evaluators are matched by name, from the outermost on: the innermost one may be about to
// begin or to end.
func (j *joiner) place() {
	// Address-1 makes 0, for calls without an address, the greatest: they are the outermost.
	slices.SortStableFunc(j.calls, func(a, b call) int {
		return cmp.Or(cmp.Compare(a.frame, b.frame), cmp.Compare(a.Address-1, b.Address-1))
	})
	j.at = map[int]int{}
	addressed := false
	for k, c := range j.calls {
		if c.frame < len(j.Frames) {
			j.at[c.frame] = k
		}
		addressed = addressed || c.Address != 0
	}
	if addressed {
		return
	}
	k := len(j.calls) - 1
	for i := len(j.Frames) - 1; i >= 0 && k >= 0; i-- {
		if j.isEvaluator(i) {
			j.at[i], j.calls[k].frame = k, i
			k--
		}
	}
}

// walk writes the joined stack.
func (j *joiner) walk() {
	next := 0 // the innermost call that has not been written
	root := j.root()
	for i := range j.Frames {
		if k, ok := j.at[i]; ok {
			for ; next <= k; next++ {
				j.python(next)
			}
			continue
		}
		if i < root && !j.folded(i, next > 0) {
			j.out = append(j.out, Frame{Native: i})
		}
	}
	if j.Cut {
		j.out = append(j.out, Frame{Native: CutHere})
	}
	for ; next < len(j.calls); next++ {
		j.python(next)
	}
	if j.short {
		j.out = append(j.out, Frame{Native: CutPython})
	}
}

func (j *joiner) python(k int) {
	frames := j.calls[k].Frames
	for i := range frames {
		j.out = append(j.out, Frame{Python: &frames[i]})
	}
}

// folded reports whether native frame i is left out. outer is true if Python frames are further in: then all
// functions of the interpreter are left out; otherwise only evaluators, functions that serve for calls, and
// those without a name. Generated code is left out next to an evaluator: it belongs to the evaluator (JIT),
// or gives it a name for profilers (-X perf).
func (j *joiner) folded(i int, outer bool) bool {
	switch j.Frames[i].Place {
	case Interpreter:
		return outer || j.isEvaluator(i) || j.Name(i) == "" || IsGlue(j.Name(i))
	case Nowhere:
		_, inside := j.at[i-1]
		_, around := j.at[i+1]
		return inside || around
	}
	return false
}

// root returns the number of the first native frame that serves to start the interpreter or the thread. It and
// the outer ones are left out.
func (j *joiner) root() int {
	last := -1
	for i := range j.at {
		last = max(last, i)
	}
	if last < 0 {
		return len(j.Frames)
	}
	for i := last + 1; i < len(j.Frames); i++ {
		if slices.Contains(starts, j.Name(i)) {
			return last + 1
		}
	}
	return len(j.Frames)
}

// starts are functions that start the program python, or a thread.
var starts = []string{"Py_BytesMain", "Py_Main", "start_thread", "clone", "clone3", "__clone", "__clone3"}

// isEvaluator reports whether a frame evaluates Python code, which its name shows if it has one:
// parts that the compiler has moved or copied have further endings.
func (j *joiner) isEvaluator(i int) bool {
	if j.Frames[i].Place != Interpreter {
		return false
	}
	name := j.Name(i)
	return strings.HasPrefix(name, "_PyEval_EvalFrameDefault") || name == "PyEval_EvalFrameEx"
}

// IsGlue reports whether a function of the interpreter serves for calls only. Such a function may also be
// inlined in another one.
func IsGlue(name string) bool {
	return slices.ContainsFunc(glue, func(p string) bool { return strings.HasPrefix(name, p) })
}

// glue are the beginnings of names of functions between an evaluator and what it calls.
var glue = []string{
	"_Py", "_TAIL_CALL_", "PyObject_", "PyEval_", "PyVectorcall_", "builtin_eval", "builtin_exec", "call_function", "cfunction_",
	"classmethoddescr_call", "do_call_core", "function_code_fastcall", "gen_", "_init", "method_call", "method_vectorcall", "object_vacall",
	"partial_call", "partial_vectorcall", "slot_", "trace_call_function", "type_call", "vectorcall_", "wrapper_call", "wrapperdescr_call",
}
