// Frames as users see them.

package sampler

import (
	"encoding/binary"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"sdm/backend"
	"sdm/backend/probe/internal/snapshot"
	"sdm/backend/probe/internal/splice"
	"sdm/backend/probe/internal/unwind"
	"sdm/protocol/stack"
)

// level is a frame with its library, which a frame with a line does not show. The library is "" for
// the program and for code in no file.
type level struct {
	stack.Frame
	library  string
	debugged bool // there is a line
	python   bool // it is a function of Python
}

// stackOf returns the stack of a thread, outermost frame first. An added frame says where the stack could
// not be followed, or why the thread could not be stopped.
func (r *reading) stackOf(t *snapshot.Thread) []stack.Frame {
	switch {
	case t.Why == "":
		return r.readFrames(t)
	case len(t.Stack.Frames) == 0:
		return []stack.Frame{{Func: "(thread not read: " + t.Why + ")"}}
	}
	return append([]stack.Frame{{Func: "(thread not stopped: " + t.Why + ")"}}, r.readFrames(t)...)
}

// framesOnce is stackOf. Threads of one sample that are in the same places share one result, which is kept in equal.
func (r *reading) framesOnce(t *snapshot.Thread, equal map[string][]stack.Frame) []stack.Frame {
	if _, inMPI := r.calls[t.TID]; inMPI || r.python != nil { // more than the places is shown
		return r.stackOf(t)
	}
	key := append(append([]byte(t.Stack.Cut), 0), t.Why...)
	for _, f := range t.Stack.Frames {
		key = binary.LittleEndian.AppendUint64(key, f.PC)
		key = append(key, byte(f.How), bit(f.Exact), bit(f.Signal), bit(f.CFA != 0))
	}
	frames, known := equal[string(key)]
	if !known {
		frames = r.stackOf(t)
		equal[string(key)] = frames
	}
	return frames
}

func bit(b bool) byte {
	if b {
		return 1
	}
	return 0
}

// readFrames returns the stack of a thread of which a stack was read. The stack of a helper thread of a
// runtime is folded to one frame unless the view has all.
func (r *reading) readFrames(t *snapshot.Thread) []stack.Frame {
	levels := r.levels(t)
	if r.options.By != "address" {
		levels = namedLeaf(levels)
	}
	cut := t.Stack.Cut != ""
	if n := len(levels); cut && n > 1 && slices.Contains(roots, levels[n-2].Func) {
		levels, cut = levels[:n-1], false
	}
	levels, root, whole := trimmed(levels)
	if cut && !whole {
		return outward(levels)
	}
	helper := root > 0 && root < len(levels) && !slices.ContainsFunc(levels[:root], r.ofUser)
	if helper && !r.options.AllThreads {
		f := levels[root-1]
		return []stack.Frame{{Func: stack.Helpers}, {Func: f.Func, From: f.library}}
	}
	if r.options.By != "address" && !slices.ContainsFunc(levels[root:], func(l level) bool { return l.Func != unnamed }) {
		levels = levels[:max(root, 1)]
	}
	return outward(levels)
}

// levels returns the levels of a thread, innermost first, with levels of Python among them.
func (r *reading) levels(t *snapshot.Thread) (levels []level) {
	joined := r.join(t)
	runs := shortened(runsOfFrames(joined, t.Stack.Frames))
	levels = make([]level, 0, len(runs))
	for _, run := range runs {
		f, first := joined[run.at], len(levels)
		switch {
		case f.Python != nil:
			l := level{Frame: pythonFrame(f.Python, r.options.By), python: true}
			if c, ok := r.torch[t.TID]; ok && c.frame == f.Python {
				l.Call = c.short()
			}
			levels = append(levels, l)
		case f.Native == splice.CutHere:
			levels = append(levels, level{Frame: stack.Frame{Func: "(cut: " + t.Stack.Cut + ")"}})
		case f.Native == splice.CutPython:
			levels = append(levels, level{Frame: stack.Frame{Func: "(cut: too many Python frames)"}, python: true})
		default:
			levels = append(levels, r.withoutGlue(t, f.Native)...)
			levels = append(levels, r.doubt(t.Stack.Frames, f.Native)...)
		}
		if run.count > 1 && len(levels) > first {
			levels[len(levels)-1].Call = "×" + strconv.Itoa(run.count)
		}
	}
	return levels
}

// frameRun is a number of equal frames in sequence. at is the innermost one.
type frameRun struct{ at, count int }

// leastRun is the number of equal frames in sequence that are shown as one.
const leastRun = 3

// runsOfFrames returns the runs of a stack. Those of a stack that can be shown as a whole are single frames; of a
// deeper one, which is mostly a recursion without end, equal frames in sequence are one run.
func runsOfFrames(frames []splice.Frame, native []unwind.Frame) (runs []frameRun) {
	same := func(a, b splice.Frame) bool {
		switch {
		case a.Python != nil && b.Python != nil:
			return a.Python.File == b.Python.File && a.Python.Function == b.Python.Function && a.Python.Line == b.Python.Line
		case a.Python != nil || b.Python != nil || a.Native < 0 || b.Native < 0:
			return false
		}
		x, y := &native[a.Native], &native[b.Native]
		return x.PC == y.PC && x.Exact == y.Exact && x.How == y.How && !x.Signal && !y.Signal
	}
	for i := 0; i < len(frames); {
		n := 1
		for len(frames) > stack.MaxDepth && i+n < len(frames) && same(frames[i], frames[i+n]) {
			n++
		}
		if n < leastRun {
			n = 1
		}
		runs = append(runs, frameRun{i, n})
		i += n
	}
	return runs
}

// doubt returns a level that says that frames may be missing between a frame and its caller. Of several
// such frames in a row, only the outermost has such a level.
func (p *process) doubt(frames []unwind.Frame, i int) []level {
	guessed := func(i int) bool { return i < len(frames) && frames[i].How >= unwind.ByPointer && frames[i].CFA != 0 }
	if !guessed(i) || guessed(i+1) {
		return nil
	}
	where := "memory of no file"
	if m := p.module(frames[i].Lookup()); m >= 0 {
		where = p.modules[m].Name()
	}
	return []level{{Frame: stack.Frame{Func: "(frames may be missing: no unwind tables in " + where + ")"}}}
}

// withoutGlue returns the levels of a native frame. If it is of an interpreter whose Python frames are
// shown, inlined functions that serve for calls only (splice.IsGlue) are left out.
func (r *reading) withoutGlue(t *snapshot.Thread, i int) []level {
	f := t.Stack.Frames[i]
	levels := r.withCall(t, i, r.places(f, r.options.By))
	if r.interpreter.threads() == nil || r.place(f) != splice.Interpreter || len(levels) < 2 {
		return levels
	}
	return slices.DeleteFunc(levels, func(l level) bool { return splice.IsGlue(l.Func) })
}

// shortened removes the middle of a stack that is too deep to be shown as a whole, before names are
// looked up. What remains is more than a stack.Tree keeps.
func shortened(runs []frameRun) []frameRun {
	const end = 2 * stack.MaxDepth
	if len(runs) <= 2*end {
		return runs
	}
	return slices.Concat(runs[:end], runs[len(runs)-end:])
}

// ofUser reports whether a level is code of the user.
func (p *process) ofUser(l level) bool {
	return l.python || p.objects.OfUser(l.Func, l.library, l.debugged)
}

// roots are the outermost functions of contexts, of threads, and of programs with musl.
var roots = []string{"__start_context", "__clone", "clone", "clone3", "_start", "_start_c"}

// outward returns frames, outermost first.
func outward(levels []level) []stack.Frame {
	frames := make([]stack.Frame, len(levels))
	for i, l := range levels {
		frames[len(levels)-1-i] = l.Frame
	}
	return frames
}

// unnamed stands for a function without a name, as in gdb.
const unnamed = "??"

// namedLeaf removes levels without a name from the inner end of a stack, as the gdb engine does: from
// glibc 2.41 on a waiting thread has two or three of them. Those in the library of the first level
// with a name are removed; one remains for each other library, and one for code in no file.
func namedLeaf(levels []level) []level {
	n := slices.IndexFunc(levels, func(l level) bool { return l.Func != unnamed })
	if n <= 0 {
		return levels
	}
	var leaf []level
	for i, l := range levels[:n] {
		if next := levels[i+1].library; l.library != next || l.library == "" && i == n-1 {
			leaf = append(leaf, l)
		}
	}
	return append(leaf, levels[n:]...)
}

// trimmed removes the levels that called main. root is the number of levels that remain without the ones of
// the C library or a runtime that start threads; levels[root-1] is the start function of the thread, or main.
// whole is true if main is there: then the shown stack is complete even if the walk ended outside of main.
func trimmed(levels []level) (rest []level, root int, whole bool) {
	isMain := func(l level) bool { return l.Func == "main" && l.library == "" && !l.python }
	if i := slices.IndexFunc(levels, isMain); i >= 0 {
		return levels[:i+1], i + 1, true
	}
	root = len(levels)
	for root > 0 && backend.StartsThreads(levels[root-1].Func, levels[root-1].library) {
		root--
	}
	return levels, root, false
}

// handlerCalled is the function of a frame in which the kernel has called a handler of a signal, as in gdb.
const handlerCalled = "<signal handler called>"

// places returns the levels of a frame, innermost first: inlined functions, and the function that contains them. As in
// gdb, a frame with a line has no library.
func (p *process) places(f unwind.Frame, by string) (levels []level) {
	if f.Signal {
		return []level{{Frame: stack.Frame{Func: handlerCalled}}}
	}
	places, library := p.at(f.Lookup())
	levels = make([]level, 0, len(places))
	for _, x := range places {
		out := level{Frame: stack.Frame{Func: x.Function}, library: library, debugged: x.Line != 0}
		if x.Line == 0 {
			out.From = library
		}
		if by != "function" {
			out.File, out.Line = x.File, x.Line
		}
		if by == "address" {
			out.Addr = "0x" + strconv.FormatUint(f.PC, 16)
		}
		levels = append(levels, out)
	}
	return levels
}

// objectsOf returns the paths of the program and the libraries of a process.
func (p *process) objectsOf() (o backend.Objects) {
	for _, m := range p.modules {
		switch {
		case m.File == p.program:
			o.Program = m.Path
		case strings.HasPrefix(m.Path, "/"):
			o.Libraries = append(o.Libraries, filepath.Clean(m.Path))
		}
	}
	return o
}
