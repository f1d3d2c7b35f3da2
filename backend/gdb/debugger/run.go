// One resume of a rank.

package debugger

import (
	"sdm/backend/gdb/request"
	"sdm/backend/gdb/values"
	"strings"
	"time"
)

// run is one resume of the rank, from the command to the stop of its last thread. In
// non-stop mode gdb resumes and stops threads one by one; to the user it is one resume
// and one stop of the process:
//
//	command ─→ ^running ─→ others continued ─→ first *stopped ─→ interrupt ─→ all stopped ─→ stop
//
// A step of one thread alone would never end at pthread_join or MPI_Finalize. A
// *stopped may come before the ^running of another thread, so nothing is decided while
// results are outstanding.
type run struct {
	request     *request.Request // answered at ^running
	started     bool             // gdb has resumed a thread: the rank is running
	outstanding int              // number of results of resuming commands that gdb has not given yet
	thread      int              // the thread that steps; 0: all just run
	stopped     int              // the thread that stopped first; 0: none yet
	token       int64            // of the first command; it may fail after ^running
	address     bool             // the address of the stop is to be shown
	back        bool             // it runs backwards

	onward      int // number of steps that follow the return of a function; see stepOut
	line        int // line of the call of that function
	log         resumeLog
	silent      bool // it is not reported: to the user the rank runs already
	interrupted bool // the other threads have been told to stop
	stale       bool // since then a thread has been created
	next        time.Duration

	checkAt, checkDelay time.Duration  // time of the next check of the process, and delay since the last
	dead                bool           // the last check found the process dead
	lastStopped         stoppedThreads // stopped threads that it found
	stuck               forgotten      // see detachStuck
}

// stoppedBy records that a thread has stopped.
func (r *run) stoppedBy(t *values.Thread) {
	if r.stopped == 0 {
		r.stopped = t.ID
	}
}

// direction adds the direction of the run to a command that continues it.
func (r *run) direction(args ...string) []string {
	if r.back {
		return append([]string{"--reverse"}, args...)
	}
	return args
}

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

// stoppedThreads is the result of the last check of a process that runs.
type stoppedThreads struct {
	threads string        // those that the tracer keeps stopped, see inferior.Stopped; "": none
	gdb     string        // processor time of gdb
	since   time.Duration // when a check first had this result
}

// forgotten is a step of detaching from a rank that gdb has forgotten.
type forgotten int

const (
	noticed  forgotten = iota
	halting            // gdb is told to stop its other threads, so that none takes the SIGSTOP of sdm before the detach
	detached           // gdb is told to detach from it
)

// goesBack reports whether a line for gdb that resumes the rank makes it run backwards:
// of those only the reverse commands begin with r.
func goesBack(line string) bool {
	line = strings.TrimSpace(line)
	return strings.HasPrefix(line, "r") || strings.Contains(line, "--reverse")
}

// isStep reports whether a command steps in the innermost frame.
func isStep(name string) bool {
	switch strings.TrimPrefix(name, "reverse-") {
	case "next", "step", "nexti", "stepi":
		return true
	}
	return false
}

// continueThread resumes one thread. Its *running comes one line after ^running; until
// then it must not be taken for stopped.
func (c *core) continueThread(r *run, id int) {
	r.outstanding++
	c.ask(r.request, func(a request.Answer) {
		r.outstanding--
		if t := c.threads.Find(id); t != nil && a.Name == "running" {
			t.Running = true
		}
	}, "-exec-continue", r.direction("--thread", c.GDBThread(id))...)
}
