// Frames without names at the ends of stacks: system calls have them from glibc 2.41 on, and threads where they start.

package gdb

import (
	"slices"
	"strconv"

	"sdm/backend/mi"
	"sdm/protocol"
)

// mostNameless bounds how far from the innermost frame one with a name is looked for.
const mostNameless = 20

// nameless tells whether gdb has no name for the function of a frame.
func nameless(f frame) bool { return f.Func == "" || f.Func == "??" }

// namedLeaf takes frames without a name off the inner end of a stack, which has the innermost frame first: from glibc 2.41 on, one that waits
// ends in two or three of them. Those in the library of the first frame with a name go; for those in another library one
// remains, and one for code that is in none.
func namedLeaf(frames []frame) []frame {
	n := 0
	for n < len(frames) && nameless(frames[n]) {
		n++
	}
	if n == 0 || n == len(frames) {
		return frames
	}
	var leaf []frame
	for i, f := range frames[:n] {
		if next := frames[i+1].library; f.library != next || f.library == "" && i == n-1 {
			leaf = append(leaf, f)
		}
	}
	return append(leaf, frames[n:]...)
}

// namedRoot takes what is before the function of a thread off the outer end of its stack, where that has no names: the start of threads in libc.
func namedRoot(frames []frame) []frame {
	level, ok := threadFunction(frames)
	if !ok || slices.ContainsFunc(frames[level+1:], func(f frame) bool { return !nameless(f) }) {
		return frames
	}
	return frames[:level+1]
}

// standsNamed goes on when the frame of a thread that has not stopped by itself, and so is shown where it waits, is one that has a name.
func (m *machine) standsNamed(t *thread, then func()) {
	f, ok := frameIn(t.stop)
	if !ok || !nameless(f) || ownReason(t.stop) && (!m.isCore() || crashed(t.stop) != "") {
		then()
		return
	}
	m.ask(ours("backtrace"), func(a answer) {
		if named, ok := firstNamed(a.Results.Path("stack").Fields); ok {
			t.stop = withFrame(t.stop, named)
		}
		then()
	}, "-stack-list-frames", "--thread", m.gdbThread(t.id), "0", strconv.Itoa(mostNameless))
}

// stopNamed reports where a rank stands that has not stopped by itself.
func (m *machine) stopNamed(t *thread, reason string) {
	report := func(f *protocol.Frame, called string) {
		body := m.stopBody(t, reason)
		body.Caller, body.Within = f, called
		m.event(protocol.KindStopped, body, m.stopColumns(t)...)
	}
	m.standsNamed(t, func() {
		if crashed(t.stop) == "" {
			report(nil, "")
			return
		}
		m.libraryCaller(t, report)
	})
}

// firstNamed gives the innermost frame with a name, as if it were the innermost of all: the level differs between ranks that wait for the same.
func firstNamed(frames mi.Tuple) (mi.Value, bool) {
	for v := range frames.All("frame") {
		if !nameless(frameOf(v.Fields)) {
			return withField(v, "level", "0"), true
		}
	}
	return mi.Value{}, false
}

// withField is a tuple with another value of a field.
func withField(v mi.Value, name, value string) mi.Value {
	fields := append(mi.Tuple{}, v.Fields...)
	for i := range fields {
		if fields[i].Name == name {
			fields[i].Value = mi.Value{Str: value}
		}
	}
	v.Fields = fields
	return v
}
