// Frames that tell what the user's code does.

package sampler

import (
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"sdm/backend/probe/internal/kernelcall"
	"sdm/backend/probe/internal/mpi"
	"sdm/backend/probe/internal/splice"
	"sdm/backend/probe/internal/unwind"
	"sdm/protocol/stack"
	"sdm/protocol/wait"
)

// ofUser returns the frames of a thread of shot, outermost first, without frames of the standard library of C++, of the
// interpreter of Python, and of Python's own modules that the user's code has called. called is the function of such a
// module: "in Queue.get (queue.py)"; "for a lock of threading" if the interpreter itself waits; "": Python is not on
// the stack, or a library that Python has called waits.
func (m *team) ofUser(i int) (frames []stack.Frame, called string) {
	all := m.frames[i]
	last := -1 // the innermost frame of Python
	for k, f := range all {
		if isPython(f) {
			last = k
		}
	}
	if last < 0 || m.python == nil {
		return withoutStandard(all), ""
	}
	own := m.interpreterFunctions(i)
	end := last + 1
	for end > 0 && isPython(all[end-1]) && ofLibrary(all[end-1].File) {
		end--
	}
	if end == 0 || !isPython(all[end-1]) { // nothing but Python's own modules
		end = last + 1
	}
	frames = append(frames, all[:end]...)
	switch {
	case end <= last:
		called = "in " + all[end].Func + " (" + filepath.Base(all[end].File) + ")"
	case m.interpreterWaits(i):
		called = "for a lock of threading"
	}
	for _, f := range all[max(last+1, len(all)-maxNative):] {
		if !m.wantsLock[i] && !own[f.Func] && !strings.Contains(f.From, "libffi") {
			frames = append(frames, f)
		}
	}
	return frames, called
}

// maxNative bounds the frames within the innermost one of Python that are kept.
const maxNative = 4

// withoutStandard removes the frames of the standard library of C++ that are in the program, since they are in its
// headers, if a frame with a line remains; and all but one of several frames in a row without a name in one library.
func withoutStandard(all []stack.Frame) (frames []stack.Frame) {
	standard := func(f stack.Frame) bool { return strings.Contains(f.File, "/c++/") && f.Func != "main" }
	user := slices.ContainsFunc(all, func(f stack.Frame) bool { return f.Line > 0 && !standard(f) })
	frames = make([]stack.Frame, 0, len(all))
	for k, f := range all {
		repeats := k > 0 && f.Func == unnamed && all[k-1].Func == unnamed && f.From == all[k-1].From
		if !repeats && !(user && standard(f)) {
			frames = append(frames, f)
		}
	}
	return frames
}

func isPython(f stack.Frame) bool {
	return strings.HasSuffix(f.File, ".py") || strings.HasPrefix(f.File, "<")
}

// ofLibrary reports whether a file is one of Python's own modules.
func ofLibrary(file string) bool {
	if strings.HasPrefix(file, "<frozen") {
		return true
	}
	_, rest, found := strings.Cut(file, "/lib/python3")
	return found && !strings.Contains(rest, "-packages/")
}

// interpreterFunctions returns the names of the functions of a thread that are in the interpreter or its own
// extensions.
func (m *team) interpreterFunctions(i int) map[string]bool {
	own := map[string]bool{}
	for _, f := range m.shot.Threads[i].Stack.Frames {
		if !m.ofInterpreter(f) {
			continue
		}
		places, _ := m.at(f.Lookup())
		for _, x := range places {
			own[x.Function] = true
		}
	}
	delete(own, unnamed)
	return own
}

// ofInterpreter reports whether a frame is of the interpreter or one of its own extensions.
func (m *team) ofInterpreter(f unwind.Frame) bool {
	k := m.module(f.Lookup())
	return m.place(f) == splice.Interpreter || k >= 0 && strings.Contains(m.modules[k].Path, "/lib-dynload/")
}

// interpreterWaits reports whether the interpreter or one of its own extensions has called the function of the C
// library in which a thread waits.
func (m *team) interpreterWaits(i int) bool {
	for _, f := range m.shot.Threads[i].Stack.Frames {
		if k := m.module(f.Lookup()); k < 0 || !kernelcall.IsC(" from "+filepath.Base(m.modules[k].Path)) {
			return m.ofInterpreter(f)
		}
	}
	return false
}

// framesText returns the innermost functions of a stack, one in each line. If function is not "", it begins with the
// caller of this function of MPI, whose name is without MPI_. signal names the signals of handlers.
func framesText(frames []stack.Frame, function, signal string) string {
	end := len(frames)
	if function != "" {
		is := func(f stack.Frame) bool { return strings.TrimPrefix(f.Func, "P") == "MPI_"+function }
		if !slices.ContainsFunc(frames, is) { // the function has ended in a jump to another one, so that it has no frame
			is = ofMPI
		}
		if i := slices.IndexFunc(frames, is); i >= 0 {
			for i > 1 && ofMPI(frames[i-1]) { // the library for Fortran has called it
				i--
			}
			end = i
		}
		named := func(f stack.Frame) bool { return f.Func != unnamed }
		if slices.ContainsFunc(frames[:end], named) {
			for end > 0 && !named(frames[end-1]) { // of a library without symbols, such as the one of mpi4py
				end--
			}
		}
	}
	var names []string
	most := wait.MaxFrames
	for i := end - 1; i >= 0 && len(names) < most; i-- {
		f := frames[i]
		text := f.Func
		switch {
		case text == handlerCalled:
			text, most = wait.HandlerFrame+" "+signal, min(len(names), wait.MaxFrames)+1+wait.MaxFrames
		case kernelcall.IsC(" from " + filepath.Base(f.From)): // also with a line: verdicts know its functions by that
			text += " from " + filepath.Base(f.From)
		case f.File != "":
			text += " " + filepath.Base(f.File) + ":" + strconv.Itoa(f.Line)
		case f.From != "":
			text += " from " + filepath.Base(f.From)
		}
		names = append(names, text)
	}
	return strings.Join(names, "\n")
}

// ofMPI reports whether a function is in a library of MPI.
func ofMPI(f stack.Frame) bool { return mpi.IsLibrary(filepath.Base(f.From)) }
