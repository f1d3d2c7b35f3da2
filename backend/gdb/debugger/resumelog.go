// Resumes that gdb gives up half-way.

package debugger

import (
	"slices"
	"strings"

	"sdm/backend/gdb/request"
	"sdm/backend/gdb/values"
	"sdm/backend/mi"
	"sdm/protocol"
	"sdm/protocol/pattern"
)

// logWhileRunning processes a line of gdb's log while the rank runs.
func (rn *runs) logWhileRunning(text string) {
	r := rn.run
	if r == nil || r.stopped != 0 {
		return
	}
	r.log.receive(text)
	rn.askStands(r)
}

// askStands asks gdb for the states of the threads if it has logged something since the rank runs.
func (rn *runs) askStands(r *run) {
	if !r.started || r.log.asked || len(r.log.lines) == 0 {
		return
	}
	r.log.asked = true
	rn.ask(request.Internal(r.request.Name), func(a request.Answer) {
		logged := r.log.lines
		r.log = resumeLog{}
		if rn.run != r || r.stopped != 0 {
			return
		}
		if stop, stands := rn.unreportedStop(a.Results); stands {
			rn.halfWay(r, stop, logged)
		}
	}, "-list-thread-groups", rn.threadGroup)
}

// resumeFailed processes an ^error that comes after ^running: the resume failed, or did
// so in part (a breakpoint cannot be inserted, a thread does not exist any more). gdb
// is asked for the states of the threads.
func (rn *runs) resumeFailed(a mi.Record) {
	r := rn.run
	if r == nil || a.Token != r.token {
		return
	}
	r.log.receive(a.Results.Str("msg"))
	rn.resumeLogged(r.log.lines)
	if r.stopped == 0 {
		r.stopped = rn.chosen.Thread
	}
	adopt := func(a request.Answer) { rn.adopt(a.Results) }
	rn.ask(request.Internal(r.request.Name), adopt, "-list-thread-groups", rn.threadGroup)
}

// resumeLogged reports what gdb has logged before it gave up a resume.
func (rn *runs) resumeLogged(logged []string) {
	rn.GDB.messages.forget(logged)
	rn.Event(protocol.KindNote, protocol.Note{Text: rn.ownErrors(logged)})
	if rn.GDB.Shared() && slices.Contains(logged, ownNotInserted) {
		rn.dropInternalPoints()
	}
}

// halfWay processes the stop that gdb has not reported.
func (rn *runs) halfWay(r *run, stop mi.Tuple, logged []string) {
	rn.resumeLogged(logged)
	if isStep(r.request.Name) && stop.Str("thread-id") == rn.GDBThread(r.thread) {
		stop = values.Stepped(stop)
	} else {
		r.interrupted, r.stale = true, true
	}
	rn.stopped(stop)
}

// dropInternalPoints makes gdb delete its internal breakpoints for the end of a resume that it
// has given up because it cannot insert them: until the thread is resumed they disturb
// all ranks that share the gdb. A step of 0 lines begins as any resume does, and ends
// at once (step_1 and prepare_one_step, infcmd.c).
func (rn *runs) dropInternalPoints() {
	id := rn.run.thread
	if id == 0 {
		id = rn.chosen.Thread
	}
	thread := rn.GDBThread(id)
	k := rn.ask(request.Internal("step"), nil, "-interpreter-exec", "--thread", thread, "console", "step 0")
	k.ignoreStop, k.Print = thread, true
}

// ownNotInserted is gdb's error for an internal breakpoint that it cannot insert.
const ownNotInserted = "Cannot insert breakpoint 0."

// notInserted matches gdb's error for a breakpoint that it cannot insert; the next line
// is the cause.
var notInserted = pattern.New(`^Cannot insert (?:hardware )?(?:breakpoint|watchpoint|catchpoint) ([0-9]+)`)

// ownErrors returns gdb's log as if it had this rank alone: with breakpoints of this
// rank only, by sdm's numbers, and each line once.
func (rn *runs) ownErrors(lines []string) string {
	var own []string
	others := false // the previous line was about a breakpoint of another rank
	for _, line := range lines {
		if found := notInserted.FindStringSubmatch(line); found != nil {
			others = rn.GDB.Shared() && found[1] != "0" && !rn.points.Claimed(found[1])
			line = rn.GDB.translated(line)
		} else if others = others && strings.HasPrefix(line, "Cannot access memory "); others {
			continue
		}
		if !others && !slices.Contains(own, line) {
			own = append(own, line)
		}
	}
	return withWatchAdvice(strings.Join(own, "\n"))
}
