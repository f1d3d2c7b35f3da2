// Stacks of processes.

package probe

import (
	"bytes"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"sdm/backend/probe/hold"
	"sdm/backend/probe/snapshot"
	"sdm/backend/probe/unwind"
	"sdm/protocol/stack"
)

// sample is the stacks of one process.
type sample struct {
	err     error // nothing could be read
	threads [][]stack.Frame
}

// bytesAt reads an image from memory that was copied.
func bytesAt(b []byte) io.ReaderAt { return bytes.NewReader(b) }

// take stops all threads of processes at once, copies their stacks, lets them go and follows the
// stacks. by is the granularity of stacks: function, line or address.
func (c cache) take(pids []int, by string) []sample {
	out := make([]sample, len(pids))
	var known []*process
	var index, live []int
	for i, pid := range pids {
		p, err := c.look(pid)
		if out[i].err = err; err == nil {
			known, index, live = append(known, p), append(index, i), append(live, pid)
		}
	}
	held := hold.Together(live, hold.Defaults, hold.Steps{
		StackEnd: func(i int, sp uint64) uint64 { return known[i].stackEnd(sp) },
	})
	for i := range held {
		s := &out[index[i]]
		shot := known[i].snapshot(&held[i])
		for t := range shot.Threads {
			s.threads = append(s.threads, known[i].frames(&shot.Threads[t], by))
		}
		if len(s.threads) == 0 {
			s.err = errNoMemory
		}
	}
	return out
}

// frames returns the stack of a thread, outermost frame first. Where the stack could not be
// followed, the outermost frame says so.
func (p *process) frames(t *snapshot.Thread, by string) []stack.Frame {
	if t.Why != "" {
		return []stack.Frame{{Func: "(thread not read: " + t.Why + ")"}}
	}
	var frames []stack.Frame
	for _, f := range t.Stack.Frames {
		frames = append(frames, p.places(f, by)...)
	}
	if t.Stack.Cut != "" {
		frames = append(frames, stack.Frame{Func: "(cut: " + t.Stack.Cut + ")"})
	}
	slices.Reverse(frames)
	return trimRoot(frames)
}

// unnamed stands for a function without a name, as in gdb.
const unnamed = "??"

// trimRoot removes what called main, and functions without a name at the start of a thread, which
// are in the C library. A stack that is cut is left as it is.
func trimRoot(frames []stack.Frame) []stack.Frame {
	isMain := func(f stack.Frame) bool { return f.Func == "main" && f.From == "" }
	if i := slices.IndexFunc(frames, isMain); i >= 0 {
		return frames[i:]
	}
	for len(frames) > 1 && frames[0].Func == unnamed && strings.HasPrefix(filepath.Base(frames[0].From), "libc.") {
		frames = frames[1:]
	}
	return frames
}

// places returns the frames of a level of the stack, innermost first: those of inlined functions
// and the one of the function that contains them. As in gdb, a frame with a line has no library.
func (p *process) places(f unwind.Frame, by string) (frames []stack.Frame) {
	if f.Signal {
		return []stack.Frame{{Func: "<signal handler called>"}}
	}
	places, library := p.at(f.Lookup())
	for _, x := range places {
		out := stack.Frame{Func: x.Function}
		switch {
		case x.Line == 0:
			out.From = library
		case by != "function":
			out.File, out.Line = x.File, x.Line
		}
		if by == "address" {
			out.Addr = "0x" + strconv.FormatUint(f.PC, 16)
		}
		frames = append(frames, out)
	}
	return frames
}
