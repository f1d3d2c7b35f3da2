// What a rank does that other ranks wait for.

package verdict

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"sdm/protocol/rank"
	"sdm/protocol/wait"
)

// does returns what a rank does that does not wait for a particular rank, with a verb in the singular: "sleeps in
// relax (hang.c:20)".
func (s *solver) does(r rank.ID) string {
	if int(r) >= len(s.doing) || s.doing[r] < 0 {
		return "was not looked at"
	}
	return s.doesBy(r, &s.g.Doings()[s.doing[r]])
}

// doesBy is does for a rank of a row.
func (s *solver) doesBy(r rank.ID, d *wait.Doing) string {
	if s.blocked.Contains(r) && !s.fixed.Contains(r) {
		return s.waitsOpenly(r)
	}
	return s.threadsText(d)
}

// stateTexts are what is said of states if nothing else is known.
var stateTexts = map[wait.State]string{
	wait.Stopped: "is stopped by a signal", wait.Traced: "is stopped by a debugger", wait.Dead: "has ended", wait.Silent: "did not answer",
	wait.Unread: "could not be read", wait.Disk: "waits for a device", wait.Sleeping: "waits in the kernel",
}

// computing is what a thread does that waits for nothing.
const computing = "computes"

// action returns what a thread does, the functions where it does that, and those that a signal handler has interrupted.
func action(t *wait.Thread) (text string, frames, interrupted []string) {
	frames = wait.Doing{Frames: t.Frames}.Names()
	handler := slices.IndexFunc(frames, func(f string) bool { return strings.HasPrefix(f, wait.HandlerFrame) })
	if handler >= 0 {
		frames, interrupted = frames[:handler], frames[handler:]
	}
	text, user := t.Does, 0
	if text == "" && (t.State == wait.Sleeping || t.State == wait.NotKnown) {
		text, user = inKernel(frames)
	}
	return cmp.Or(text, stateTexts[t.State], computing), frames[user:], interrupted
}

// computes reports whether the first thread of a row computes, or in the end waits for one that does.
func computes(d *wait.Doing) bool {
	threads, cycle := chain(d, 1)
	if len(threads) == 0 || cycle >= 0 {
		return false
	}
	text, _, _ := action(&threads[len(threads)-1])
	return text == computing
}

// activity returns what a thread does, and where. left is Left of wait.Doing.
func activity(t *wait.Thread, left int) string {
	text, frames, interrupted := action(t)
	if text == "sleeps" && left > 0 {
		text += " for up to " + strconv.Itoa(left) + " s"
	}
	text += place(frames)
	switch {
	case t.Lock && t.For == t.Number:
		text += " that the thread itself holds"
	case t.Lock && t.For != 0:
		text += " that thread " + strconv.Itoa(t.For) + " holds"
	}
	if len(interrupted) > 0 {
		text += ", in a handler of" + strings.TrimPrefix(interrupted[0], wait.HandlerFrame)
		if at := place(interrupted[1:]); at != "" {
			text += " that has interrupted" + strings.TrimPrefix(at, " in")
		}
	}
	if t.Detail != "" {
		text += ": " + t.Detail
	}
	return text
}

// edgesOf returns the indices of the rows with messages that a rank waits for, ascending.
func (s *solver) edgesOf(r rank.ID) []int32 {
	if s.edges == nil {
		sets := make([]rank.Set, len(s.g.Edges()))
		for i, e := range s.g.Edges() {
			sets[i] = e.Pairs.Ranks()
		}
		s.edges = indexOf(s.size, func(yield func(key, item int) bool) {
			for i := range sets {
				for r := range sets[i].All() {
					if !yield(int(r), i) {
						return
					}
				}
			}
		})
	}
	return s.edges.of(int(r))
}

// waitsOpenly returns what a rank in MPI waits for that does not wait for a particular rank.
func (s *solver) waitsOpenly(r rank.ID) string {
	for _, i := range s.edgesOf(r) {
		e := &s.g.Edges()[i]
		for _, run := range e.Pairs.RunsOf(r) {
			switch {
			case run.Peer == wait.Any:
				return "waits in " + e.Function + " for a message of any rank (" + tagText(e.Tag) + s.instead(e, wait.Run{First: r, Count: 1, Peer: wait.Any}) + ")"
			case e.Need == wait.One:
				return "waits in " + e.Function + " for one of several messages"
			case run.Peer == wait.Unknown && (e.Function == "MPI_Finalize" || e.Function == "MPI_Init" || e.Function == "MPI_Init_thread"):
				return "is in " + e.Function
			case run.Peer == wait.Unknown && strings.HasPrefix(e.Function, wait.Unnamed):
				return "is in " + e.Function + " that could not be named"
			case run.Peer == wait.Unknown:
				return "is in " + e.Function + ", it is not known for whom"
			}
		}
	}
	for i := range s.collectives {
		if x := &s.collectives[i]; x.in.Contains(r) {
			if x.mismatch != "" {
				return "is in a call on " + commName(x.comm) + " that does not fit"
			}
			return "is in " + strings.Join(x.names(), " and ") + " on " + commName(x.comm) + ", which all members have entered"
		}
	}
	if s.torch.Contains(r) {
		return "is in torch.distributed, where its message is under way"
	}
	return "is in MPI, where its message is under way"
}

// verbs joins ranks and what each of them does.
func verbs(ranks rank.Set, does string) string {
	if ranks.Len() == 1 {
		return Ranks(ranks) + " " + does
	}
	verb, rest, _ := strings.Cut(does, " ")
	switch verb {
	case "is":
		verb = "are"
	case "has":
		verb = "have"
	case "was":
		verb = "were"
	case "did", "could":
	default:
		verb = strings.TrimSuffix(verb, "s")
	}
	return Ranks(ranks) + " " + strings.TrimSpace(verb+" "+rest)
}

// place returns the innermost function that is in no library and has a name: " in relax (hang.c:20)". If there is
// none, it is the innermost function; "": there are no frames. If Python calls a library, that is the innermost
// function, with the function of Python that has called it.
func place(frames []string) string {
	if len(frames) == 0 {
		return ""
	}
	python := slices.ContainsFunc(frames, isPython) // then functions without a line are of the interpreter
	for _, f := range frames {
		switch {
		case strings.Contains(f, " from ") || strings.HasPrefix(f, "??") || python && !strings.Contains(f, ":"):
			continue
		case isPython(f):
			return library(frames) + " in " + frameText(f)
		}
		return " in " + frameText(f)
	}
	return " in " + frameText(frames[0])
}

// library returns the innermost function with a name if it is in a library that is not the C library or the
// interpreter: " in solve from _solver.so, called".
func library(frames []string) string {
	for _, f := range frames {
		name, from, _ := strings.Cut(f, " from ")
		switch {
		case isPython(f):
			return ""
		case from == "":
		case name == "??" || isC(f) || strings.HasPrefix(from, "libpython"):
		default:
			return " in " + f + ", called"
		}
	}
	return ""
}

func isPython(frame string) bool { return strings.Contains(frame, ".py:") }

// isC reports whether a frame is in the C library.
func isC(f string) bool {
	_, from, _ := strings.Cut(f, " from ")
	return strings.HasPrefix(from, "libc.") || strings.HasPrefix(from, "libc-") || strings.HasPrefix(from, "libpthread") ||
		strings.HasPrefix(from, "ld-musl")
}

// frameParts divides "relax hang.c:20" into the function and its line; at is "" for a frame without a line.
func frameParts(f string) (function, at string) {
	if i := strings.LastIndex(f, " "); i > 0 && strings.Contains(f[i:], ":") && !strings.Contains(f, " from ") {
		return f[:i], f[i+1:]
	}
	if name, rest, _ := strings.Cut(f, " "); rest == "" {
		return name, ""
	}
	return f, ""
}

// frameText formats "relax hang.c:20" as "relax (hang.c:20)".
func frameText(f string) string {
	name, at := frameParts(f)
	if at == "" {
		return name
	}
	return name + " (" + at + ")"
}

// kernel tells what functions of the C library wait for in the kernel. It is used where the system call is not known:
// on processors other than x86-64.
var kernel = map[string]string{
	"nanosleep": "sleeps", "clock_nanosleep": "sleeps", "usleep": "sleeps", "sleep": "sleeps", "pause": "waits in pause for a signal",
	"pthread_mutex_lock": "waits for a mutex", "__lll_lock_wait": "waits for a mutex", "lll_mutex_lock_optimized": "waits for a mutex",
	"pthread_cond_wait": "waits for a condition variable", "pthread_join": "waits for a thread", "sem_wait": "waits for a semaphore",
	"open": "waits in open", "openat": "waits in open", "read": "waits in read", "write": "waits in write",
	"poll": "waits in poll", "select": "waits in select", "epoll_wait": "waits in epoll_wait", "accept": "waits in accept",
	"connect": "waits in connect", "recv": "waits in recv", "recvfrom": "waits in recv", "send": "waits in send",
	"waitpid": "waits for a child", "wait4": "waits for a child", "flock": "waits for a file lock", "fsync": "waits in fsync",
}

// inKernel returns what a stack waits for in the kernel, and the number of inner frames that say so: it is the
// entry in kernel of the outermost of the functions of the C library at the inner end of the stack; "": not known. A
// function with such a name in another image is not one of the C library.
func inKernel(frames []string) (found string, user int) {
	for i, f := range frames {
		name, _, _ := strings.Cut(f, " ")
		bare := strings.TrimLeft(name, "_")
		bare = strings.TrimPrefix(strings.TrimSuffix(strings.TrimSuffix(bare, "64"), "_nocancel"), "GI_")
		bare, _, _ = strings.Cut(bare, "@")
		text, ok := kernel[name]
		if !ok {
			text, ok = kernel[bare]
		}
		switch {
		case ok && isC(f):
			found, user = text, i+1
		case isC(f) || name == "??":
		default:
			return found, user
		}
	}
	return found, user
}
