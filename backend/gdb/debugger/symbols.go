// Deferred symbols: symbols of libraries, read when a command needs them.

package debugger

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"sdm/backend/gdb/gdbtext"
	"sdm/backend/gdb/inferior"
	"sdm/backend/gdb/request"
	"sdm/backend/gdb/values"
	"sdm/backend/mi"
	"sdm/protocol"
	"sdm/protocol/pattern"
)

// symbols is the state of the libraries of a rank that was attached to. Their symbols
// are not read at the attach (auto-solib-add off): an Open MPI rank has 70 libraries,
// which take two thirds of the time of an attach. What a command needs is read before
// it is answered, so that every answer is as if gdb had read all:
//
//   - A stack needs the libraries of its frames. For such a frame gdb reports the library and no
//     name; the frames further out are guesses, so the stack is listed again.
//   - A value needs a library that it may point into, because gdb shows the symbol there.
//   - Nearly all else needs all libraries: a breakpoint on a function, a step, an expression.
//     See needsLibraries.
type symbols struct {
	*core
	Deferred bool          // there may be libraries whose symbols have not been read
	read     []string      // names of libraries that have been read, as gdb has them
	pending  int           // number of readings that gdb has not finished
	began    time.Duration // when the first of these was requested
	told     bool          // the user has been told that it takes long
	enough   bool          // interrupted: the present commands use what there is
}

// noticeDelay is how long reading symbols may take before the user is told.
const noticeDelay = 500 * time.Millisecond

// libraryRounds is how often a stack is listed again before all libraries are read.
const libraryRounds = 6

// ReadLibraries makes gdb read the symbols of all libraries, present and future, before
// its next command.
func (sy *symbols) ReadLibraries() {
	if !sy.missSymbols() {
		return
	}
	sy.Deferred = false
	sy.Tell(readingLibraries, "-gdb-set", "auto-solib-add", "on")
	sy.readSymbols("sharedlibrary", func() { sy.Deferred = true })
}

// missSymbols reports whether there may be symbols that gdb has not read and may still
// read.
func (sy *symbols) missSymbols() bool { return sy.Deferred && !sy.enough }

// readSymbols executes a line that reads symbols. An interrupt aborts it.
func (sy *symbols) readSymbols(line string, interrupted func()) {
	u := sy
	if u.pending == 0 {
		u.began = sy.now
	}
	u.pending++
	sy.ask(request.Internal(readingLibraries), func(a request.Answer) {
		if u.pending--; u.pending == 0 {
			sy.tellReading(false)
		}
		if !a.Failed() {
			return
		}
		interrupted()
		if !u.enough && !sy.State.IsOver() {
			u.enough = true
			sy.Event(protocol.KindNote, protocol.Note{Text: "symbols of libraries were not all read: " + strings.Replace(a.Results.Str("msg"), "Quit", "interrupted", 1)})
		}
	}, "-interpreter-exec", append(sy.somewhere(), "console", line)...)
}

// tellReading reports that reading symbols takes long, or that it has ended.
func (sy *symbols) tellReading(on bool) {
	if sy.told != on && !sy.State.IsOver() {
		sy.Event(protocol.KindLoading, protocol.Loading{Done: !on})
	}
	sy.told = on
}

// readingDue returns the time at which the user is told that it takes long; 0: never.
func (sy *symbols) readingDue() time.Duration {
	if sy.pending == 0 || sy.told {
		return 0
	}
	return sy.began + noticeDelay
}

// readingLibraries describes what gdb is busy with.
const readingLibraries = "the symbols of libraries"

// readThese reads the symbols of some libraries, and of all that another rank of this
// gdb needed. It reports whether any had not been read.
func (sy *symbols) readThese(libraries []string) bool {
	fresh := slices.DeleteFunc(slices.Clone(libraries), func(l string) bool { return slices.Contains(sy.read, l) })
	if !sy.missSymbols() || len(fresh) == 0 {
		return false
	}
	for _, l := range append(fresh, sy.GDB.libraries...) {
		if slices.Contains(sy.read, l) {
			continue
		}
		sy.read = append(sy.read, l)
		if !slices.Contains(sy.GDB.libraries, l) {
			sy.GDB.libraries = append(sy.GDB.libraries, l)
		}
		sy.readSymbols("sharedlibrary "+gdbtext.LibraryPattern(l), func() { sy.libraryGone(l) })
	}
	return true
}

// libraryGone has the symbols of a library read again when they are needed.
func (sy *symbols) libraryGone(name string) {
	sy.read = slices.DeleteFunc(sy.read, func(l string) bool { return l == name })
}

// unnamedIn returns the library of a frame without a name, or "".
func unnamedIn(frame mi.Tuple) string {
	if frame.Str("func") == "??" {
		return strings.Clone(frame.Str("from"))
	}
	return ""
}

// needsLibraries reports whether a command may need symbols of any library. The others
// read what they need themselves.
func needsLibraries(info protocol.CommandInfo, q *request.Request) bool {
	switch {
	case info.OwnSymbols:
		return q.Args.Full // the locals of backtrace
	case q.Name == "print": // in the innermost frame, which named has completed, or in a selected one
		return q.Args.Frame != nil || q.Args.Thread != 0 || q.Args.Format != "" || q.Args.Last > 0 ||
			!gdbtext.Plain.MatchString(strings.TrimSpace(q.Args.Expr))
	}
	return true
}

// Incomplete reports whether the answer for a plain expression might differ with all
// libraries. A structure may have pointers as members, or a pretty-printer that comes
// with a library.
func (sy *symbols) Incomplete(a request.Answer) bool {
	value := a.Results.Str("value")
	return sy.missSymbols() && (a.Failed() || strings.Contains(value, "{") || sy.PointsIntoLibraries(value))
}

var hexadecimal = pattern.New(`0x[0-9a-f]+`)

// PointsIntoLibraries reports whether values may contain an address in a library, for
// which gdb would show a symbol.
func (sy *symbols) PointsIntoLibraries(texts ...string) bool {
	if !sy.missSymbols() {
		return false
	}
	var spans []inferior.Span
	for _, v := range texts {
		for _, text := range hexadecimal.FindAllString(v, -1) {
			if spans == nil {
				spans = sy.Host.spans(sy.Target.PID)
			}
			addr, err := strconv.ParseUint(text[2:], 16, 64)
			if err != nil || slices.ContainsFunc(spans, func(s inferior.Span) bool { return s.Holds(addr) }) {
				return true
			}
		}
	}
	return false
}

// Reach calls then when the frames of a thread down to level last are those that gdb
// would list with all libraries.
func (sy *symbols) Reach(q *request.Request, thread, last int, then func()) {
	sy.reachAgain(q, thread, last, 0, then)
}

func (sy *symbols) reachAgain(q *request.Request, thread, last, round int, then func()) {
	if !sy.missSymbols() {
		then()
		return
	}
	sy.ask(q, func(a request.Answer) {
		if sy.ReadMore(sy.UnnamedFrames(a.Results), round) {
			sy.reachAgain(q, thread, last, round+1, then)
			return
		}
		then()
	}, "-stack-list-frames", "--thread", sy.GDBThread(thread), "0", strconv.Itoa(last))
}

// UnnamedFrames returns the libraries of frames without a name, if symbols may be
// missing.
func (sy *symbols) UnnamedFrames(stack mi.Tuple) (libraries []string) {
	if !sy.missSymbols() {
		return nil
	}
	for v := range stack.Path("stack").Fields.All("frame") {
		if l := unnamedIn(v.Fields); l != "" {
			libraries = append(libraries, l)
		}
	}
	return libraries
}

// ReadForThreads reads what the innermost frames of threads need. It reports whether
// something had to be read.
func (sy *symbols) ReadForThreads(list mi.Tuple) bool {
	var libraries, texts []string
	for _, e := range list {
		if f, ok := e.Value.Fields.Get("frame"); ok {
			libraries = append(libraries, unnamedIn(f.Fields))
			texts = append(texts, values.FrameOf(f.Fields).Values...)
		}
	}
	if sy.PointsIntoLibraries(texts...) {
		sy.ReadLibraries()
		return true
	}
	return sy.readThese(slices.DeleteFunc(libraries, func(l string) bool { return l == "" }))
}

// ReadMore reads those libraries, or all after libraryRounds. It reports whether
// something had to be read.
func (sy *symbols) ReadMore(libraries []string, round int) bool {
	if round < libraryRounds {
		return sy.readThese(libraries)
	}
	missing := sy.missSymbols()
	sy.ReadLibraries()
	return missing
}

// named calls then when gdb has names for the frames of all threads that the stop of t
// reports.
func (sy *symbols) named(t *values.Thread, then func()) {
	if !sy.missSymbols() {
		then()
		return
	}
	var missing, texts []string
	var all []*values.Thread
	for _, th := range sy.threads {
		if th != t && !values.OwnReason(th.Stop) {
			continue
		}
		all = append(all, th)
		if f, ok := th.Stop.Get("frame"); ok {
			missing = append(missing, unnamedIn(f.Fields))
			texts = append(texts, values.FrameOf(f.Fields).Values...)
		}
		texts = append(texts, th.Stop.Str("return-value"))
	}
	missing = slices.DeleteFunc(missing, func(l string) bool { return l == "" })
	if sy.PointsIntoLibraries(texts...) {
		sy.ReadLibraries()
	} else if !sy.readThese(missing) {
		then()
		return
	}
	for i, th := range all {
		sy.ask(request.Internal(readingLibraries), func(a request.Answer) {
			for _, e := range a.Results.Path("threads").Fields {
				if f, ok := e.Value.Fields.Get("frame"); ok {
					th.Stop = values.WithFrame(th.Stop, f)
				}
			}
			switch {
			case i < len(all)-1 || sy.State.IsOver():
			// a value points into a library that has just been read
			case sy.PointsIntoLibraries(frameValues(all)...):
				sy.named(t, then)
			default:
				then()
			}
		}, "-thread-info", strconv.Itoa(th.GDB))
	}
}

func frameValues(list []*values.Thread) (texts []string) {
	for _, t := range list {
		if f, ok := values.FrameIn(t.Stop); ok {
			texts = append(texts, f.Values...)
		}
	}
	return texts
}

// ReadsAll records that gdb is about to read the symbols of all libraries, and makes it read the
// symbols of libraries that are loaded later.
func (sy *symbols) ReadsAll(task string) {
	sy.Deferred = false
	sy.Tell(task, "-gdb-set", "auto-solib-add", "on")
}

// startOver forgets what the last gdb has read.
func (sy *symbols) startOver() {
	sy.tellReading(false)
	*sy = symbols{core: sy.core, Deferred: sy.GDB.DefersSymbols}
}
