// Frames without names at the ends of stacks: in libc from glibc 2.41 on, where a
// thread waits and where it was started.

package values

import (
	"slices"
	"strconv"

	"sdm/backend/gdb/gdbtext"
	"sdm/backend/gdb/request"
	"sdm/backend/mi"
)

// maxNameless bounds the search for a frame with a name, from the innermost frame.
const maxNameless = 20

// nameless reports whether gdb has no name for the function of a frame.
func nameless(f Frame) bool { return f.Func == "" || f.Func == "??" }

// namedLeaf removes frames without a name from the inner end of a stack, innermost
// frame first: from glibc 2.41 on a waiting thread has two or three of them. Those in
// the library of the first frame with a name are removed; one remains for each other
// library, and one for code in no library.
func namedLeaf(frames []Frame) []Frame {
	n := 0
	for n < len(frames) && nameless(frames[n]) {
		n++
	}
	if n == 0 || n == len(frames) {
		return frames
	}
	var leaf []Frame
	for i, f := range frames[:n] {
		if next := frames[i+1].library; f.library != next || f.library == "" && i == n-1 {
			leaf = append(leaf, f)
		}
	}
	return append(leaf, frames[n:]...)
}

// namedRoot removes the frames before the function of a thread from the outer end of
// its stack, if they have no names: the start of threads in libc.
func namedRoot(frames []Frame) []Frame {
	level, ok := threadFunction(frames)
	if !ok || slices.ContainsFunc(frames[level+1:], func(f Frame) bool { return !nameless(f) }) {
		return frames
	}
	return frames[:level+1]
}

// NameFrame replaces the frame in t.Stop by the innermost frame with a name, and calls then. It does so
// only if the thread has stopped for no reason of its own, or ended as a core file without a crash.
func (fr *Frames) NameFrame(t *Thread, then func()) {
	f, ok := FrameIn(t.Stop)
	if !ok || !nameless(f) || OwnReason(t.Stop) && (!fr.IsCore() || Crashed(t.Stop) != "") {
		then()
		return
	}
	fr.Ask(request.Internal("backtrace"), func(a request.Answer) {
		if named, ok := firstNamed(a.Results.Path("stack").Fields); ok {
			t.Stop = WithFrame(t.Stop, named)
		}
		then()
	}, "-stack-list-frames", "--thread", fr.GDBThread(t.ID), "0", strconv.Itoa(maxNameless))
}

// firstNamed returns the innermost frame with a name, with level 0: the level differs
// between ranks that wait in the same place.
func firstNamed(frames mi.Tuple) (mi.Value, bool) {
	for v := range frames.All("frame") {
		if !nameless(FrameOf(v.Fields)) {
			return gdbtext.WithField(v, "level", "0"), true
		}
	}
	return mi.Value{}, false
}
