// Helper threads: threads of MPI and other runtimes, recognized by their stacks.

package values

import (
	"slices"
	"strings"

	"sdm/backend"
	"sdm/backend/gdb/gdbtext"
	"sdm/protocol/stack"
)

// threadFunction finds the function that a thread was started with: its level in a
// stack, innermost frame first. There is none for a stack that does not begin where threads start,
// as the main thread's, or that gdb cannot unwind to its end.
//
//	#3 ?? () from libpmix.so.2     the function
//	#4 ?? () from libc.so.6        start_thread
//	#5 ?? () from libc.so.6        clone3
func threadFunction(frames []Frame) (level int, ok bool) {
	end := len(frames)
	for end > 0 && frames[end-1].library == "" && frames[end-1].File == "" && gdbtext.Address(frames[end-1].Addr) == 0 {
		end-- // beyond clone, where gdb has no unwind information
	}
	level = end - 1
	for level >= 0 && backend.StartsThreads(frames[level].Func, frames[level].library) {
		level--
	}
	return level, level >= 0 && level < end-1
}

// helper reports whether a thread belongs to a runtime: no frame is code of the user. It returns the frame
// that stands for the whole stack: the function that the thread was started with, and its library.
func (o objects) helper(frames []Frame) (stack.Frame, bool) {
	level, ok := threadFunction(frames)
	files := o.paths()
	ofUser := func(f Frame) bool { return files.OfUser(f.Func, o.of(f), f.File != "") }
	if !ok || slices.ContainsFunc(frames[:level+1], ofUser) {
		return stack.Frame{}, false
	}
	return stack.Frame{Func: strings.Clone(frames[level].Func), From: strings.Clone(o.of(frames[level]))}, true
}

// needsObjects reports whether helper needs the list of libraries.
func needsObjects(frames []Frame) bool {
	level, ok := threadFunction(frames)
	return ok && slices.ContainsFunc(frames[:level+1], func(f Frame) bool { return !backend.IsOfSystem(objects{}.of(f)) })
}
