// Commands about whole stacks.

package debugger

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"sdm/backend/gdb/gdbtext"
	"sdm/backend/mi"
	"sdm/protocol"
	"sdm/protocol/canonical"
	"sdm/protocol/stack"
)

const (
	// mostFrames bounds a backtrace without a limit: an endless recursion has millions
	// of frames.
	mostFrames = 10_000
	// mostCounted bounds the depth of a stack whose outermost frames are shown: gdb
	// keeps each frame in memory.
	mostCounted = 100_000
	// mostMerged bounds the depth of each stack in the merged tree.
	mostMerged = 1000
)

// listFrames returns levels first to last of a thread with their arguments, as far as
// they exist, or gdb's error.
func (m *Machine) listFrames(q *Request, thread, first, last int, then func(frames []frame, refusal string)) {
	m.reach(q, thread, last, func() { m.listReached(q, thread, first, last, then) })
}

func (m *Machine) listReached(q *Request, thread, first, last int, then func(frames []frame, refusal string)) {
	at := []string{"--thread", m.gdbThread(thread)}
	low, high := strconv.Itoa(first), strconv.Itoa(last)
	var frames []frame
	var refusal string
	m.ask(q, func(a answer) {
		refusal = a.Results.Str("msg")
		for v := range a.Results.Path("stack").Fields.All("frame") {
			frames = append(frames, frameOf(v.Fields))
		}
	}, "-stack-list-frames", append(at, low, high)...)
	k := m.ask(q, func(a answer) {
		m.warned(a)
		addArguments(frames, a.text)
		for _, f := range frames {
			if m.pointsIntoLibraries(f.values...) {
				m.readLibraries()
				m.listReached(q, thread, first, last, then)
				return
			}
		}
		then(frames, refusal)
	}, "-interpreter-exec", append(at, "console", showFrames(first, last))...)
	k.print, k.apart = true, true
}

// trace is the body of backtrace.
type trace struct {
	Frames []protocol.Frame `json:"frames"`
	Thread int              `json:"thread"` // as requested; 0: the current one
	More   bool             `json:"more"`   // there are more frames
	// Locals are the names of the local variables of each frame, with Args.Full; their
	// values are in columns "LEVEL.locals.NAME".
	Locals [][]string `json:"locals,omitempty"`
}

func (m *Machine) backtrace(q *Request) {
	thread := m.chosen.thread
	if q.args.Thread != 0 {
		thread = q.args.Thread
	}
	switch {
	case q.args.Count < 0:
		m.outermost(q, thread, min(-q.args.Count, mostFrames))
	case q.args.Count > 0:
		m.backtraceFrom(q, thread, 0, min(q.args.Count, mostFrames))
	default:
		m.backtraceFrom(q, thread, 0, mostFrames)
	}
}

// outermost executes backtrace with a negative number.
func (m *Machine) outermost(q *Request, thread, limit int) {
	m.reach(q, thread, mostFrames, func() {
		m.ask(q, func(a answer) {
			depth, _ := a.Results.Int("depth")
			switch {
			case a.failed():
				m.refused(q, a)
			case depth >= mostCounted:
				m.fail(q, &protocol.Fault{Kind: protocol.FaultGDB, Message: fmt.Sprintf("The stack has more than %d frames.", mostCounted), Hint: "backtrace 20 shows the innermost"})
			default:
				m.backtraceFrom(q, thread, max(depth-limit, 0), limit)
			}
		}, "-stack-info-depth", "--thread", m.gdbThread(thread), strconv.Itoa(mostCounted))
	})
}

// backtraceFrom answers with frames from a level on.
func (m *Machine) backtraceFrom(q *Request, thread, first, limit int) {
	m.listFrames(q, thread, first, first+limit, func(frames []frame, refusal string) {
		if len(frames) == 0 {
			m.fail(q, &protocol.Fault{Kind: protocol.FaultGDB, Message: refusal})
			return
		}
		t := trace{Thread: q.args.Thread, More: len(frames) > limit}
		frames = frames[:min(len(frames), limit)]
		if q.args.Full {
			m.addLocals(q, thread, t, frames)
			return
		}
		m.replyTrace(q, t, frames, nil)
	})
}

func (m *Machine) replyTrace(q *Request, t trace, frames []frame, locals [][]string) {
	c := columnsOf(m.Target.Rank, q.args.Limit)
	for i, f := range frames {
		prefix := strconv.Itoa(f.Level) + "."
		c.frame(prefix, f)
		t.Frames = append(t.Frames, f.Frame)
		if locals == nil {
			continue
		}
		for n, name := range t.Locals[i] {
			c.add(prefix+"locals."+name, locals[i][n])
		}
	}
	m.reply(q, t, c.sorted()...)
}

// addLocals asks for the variables of all frames and answers after the last result.
func (m *Machine) addLocals(q *Request, thread int, t trace, frames []frame) {
	t.Locals = make([][]string, len(frames))
	values := make([][]string, len(frames))
	for i, f := range frames {
		at := []string{"--thread", m.gdbThread(thread), "--frame", strconv.Itoa(f.Level)}
		m.askVariables(q, at, localsLine, func(_ answer, list mi.Tuple) {
			names, v := gdbtext.NamesAndValues(list)
			t.Locals[i], values[i] = append([]string{}, names...), v
			if i == len(frames)-1 {
				m.replyTrace(q, t, frames, values)
			}
		}, []string{"locals"}, "-stack-list-locals", "--all-values")
	}
}

// merged is the body of stacks.
type merged struct {
	By string `json:"by"`
}

// stacks merges the stacks of all threads into one tree.
func (m *Machine) stacks(q *Request) {
	by := q.args.By
	if by == "" {
		by = "line"
	}
	if !slices.Contains([]string{"function", "line", "address"}, by) {
		m.fail(q, &protocol.Fault{Kind: protocol.FaultUsage, Message: "stacks cannot be merged by " + strconv.Quote(by), Hint: "function, line or address"})
		return
	}
	m.stacksAgain(q, by, 0)
}

// threadStack is the stack of a thread, innermost frame first.
type threadStack struct {
	frames []frame
	mark   string // the signal with which it crashed
	event  bool   // it has stopped for a reason of its own
}

func (m *Machine) stacksAgain(q *Request, by string, round int) {
	var all []threadStack
	var refusal string
	var unnamed []string
	last := len(m.threads) - 1
	for i, t := range m.threads {
		mark, event := crashed(t.stop), ownReason(t.stop)
		m.ask(q, func(a answer) {
			if a.failed() {
				refusal = a.Results.Str("msg")
			} else {
				all = append(all, threadStack{framesIn(a.Results), mark, event})
				unnamed = append(unnamed, m.unnamedFrames(a.Results)...)
			}
			switch {
			case i < last:
			case m.readMore(unnamed, round):
				m.stacksAgain(q, by, round+1)
			case len(all) == 0:
				m.fail(q, &protocol.Fault{Kind: protocol.FaultGDB, Message: refusal})
			default:
				m.mergeStacks(q, by, all)
			}
		}, "-stack-list-frames", "--thread", strconv.Itoa(t.gdb), "0", strconv.Itoa(mostMerged-1))
	}
}

// framesIn returns the frames of an answer to -stack-list-frames.
func framesIn(result mi.Tuple) (frames []frame) {
	for v := range result.Path("stack").Fields.All("frame") {
		frames = append(frames, frameOf(v.Fields))
	}
	return frames
}

// mergeStacks answers with the merged stacks. Those of helper threads are folded, for
// which the list of libraries may be needed.
func (m *Machine) mergeStacks(q *Request, by string, all []threadStack) {
	foldable := func(s threadStack) bool { return !q.args.AllThreads && !s.event && s.mark == "" }
	reply := func(o objects) {
		var tree *stack.Tree
		for _, s := range all {
			frames := stackFrames(s, by)
			if function, ok := o.helper(s.frames); ok && foldable(s) {
				frames = []stack.Frame{{Func: stack.Helpers}, function}
			}
			tree = tree.Merge(stack.New(m.Target.Rank, frames))
		}
		m.say(q, protocol.Group{Kind: protocol.KindResult, Body: canonical.JSON(merged{by}), Stack: tree})
	}
	if !slices.ContainsFunc(all, func(s threadStack) bool { return foldable(s) && needsObjects(s.frames) }) {
		reply(objects{program: m.Target.Program})
		return
	}
	m.ask(q, func(a answer) { reply(objectsOf(m.Target.Program, a.Results)) }, "-file-list-shared-libraries", m.where(q)...)
}

// stackFrames converts a stack to the requested detail, outermost frame first.
func stackFrames(t threadStack, by string) []stack.Frame {
	var frames []stack.Frame
	list := t.frames
	if by != "address" {
		list = namedRoot(list)
		if t.mark == "" {
			list = namedLeaf(list)
		}
	}
	for _, f := range list {
		s := stack.Frame{Func: strings.Clone(f.Func), From: strings.Clone(f.From)}
		if by != "function" {
			s.File, s.Line = strings.Clone(f.File), f.Line
		}
		if by == "address" {
			s.Addr = strings.Clone(f.addr)
		}
		if f.Level == 0 {
			s.Mark = t.mark
		}
		frames = append(frames, s)
	}
	slices.Reverse(frames)
	return frames
}

// threadList is the body of info threads. gdb's name of each thread is in column
// "target.ID", arguments of frames in "ID.args.NAME".
type threadList struct {
	Threads []threadInfo `json:"threads"`
}

type threadInfo struct {
	ID      int             `json:"id"`
	Name    string          `json:"name,omitempty"`
	State   string          `json:"state"`
	Current bool            `json:"current"`
	Frame   *protocol.Frame `json:"frame,omitempty"`
}

func (m *Machine) infoThreads(q *Request) {
	numbers, f := m.threadsNamed(q.args.Threads)
	if q.args.Threads == "" {
		numbers, f = nil, nil
	}
	like, err := regexp.Compile(q.args.Expr)
	if err != nil {
		f = &protocol.Fault{Kind: protocol.FaultUsage, Message: strconv.Quote(q.args.Expr) + " is no regular expression"}
	}
	if f != nil {
		m.fail(q, f)
		return
	}
	m.ask(q, func(a answer) {
		if a.failed() {
			m.refused(q, a)
			return
		}
		list := a.Results.Path("threads").Fields
		if m.readForThreads(list) {
			m.infoThreads(q)
			return
		}
		body := threadList{Threads: []threadInfo{}}
		c := columnsOf(m.Target.Rank, q.args.Limit)
		for _, e := range list {
			t := e.Value.Fields
			n, _ := t.Int("id")
			named := like.MatchString(t.Str("name")) || like.MatchString(t.Str("target-id"))
			if named && (numbers == nil || slices.Contains(numbers, m.thread(n).id)) {
				body.Threads = append(body.Threads, m.threadInfo(t, c))
			}
		}
		if len(body.Threads) == 0 && q.args.Expr != "" {
			m.fail(q, &protocol.Fault{Kind: protocol.FaultGDB, Message: fmt.Sprintf("No threads match '%s'", q.args.Expr)})
			return
		}
		slices.SortFunc(body.Threads, func(a, b threadInfo) int { return a.ID - b.ID }) // gdb has renumbered those of a rank that was handed over
		m.reply(q, body, c.sorted()...)
	}, "-list-thread-groups", m.group)
}

func (m *Machine) threadInfo(t mi.Tuple, c *columns) threadInfo {
	i := threadInfo{Name: t.Str("name"), State: t.Str("state")}
	n, _ := t.Int("id")
	i.ID = m.thread(n).id
	i.Current = i.ID == m.chosen.thread
	c.add("target."+strconv.Itoa(i.ID), t.Str("target-id"))
	if f, ok := frameIn(t); ok {
		i.Frame = &f.Frame
		c.frame(strconv.Itoa(i.ID)+".", f)
	}
	return i
}
