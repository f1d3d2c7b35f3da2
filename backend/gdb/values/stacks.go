// Commands about whole stacks.

package values

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"sdm/backend"
	"sdm/backend/gdb/gdbtext"
	"sdm/backend/gdb/request"
	"sdm/backend/mi"
	"sdm/protocol"
	"sdm/protocol/canonical"
	"sdm/protocol/stack"
)

const (
	// maxFrames bounds a backtrace without a limit: an endless recursion has millions
	// of frames.
	maxFrames = 10_000
	// maxCounted bounds the depth of a stack whose outermost frames are shown: gdb
	// keeps each frame in memory.
	maxCounted = 100_000
	// maxMerged bounds the depth of each stack in the merged tree.
	maxMerged = 1000
)

// ListFrames returns levels first to last of a thread with their arguments, as far as
// they exist, or gdb's error.
func (fr *Frames) ListFrames(q *request.Request, thread, first, last int, then func(frames []Frame, refusal string)) {
	fr.Reach(q, thread, last, func() { fr.listReached(q, thread, first, last, then) })
}

func (fr *Frames) listReached(q *request.Request, thread, first, last int, then func(frames []Frame, refusal string)) {
	at := []string{"--thread", fr.GDBThread(thread)}
	low, high := strconv.Itoa(first), strconv.Itoa(last)
	var frames []Frame
	var refusal string
	fr.Ask(q, func(a request.Answer) {
		refusal = a.Results.Str("msg")
		for v := range a.Results.Path("stack").Fields.All("frame") {
			frames = append(frames, FrameOf(v.Fields))
		}
	}, "-stack-list-frames", append(at, low, high)...)
	k := fr.Ask(q, func(a request.Answer) {
		fr.Printer.reportWarnings(a)
		addArguments(frames, a.Text)
		for _, f := range frames {
			if fr.PointsIntoLibraries(f.Values...) {
				fr.ReadLibraries()
				fr.listReached(q, thread, first, last, then)
				return
			}
		}
		then(frames, refusal)
	}, "-interpreter-exec", append(at, "console", showFrames(first, last))...)
	k.Print, k.SeparateWarnings = true, true
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

func (fr *Frames) backtrace(q *request.Request) {
	thread := fr.Chosen().Thread
	if q.Args.Thread != 0 {
		thread = q.Args.Thread
	}
	switch {
	case q.Args.Count < 0:
		fr.outermost(q, thread, min(-q.Args.Count, maxFrames))
	case q.Args.Count > 0:
		fr.backtraceFrom(q, thread, 0, min(q.Args.Count, maxFrames))
	default:
		fr.backtraceFrom(q, thread, 0, maxFrames)
	}
}

// outermost executes backtrace with a negative number.
func (fr *Frames) outermost(q *request.Request, thread, limit int) {
	fr.Reach(q, thread, maxFrames, func() {
		fr.Ask(q, func(a request.Answer) {
			depth, _ := a.Results.Int("depth")
			switch {
			case a.Failed():
				fr.Refused(q, a)
			case depth >= maxCounted:
				fr.Fail(q, &protocol.Fault{Kind: protocol.FaultGDB, Message: fmt.Sprintf("The stack has more than %d frames.", maxCounted), Hint: "backtrace 20 shows the innermost"})
			default:
				fr.backtraceFrom(q, thread, max(depth-limit, 0), limit)
			}
		}, "-stack-info-depth", "--thread", fr.GDBThread(thread), strconv.Itoa(maxCounted))
	})
}

// backtraceFrom answers with frames from a level on.
func (fr *Frames) backtraceFrom(q *request.Request, thread, first, limit int) {
	fr.ListFrames(q, thread, first, first+limit, func(frames []Frame, refusal string) {
		if len(frames) == 0 {
			fr.Fail(q, &protocol.Fault{Kind: protocol.FaultGDB, Message: refusal})
			return
		}
		t := trace{Thread: q.Args.Thread, More: len(frames) > limit}
		frames = frames[:min(len(frames), limit)]
		if q.Args.Full {
			fr.addLocals(q, thread, t, frames)
			return
		}
		fr.replyTrace(q, t, frames, nil)
	})
}

func (fr *Frames) replyTrace(q *request.Request, t trace, frames []Frame, locals [][]string) {
	c := ColumnsOf(fr.Process().Rank, q.Args.Limit)
	for i, f := range frames {
		prefix := strconv.Itoa(f.Level) + "."
		c.Frame(prefix, f)
		t.Frames = append(t.Frames, f.Frame)
		if locals == nil {
			continue
		}
		for n, name := range t.Locals[i] {
			c.Add(prefix+"locals."+name, locals[i][n])
		}
	}
	fr.Reply(q, t, c.Sorted()...)
}

// addLocals asks for the variables of all frames and answers after the last result.
func (fr *Frames) addLocals(q *request.Request, thread int, t trace, frames []Frame) {
	t.Locals = make([][]string, len(frames))
	values := make([][]string, len(frames))
	for i, f := range frames {
		at := []string{"--thread", fr.GDBThread(thread), "--frame", strconv.Itoa(f.Level)}
		fr.askVariables(q, at, localsLine, func(_ request.Answer, list mi.Tuple) {
			names, v := gdbtext.NamesAndValues(list)
			t.Locals[i], values[i] = append([]string{}, names...), v
			if i == len(frames)-1 {
				fr.replyTrace(q, t, frames, values)
			}
		}, []string{"locals"}, "-stack-list-locals", "--all-values")
	}
}

// merged is the body of stacks.
type merged struct {
	By string `json:"by"`
}

// stacks merges the stacks of all threads into one tree.
func (fr *Frames) stacks(q *request.Request) {
	by := q.Args.By
	if by == "" {
		by = "line"
	}
	if !slices.Contains([]string{"function", "line", "address"}, by) {
		fr.Fail(q, &protocol.Fault{Kind: protocol.FaultUsage, Message: "stacks cannot be merged by " + strconv.Quote(by), Hint: "function, line or address"})
		return
	}
	fr.stacksAgain(q, by, 0)
}

// threadStack is the stack of a thread, innermost frame first.
type threadStack struct {
	frames []Frame
	signal string // with which it crashed; "": it has not
	event  bool   // it has stopped for a reason of its own
	thread int    // gdb's number
}

func (fr *Frames) stacksAgain(q *request.Request, by string, round int) {
	var all []threadStack
	var refusal string
	var unnamed []string
	last := len(fr.Threads()) - 1
	for i, t := range fr.Threads() {
		signal, event := Crashed(t.Stop), OwnReason(t.Stop)
		fr.Ask(q, func(a request.Answer) {
			if a.Failed() {
				refusal = a.Results.Str("msg")
			} else {
				all = append(all, threadStack{FramesIn(a.Results), signal, event, t.GDB})
				unnamed = append(unnamed, fr.UnnamedFrames(a.Results)...)
			}
			switch {
			case i < last:
			case fr.ReadMore(unnamed, round):
				fr.stacksAgain(q, by, round+1)
			case len(all) == 0:
				fr.Fail(q, &protocol.Fault{Kind: protocol.FaultGDB, Message: refusal})
			default:
				fr.withRegisters(q, all, func(registers []string) { fr.mergeStacks(q, by, all, registers) })
			}
		}, "-stack-list-frames", "--thread", strconv.Itoa(t.GDB), "0", strconv.Itoa(maxMerged-1))
	}
}

// FramesIn returns the frames of an answer to -stack-list-frames.
func FramesIn(result mi.Tuple) (frames []Frame) {
	for v := range result.Path("stack").Fields.All("frame") {
		frames = append(frames, FrameOf(v.Fields))
	}
	return frames
}

// mergeStacks answers with the merged stacks, and with the registers of threads in MPI. Stacks of helper threads are
// folded, for which the list of libraries may be needed.
func (fr *Frames) mergeStacks(q *request.Request, by string, all []threadStack, registers []string) {
	columns := ColumnsOf(fr.Process().Rank, 0)
	for i, text := range registers {
		columns.Add(backend.RegistersColumn+strconv.Itoa(i), text)
	}
	foldable := func(s threadStack) bool { return !q.Args.AllThreads && !s.event && s.signal == "" }
	reply := func(o objects) {
		var tree *stack.Tree
		for _, s := range all {
			frames := stackFrames(s, by)
			if function, ok := o.helper(s.frames); ok && foldable(s) {
				frames = []stack.Frame{{Func: stack.Helpers}, function}
			}
			tree = tree.Merge(stack.New(fr.Process().Rank, frames))
		}
		fr.Say(q, protocol.Group{Kind: protocol.KindResult, Body: canonical.JSON(merged{by}), Columns: columns.Sorted(),
			Stack: tree})
	}
	if !slices.ContainsFunc(all, func(s threadStack) bool { return foldable(s) && needsObjects(s.frames) }) {
		reply(objects{program: fr.Process().Program})
		return
	}
	fr.Ask(q, func(a request.Answer) { reply(objectsOf(fr.Process().Program, a.Results)) }, "-file-list-shared-libraries", fr.Where(q)...)
}

// stackFrames converts a stack to the requested detail, outermost frame first.
func stackFrames(t threadStack, by string) []stack.Frame {
	var frames []stack.Frame
	list := t.frames
	if by != "address" {
		list = namedRoot(list)
		if t.signal == "" {
			list = namedLeaf(list)
		}
	}
	for _, f := range list {
		s := stack.Frame{Func: strings.Clone(f.Func), From: strings.Clone(f.From)}
		if by != "function" {
			s.File, s.Line = strings.Clone(f.File), f.Line
		}
		if by == "address" {
			s.Addr = strings.Clone(f.Addr)
		}
		if f.Level == 0 {
			s.Mark = t.signal
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

func (fr *Frames) infoThreads(q *request.Request) {
	numbers, f := fr.ThreadsNamed(q.Args.Threads)
	if q.Args.Threads == "" {
		numbers, f = nil, nil
	}
	like, err := regexp.Compile(q.Args.Expr)
	if err != nil {
		f = &protocol.Fault{Kind: protocol.FaultUsage, Message: strconv.Quote(q.Args.Expr) + " is no regular expression"}
	}
	if f != nil {
		fr.Fail(q, f)
		return
	}
	fr.Ask(q, func(a request.Answer) {
		if a.Failed() {
			fr.Refused(q, a)
			return
		}
		list := a.Results.Path("threads").Fields
		if fr.ReadForThreads(list) {
			fr.infoThreads(q)
			return
		}
		body := threadList{Threads: []threadInfo{}}
		c := ColumnsOf(fr.Process().Rank, q.Args.Limit)
		for _, e := range list {
			t := e.Value.Fields
			n, _ := t.Int("id")
			named := like.MatchString(t.Str("name")) || like.MatchString(t.Str("target-id"))
			if named && (numbers == nil || slices.Contains(numbers, fr.Thread(n).ID)) {
				body.Threads = append(body.Threads, fr.threadInfo(t, c))
			}
		}
		if len(body.Threads) == 0 && q.Args.Expr != "" {
			fr.Fail(q, &protocol.Fault{Kind: protocol.FaultGDB, Message: fmt.Sprintf("No threads match '%s'", q.Args.Expr)})
			return
		}
		// gdb has renumbered the threads of a rank that was handed over
		slices.SortFunc(body.Threads, func(a, b threadInfo) int { return a.ID - b.ID })
		fr.Reply(q, body, c.Sorted()...)
	}, "-list-thread-groups", fr.ThreadGroup())
}

func (fr *Frames) threadInfo(t mi.Tuple, c *Columns) threadInfo {
	i := threadInfo{Name: t.Str("name"), State: t.Str("state")}
	n, _ := t.Int("id")
	i.ID = fr.Thread(n).ID
	i.Current = i.ID == fr.Chosen().Thread
	c.Add("target."+strconv.Itoa(i.ID), t.Str("target-id"))
	if f, ok := FrameIn(t); ok {
		i.Frame = &f.Frame
		c.Frame(strconv.Itoa(i.ID)+".", f)
	}
	return i
}
