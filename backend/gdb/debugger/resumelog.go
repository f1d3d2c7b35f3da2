// Resumes that gdb gives up half-way.

package debugger

import (
	"slices"
	"strings"

	"sdm/backend/gdb/request"
	"sdm/backend/mi"
	"sdm/protocol"
	"sdm/protocol/pattern"
)

// maxResumeLog bounds how much of gdb's log a run keeps, in bytes.
const maxResumeLog = 1 << 14

// resumeLog is what gdb has logged while a rank runs. An error in gdb's handling of an
// event of the program is only logged: there is neither a *stopped nor a result, and
// the thread stays stopped. (Examples: "next 2" whose first step ended in a function
// without symbols; registers that cannot be written.) So gdb is asked for the states of
// the threads then.
type resumeLog struct {
	lines []string // about all ranks that share the gdb
	size  int
	asked bool
}

func (g *resumeLog) receive(text string) {
	text = strings.TrimSpace(text)
	if g.size += len(text); text != "" && g.size <= maxResumeLog {
		g.lines = append(g.lines, text)
	}
}

// logWhileRunning processes a line of gdb's log while the rank runs.
func (rs *recovery) logWhileRunning(text string) {
	r := rs.run
	if r == nil || r.stopped != 0 {
		return
	}
	r.log.receive(text)
	rs.askStands(r)
}

// askStands asks gdb for the states of the threads if it has logged something since the rank runs.
func (rs *recovery) askStands(r *run) {
	if !r.started || r.log.asked || len(r.log.lines) == 0 {
		return
	}
	r.log.asked = true
	rs.ask(request.Internal(r.request.Name), func(a request.Answer) {
		logged := r.log.lines
		r.log = resumeLog{}
		if rs.run != r || r.stopped != 0 {
			return
		}
		if stop, stands := rs.unreportedStop(a.Results); stands {
			rs.halfWay(r, stop, logged)
		}
	}, "-list-thread-groups", rs.group)
}

// resumeFailed processes an ^error that comes after ^running: the resume failed, or did
// so in part (a breakpoint cannot be inserted, a thread does not exist any more). gdb
// is asked for the states of the threads.
func (rs *recovery) resumeFailed(a mi.Record) {
	if h := rs.moves.moving; h != nil && h.awaking != nil && a.Token == h.step {
		rs.moves.notFlushed(a)
		return
	}
	r := rs.run
	if r == nil || a.Token != r.token {
		return
	}
	r.log.receive(a.Results.Str("msg"))
	rs.resumeLogged(r.log.lines)
	if r.stopped == 0 {
		r.stopped = rs.chosen.Thread
	}
	rs.ask(request.Internal(r.request.Name), func(a request.Answer) { rs.runs.adopt(a.Results) }, "-list-thread-groups", rs.group)
}

// resumeLogged reports what gdb has logged before it gave up a resume.
func (rs *recovery) resumeLogged(logged []string) {
	rs.GDB.messages.forget(logged)
	rs.Event(protocol.KindNote, protocol.Note{Text: rs.ownErrors(logged)})
	if rs.GDB.Shared() && slices.Contains(logged, ownNotInserted) {
		rs.dropInternalPoints()
	}
}

// halfWay processes the stop that gdb has not reported.
func (rs *recovery) halfWay(r *run, stop mi.Tuple, logged []string) {
	rs.resumeLogged(logged)
	if isStep(r.request.Name) && stop.Str("thread-id") == rs.GDBThread(r.thread) {
		stop = stepped(stop)
	} else {
		r.interrupted, r.stale = true, true
	}
	rs.runs.stopped(stop)
}

// dropInternalPoints makes gdb delete its internal breakpoints for the end of a resume that it
// has given up because it cannot insert them: until the thread is resumed they disturb
// all ranks that share the gdb. A step of 0 lines begins as any resume does, and ends
// at once (step_1 and prepare_one_step, infcmd.c).
func (rs *recovery) dropInternalPoints() {
	id := rs.run.thread
	if id == 0 {
		id = rs.chosen.Thread
	}
	thread := rs.GDBThread(id)
	k := rs.ask(request.Internal("step"), nil, "-interpreter-exec", "--thread", thread, "console", "step 0")
	k.ignoreStop, k.Print = thread, true
}

// ownNotInserted is gdb's error for an internal breakpoint that it cannot insert.
const ownNotInserted = "Cannot insert breakpoint 0."

// unreportedStop makes the missing *stopped from the answer to -list-thread-groups, for a
// thread that is marked as running and has stopped, if possible for the selected one; false if there is none.
func (rs *recovery) unreportedStop(info mi.Tuple) (stop mi.Tuple, stands bool) {
	list, _ := info.Get("threads")
	for _, f := range list.Fields {
		th := f.Value.Fields
		n, _ := th.Int("id")
		t := rs.threads.ByGDB(n)
		if t == nil || !t.Running || th.Str("state") != "stopped" || stands && t.ID != rs.chosen.Thread {
			continue
		}
		frame, _ := th.Get("frame")
		stop, stands = mi.Tuple{{Name: "frame", Value: frame}, {Name: "thread-id", Value: mi.Value{Str: th.Str("id")}}}, true
	}
	return stop, stands
}

// notInserted matches gdb's error for a breakpoint that it cannot insert; the next line
// is the cause.
var notInserted = pattern.New(`^Cannot insert (?:hardware )?(?:breakpoint|watchpoint|catchpoint) ([0-9]+)`)

// ownErrors returns gdb's log as if it had this rank alone: with breakpoints of this
// rank only, by sdm's numbers, and each line once.
func (rs *recovery) ownErrors(lines []string) string {
	var own []string
	others := false // the previous line was about a breakpoint of another rank
	for _, line := range lines {
		if found := notInserted.FindStringSubmatch(line); found != nil {
			others = rs.GDB.Shared() && found[1] != "0" && !rs.points.claimed(found[1])
			line = rs.GDB.translated(line)
		} else if others = others && strings.HasPrefix(line, "Cannot access memory "); others {
			continue
		}
		if !others && !slices.Contains(own, line) {
			own = append(own, line)
		}
	}
	return withWatchAdvice(strings.Join(own, "\n"))
}

// withoutThis is gdb's error for an expression that uses a member by its name alone, in a frame without this. A
// watchpoint of such an expression is evaluated in the frame of whatever thread gdb resumes.
const withoutThis = "current stack frame does not contain a variable named `this'"

// withWatchAdvice adds to that error how to watch a member.
func withWatchAdvice(text string) string {
	if !strings.Contains(text, withoutThis) {
		return text
	}
	return text + "\nwatch -l of the member watches its place in memory, in all frames"
}
