// Steps out of a library in which a rank has stopped.

package debugger

import (
	"sdm/backend/gdb/request"
	"sdm/backend/gdb/values"
	"strconv"
)

// steps executes next and step.
type steps struct {
	*core
	record *recording
	stops  *stops
	runs   *runs
}

// stepOut executes next and step if the rank is in a function that the selected frame
// has called: it runs until that has returned, and on to another line.
func (sp *steps) stepOut(q *request.Request) bool {
	w := sp.stops.within
	if w.at.Frame == 0 || sp.chosen != w.at || sp.record.Wanted {
		return false
	}
	sp.runs.resume(q, sp.runs.othersUnlocked(), "-exec-finish", "--thread", sp.GDBThread(w.at.Thread), "--frame", strconv.Itoa(w.inner()))
	sp.run.thread = w.at.Thread
	sp.run.onward, sp.run.line = max(q.Args.Count, 1), w.line
	return true
}

// steppedOut continues a step when that function has returned. Other stops on the way
// are reported.
func (sp *steps) steppedOut(r *run, t *values.Thread) bool {
	if r.onward == 0 || t.ID != r.thread || t.Stop.Str("reason") != "function-finished" {
		return false
	}
	if f, _ := values.FrameIn(t.Stop); f.Line != r.line { // the call was the last in its line
		r.onward--
	}
	if r.onward == 0 {
		t.Stop = values.Stepped(values.WithoutReason(t.Stop))
		return false
	}
	sp.standsStill()
	sp.runs.resumeOne(request.Internal("next"), "-exec-next", strconv.Itoa(r.onward))
	sp.run.silent = true
	return true
}

// stepLine executes next and step; intermediate steps are not reported.
func (sp *steps) stepLine(q *request.Request) {
	if sp.stepOut(q) {
		return
	}
	sp.runs.resumeOne(q, "-exec-"+q.Name, strconv.Itoa(max(q.Args.Count, 1)))
}
