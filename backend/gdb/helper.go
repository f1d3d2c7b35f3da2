// Helper threads: those of MPI and of other runtimes, by their stacks.

package gdb

import (
	"slices"
	"strings"

	"sdm/protocol/stack"
)

// startFunction are the functions with which threads begin, by the names they have where there are symbols for them.
var startFunction = map[string]bool{"clone": true, "__clone": true, "clone3": true, "__clone3": true, "start_thread": true, "thread_start": true}

// threadFunction finds the function that a thread was started with: its level in a stack, innermost frame first. A stack that does
// not begin where threads begin, as that of the main thread or one that gdb cannot follow to its end, has none.
//
//	#3 ?? () from libpmix.so.2     the function
//	#4 ?? () from libc.so.6        start_thread
//	#5 ?? () from libc.so.6        clone3
func threadFunction(frames []frame) (level int, ok bool) {
	end := len(frames)
	for end > 0 && frames[end-1].library == "" && frames[end-1].File == "" && address(frames[end-1].addr) == 0 {
		end-- // behind clone, where gdb goes on for want of unwind information
	}
	level = end - 1
	for level >= 0 && (startFunction[frames[level].Func] || startLibrary.MatchString(frames[level].library)) {
		level--
	}
	return level, level >= 0 && level < end-1
}

// helper tells whether a thread is one of a runtime: none of its frames is code of the user. It gives what stands for its stack: the
// function that the thread was started with, and the library.
func (o objects) helper(frames []frame) (stack.Frame, bool) {
	level, ok := threadFunction(frames)
	if !ok || slices.ContainsFunc(frames[:level+1], o.ofUser) {
		return stack.Frame{}, false
	}
	return stack.Frame{Func: strings.Clone(frames[level].Func), From: strings.Clone(o.of(frames[level]))}, true
}

// needsObjects tells whether the list of libraries must be known to tell whether a thread is a helper.
func needsObjects(frames []frame) bool {
	level, ok := threadFunction(frames)
	return ok && slices.ContainsFunc(frames[:level+1], func(f frame) bool { return !systemLibrary.MatchString(objects{}.of(f)) })
}
