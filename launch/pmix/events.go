// Events of a server.

package pmix

import (
	"fmt"
	"maps"
	"slices"
)

// Notice is an event that the user should know: about a job of the session, or about the system.
type Notice struct {
	Job  string // namespace; "": it is about the system
	Rank uint32 // of Job; Wildcard: all
	Code Code
	Text string
}

func (n Notice) String() string {
	switch {
	case n.Job == "":
		return n.Text
	case n.Rank == Wildcard:
		return fmt.Sprintf("job %s: %s", n.Job, n.Text)
	}
	return fmt.Sprintf("job %s, rank %d: %s", n.Job, n.Rank, n.Text)
}

// silent are events that do not become notices: those that the session waits for, and those that it
// has caused or that it reports in its own words.
var silent = []Code{
	ReadyForDebug, LauncherReady, LaunchComplete, JobStart, JobEnd, LostConnection, DebuggerRelease, IOFComplete,
}

// others are the announcements of other sessions, in words for users.
var others = map[Code]string{DebuggerAttached: "another debugger is attached", DebuggerDetached: "the other debugger has left"}

// note takes an event. The reader of the Conn calls it.
func (l *connection) note(m Message) {
	about, named := affected(m)
	l.mu.Lock()
	switch m.Event {
	case ReadyForDebug:
		l.ready[readyJob(m)] = true
	case JobEnd:
		l.ends[about.Nspace] = exitOf(m)
	case LostConnection:
		l.lost = true
	}
	notice, is := l.noticeOf(m, about, named)
	if m.Event == LostConnection && l.outlives && l.runs() {
		notice, is = Notice{Code: m.Event, Text: errLost.Error() + "; the ranks have no server any more, and the end of this session ends them"}, true
	}
	close(l.changed)
	l.changed = make(chan struct{})
	l.mu.Unlock()
	if !is {
		return
	}
	if others[m.Event] == "" {
		l.fault(notice)
	}
	if l.Notice != nil {
		l.Notice(notice)
	}
}

// noticeOf returns what the user should know of an event. Events of other jobs are left out: a
// server tells each new tool the ends of jobs that have ended long ago. Events of the system
// (PMIX_EVENT_SYS_BASE) concern all.
func (l *connection) noticeOf(m Message, about Proc, named bool) (Notice, bool) {
	system := m.Event <= SystemFirst && m.Event >= SystemLast
	own := named && slices.Contains(l.own, about.Nspace)
	// A server may tell each new tool old events of the system, too (PRRTE 3 does): they come before
	// the session has a job, which cannot have lost by them.
	if slices.Contains(silent, m.Event) || !own && (!system || len(l.own) == 0) {
		return Notice{}, false
	}
	text, isOther := others[m.Event]
	if isOther && m.Source != nil && m.Source.Nspace == l.self {
		return Notice{}, false // it is our own
	}
	n := Notice{Code: m.Event, Text: m.Text}
	if own {
		n.Job, n.Rank = about.Nspace, about.Rank
	}
	if isOther {
		n.Text = text
		return n, true
	}
	if n.Text == "" || n.Text == noText {
		n.Text = fmt.Sprintf("event %d", m.Event)
	}
	if v, found := Find(m.Info, EventText); found && v.Text != "" {
		n.Text += ": " + v.Text
	}
	if v, found := Find(m.Info, NodeName); found && v.Text != "" {
		n.Text += " on " + v.Text
	}
	return n, true
}

// noText is what libpmix says of an event that it does not know.
const noText = "ERROR STRING NOT FOUND"

// affected returns the process that an event is about, or else its source; named is false if the
// event names neither.
func affected(m Message) (about Proc, named bool) {
	if v, found := Find(m.Info, AffectedProc); found && v.Proc != nil {
		return *v.Proc, true
	}
	if v, found := Find(m.Info, Nspace); found {
		return All(v.Text), true
	}
	if m.Source != nil {
		return *m.Source, true
	}
	return Proc{}, false
}

// readyJob returns the namespace whose ranks wait; "": the event names none.
func readyJob(m Message) string {
	v, _ := Find(m.Info, Nspace)
	return v.Text
}

// isReady reports whether the server has said that the ranks of a namespace wait.
func (l *connection) isReady(nspace string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.ready[nspace] || l.ready[""]
}

// exitOf returns the exit code of an ended job: PRRTE 5 has it in pmix.exit.code, PRRTE 3 in
// pmix.job.term.status, where PRRTE 5 has a status below 0.
func exitOf(m Message) int {
	if v, found := Find(m.Info, ExitCode); found {
		return int(v.Number)
	}
	v, _ := Find(m.Info, JobTermStatus)
	if v.Number < 0 {
		return 1
	}
	return int(v.Number)
}

// next returns a channel that is closed at the next event.
func (l *connection) next() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.changed
}

// runs reports whether a job of the session has not ended.
func (l *connection) runs() bool {
	return slices.ContainsFunc(l.own, func(name string) bool { _, ended := l.ends[name]; return !ended })
}

// IsLost reports whether the connection to the server is lost.
func (l *connection) IsLost() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.lost
}

// exit returns the exit code of a job that has ended.
func (l *connection) exit(nspace string) (code int, ended bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	code, ended = l.ends[nspace]
	return code, ended
}

// allEnds returns the exit codes of all jobs whose end was told, by namespace.
func (l *connection) allEnds() map[string]int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return maps.Clone(l.ends)
}
