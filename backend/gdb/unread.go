// Symbols of libraries that are read when something needs them.

package gdb

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"sdm/backend/gdb/inferior"
	"sdm/backend/mi"
	"sdm/protocol"
)

// unread is what is known of the libraries of a rank that has been attached to. Their
// symbols are not read then (auto-solib-add off): an Open MPI rank has 70 of them, which are
// two thirds of what it costs to attach. What a command needs of them is read before it is
// answered, so that no answer differs from that of a gdb which has read them all:
//
//   - a stack needs those in which its frames lie. gdb says of such a frame where it lies,
//     and no name; what it says of the frames behind is a guess, so they are looked at again;
//   - a value needs them where it may point into one of them (gdb shows the name of what is there);
//   - nearly all else needs them all: a breakpoint on a function, a step, an expression. See
//     needsLibraries.
type unread struct {
	some    bool          // there may be libraries whose symbols have not been read
	read    []string      // by name, as gdb has it: have been
	pending int           // how many readings gdb has not finished
	began   time.Duration // when the first of these was asked for
	told    bool          // people have been told that it takes long
	enough  bool          // it was interrupted: the present commands make do with what there is
}

// untold is how long reading symbols may take before people are told.
const untold = 500 * time.Millisecond

// libraryRounds is how often a stack is looked at again before all libraries are read.
const libraryRounds = 6

// readLibraries makes gdb read the symbols of all libraries, of those that come later, too, before
// what it is told next.
func (m *machine) readLibraries() {
	if !m.missSymbols() {
		return
	}
	m.unread.some = false
	m.tell(readingLibraries, "-gdb-set", "auto-solib-add", "on")
	m.readSymbols("sharedlibrary", func() { m.unread.some = true })
}

// missSymbols tells whether there may be symbols that a command needs and gdb could still read.
func (m *machine) missSymbols() bool { return m.unread.some && !m.unread.enough }

// readSymbols gives gdb a line that reads symbols. An interrupt ends that.
func (m *machine) readSymbols(line string, interrupted func()) {
	u := &m.unread
	if u.pending == 0 {
		u.began = m.now
	}
	u.pending++
	m.ask(ours(readingLibraries), func(a answer) {
		if u.pending--; u.pending == 0 {
			m.tellReading(false)
		}
		if !a.failed() {
			return
		}
		interrupted()
		if !u.enough && !m.state.IsOver() {
			u.enough = true
			m.event(protocol.KindNote, protocol.Note{Text: "symbols of libraries were not all read: " + strings.Replace(a.Results.Str("msg"), "Quit", "interrupted", 1)})
		}
	}, "-interpreter-exec", append(m.somewhere(), "console", line)...)
}

// tellReading tells that reading symbols takes long, or that it is over.
func (m *machine) tellReading(on bool) {
	if m.unread.told != on && !m.state.IsOver() {
		m.event(protocol.KindLoading, protocol.Loading{Done: !on})
	}
	m.unread.told = on
}

// readingDue is when people are to be told that it takes long, 0 for never.
func (m *machine) readingDue() time.Duration {
	if m.unread.pending == 0 || m.unread.told {
		return 0
	}
	return m.unread.began + untold
}

// readingLibraries is what gdb is busy with.
const readingLibraries = "the symbols of libraries"

// readThese reads those of some libraries, and of all that a neighbour needed. It tells whether there are
// any that have not been read.
func (m *machine) readThese(libraries []string) bool {
	fresh := slices.DeleteFunc(slices.Clone(libraries), func(l string) bool { return slices.Contains(m.unread.read, l) })
	if !m.missSymbols() || len(fresh) == 0 {
		return false
	}
	for _, l := range append(fresh, m.gdb.libraries...) {
		if slices.Contains(m.unread.read, l) {
			continue
		}
		m.unread.read = append(m.unread.read, l)
		if !slices.Contains(m.gdb.libraries, l) {
			m.gdb.libraries = append(m.gdb.libraries, l)
		}
		m.readSymbols("sharedlibrary "+libraryPattern(l), func() { m.libraryGone(l) })
	}
	return true
}

// libraryGone sees that the symbols of a library must be read when it is needed
// again.
func (m *machine) libraryGone(name string) {
	m.unread.read = slices.DeleteFunc(m.unread.read, func(l string) bool { return l == name })
}

// libraryPattern is a regular expression of gdb's that fits a name: what may mean something in one stands as
// any letter, since gdbs differ in what they take.
func libraryPattern(name string) string {
	return "^" + strings.Map(func(r rune) rune {
		if strings.ContainsRune(`*+?[]{}()|^$\`, r) {
			return '.'
		}
		return r
	}, name) + "$"
}

// unnamedIn gives the library in which a frame without a name lies, or "".
func unnamedIn(frame mi.Tuple) string {
	if frame.Str("func") == "??" {
		return strings.Clone(frame.Str("from"))
	}
	return ""
}

// needsLibraries tells whether a command may need symbols of any library. Those that do
// not look after themselves.
func needsLibraries(q *request) bool {
	switch q.name {
	case "continue", "signal", "interrupt", "kill", "detach",
		"delete", "enable", "disable", "ignore", "info breakpoints", "info watchpoints", "undisplay", "info display",
		"handle", "info signals", "info sharedlibrary", "sharedlibrary",
		"stacks", "frame", "up", "down", "thread", "info threads":
		return false
	case "backtrace":
		return q.args.Full
	case "print": // in the innermost frame, where named has been, or in one that was chosen
		return q.args.Frame != nil || q.args.Thread != 0 || !plain.MatchString(strings.TrimSpace(q.args.Expr)) || q.args.Format != "" || q.args.Last > 0
	}
	return true
}

// plain are expressions that can be evaluated twice.
var plain = regexp.MustCompile(`^\**[A-Za-z_]\w*((\.|->)[A-Za-z_]\w*|\[\w+\])*$`)

// incomplete tells whether an answer to a plain expression might be another one
// with all libraries. A structure has members of all kinds, and perhaps a pretty-printer that comes with a library.
func (m *machine) incomplete(a answer) bool {
	value := a.Results.Str("value")
	return m.missSymbols() && (a.failed() || strings.Contains(value, "{") || m.pointsIntoLibraries(value))
}

var hexadecimal = regexp.MustCompile(`0x[0-9a-f]+`)

// pointsIntoLibraries tells whether something in values may be an address in a
// library, for which gdb would know a name.
func (m *machine) pointsIntoLibraries(values ...string) bool {
	if !m.missSymbols() {
		return false
	}
	var spans []inferior.Span
	for _, v := range values {
		for _, text := range hexadecimal.FindAllString(v, -1) {
			if spans == nil {
				spans = m.libraries()
			}
			addr, err := strconv.ParseUint(text[2:], 16, 64)
			if err != nil || slices.ContainsFunc(spans, func(s inferior.Span) bool { return s.Holds(addr) }) {
				return true
			}
		}
	}
	return false
}

// reach goes on when the frames of a thread down to level last are what they are with all
// libraries.
func (m *machine) reach(q *request, thread, last int, then func()) {
	m.reachAgain(q, thread, last, 0, then)
}

func (m *machine) reachAgain(q *request, thread, last, round int, then func()) {
	if !m.missSymbols() {
		then()
		return
	}
	m.ask(q, func(a answer) {
		if m.readMore(m.unnamedFrames(a.Results), round) {
			m.reachAgain(q, thread, last, round+1, then)
			return
		}
		then()
	}, "-stack-list-frames", "--thread", m.gdbThread(thread), "0", strconv.Itoa(last))
}

// unnamedFrames gives the libraries in which frames without a name lie, where that may be
// for want of symbols.
func (m *machine) unnamedFrames(stack mi.Tuple) (libraries []string) {
	if !m.missSymbols() {
		return nil
	}
	for v := range stack.Path("stack").Fields.All("frame") {
		if l := unnamedIn(v.Fields); l != "" {
			libraries = append(libraries, l)
		}
	}
	return libraries
}

// readForThreads reads what the innermost frames of threads need. It tells whether there was
// something to read.
func (m *machine) readForThreads(list mi.Tuple) bool {
	var libraries, values []string
	for _, e := range list {
		if f, ok := e.Value.Fields.Get("frame"); ok {
			libraries = append(libraries, unnamedIn(f.Fields))
			values = append(values, frameOf(f.Fields).values...)
		}
	}
	if m.pointsIntoLibraries(values...) {
		m.readLibraries()
		return true
	}
	return m.readThese(slices.DeleteFunc(libraries, func(l string) bool { return l == "" }))
}

// readMore reads those libraries that frames lie in, or all when that has been done often.
// It tells whether there was something to read.
func (m *machine) readMore(libraries []string, round int) bool {
	if round < libraryRounds {
		return m.readThese(libraries)
	}
	missing := m.missSymbols()
	m.readLibraries()
	return missing
}

// named goes on when gdb has names for where those threads stand of which the stop of
// thread t will tell.
func (m *machine) named(t *thread, then func()) {
	if !m.missSymbols() {
		then()
		return
	}
	var missing, values []string
	var all []*thread
	for _, th := range m.threads {
		if th != t && !ownReason(th.stop) {
			continue
		}
		all = append(all, th)
		if f, ok := th.stop.Get("frame"); ok {
			missing = append(missing, unnamedIn(f.Fields))
			values = append(values, frameOf(f.Fields).values...)
		}
		values = append(values, th.stop.Str("return-value"))
	}
	missing = slices.DeleteFunc(missing, func(l string) bool { return l == "" })
	if m.pointsIntoLibraries(values...) {
		m.readLibraries()
	} else if !m.readThese(missing) {
		then()
		return
	}
	for i, th := range all {
		m.ask(ours(readingLibraries), func(a answer) {
			for _, e := range a.Results.Path("threads").Fields {
				if f, ok := e.Value.Fields.Get("frame"); ok {
					th.stop = withFrame(th.stop, f)
				}
			}
			switch {
			case i < len(all)-1 || m.state.IsOver():
			case m.pointsIntoLibraries(frameValues(all)...): // of a library of one's own, which has just been read
				m.named(t, then)
			default:
				then()
			}
		}, "-thread-info", strconv.Itoa(th.gdb))
	}
}

func frameValues(list []*thread) (values []string) {
	for _, t := range list {
		if f, ok := frameIn(t.stop); ok {
			values = append(values, f.values...)
		}
	}
	return values
}

// withFrame is a stop with another frame.
func withFrame(stop mi.Tuple, f mi.Value) mi.Tuple {
	stop = slices.Clone(stop)
	for i := range stop {
		if stop[i].Name == "frame" {
			stop[i].Value = f
		}
	}
	return stop
}
