// The state of the job.

package master

import (
	"fmt"
	"slices"
	"strings"

	"sdm/master/session"
	"sdm/protocol"
)

// jobTracker derives the state of the job from the states of its ranks: it is held when all have
// stopped for the first time, running when the first resumes, and ended when all have. It is pure.
type jobTracker struct {
	name  string // of the job, "" if unknown
	state string // reported last
}

// These states of protocol.JobState follow from the states of ranks.
const (
	jobHeld    = "held"
	jobRunning = "running"
	jobEnded   = "ended"
)

// after is called when an event of a kind has been entered into the table s. It returns the state of
// the job to report, or false if it has not changed.
func (t *jobTracker) after(kind protocol.Kind, s *session.States) (protocol.JobState, bool) {
	state := t.next(kind, s)
	if state == t.state {
		return protocol.JobState{}, false
	}
	t.state = state
	j := protocol.JobState{State: state, Job: t.name}
	if state == jobEnded {
		j.Status, j.Text = outcome(s)
	}
	return j, state != ""
}

func (t *jobTracker) next(kind protocol.Kind, s *session.States) string {
	switch {
	case kind == protocol.KindStarted && t.state == jobEnded: // a restart
		return ""
	case kind == protocol.KindRunning && t.state == jobHeld:
		return jobRunning
	case kind.IsEnd() && t.state != jobEnded && s.Only(session.Exited, session.Signalled, session.Lost) &&
		!s.Only(session.Lost):
		return jobEnded
	case (kind == protocol.KindStopped || kind.IsEnd()) && t.state == "" &&
		s.Only(session.Stopped, session.Exited, session.Signalled, session.Lost, session.Detached) &&
		slices.ContainsFunc(s.Groups(s.All()), isHeld):
		return jobHeld
	}
	return t.state
}

// isHeld reports whether ranks of a status are stopped processes; ranks of core files are not.
func isHeld(g session.StatusGroup) bool {
	return g.Status.State == session.Stopped && g.Status.Reason != "core"
}

// outcome returns the exit status of a job of which all ranks have ended, the highest of theirs; 1
// for ranks that have none, which text describes.
func outcome(s *session.States) (status *int, text string) {
	highest, words := 0, []string(nil)
	for _, g := range s.Groups(s.All()) {
		switch {
		case g.Status.State == session.Exited && g.Status.Code != nil:
			highest = max(highest, *g.Status.Code)
			continue
		case g.Status.State == session.Signalled:
			words = append(words, fmt.Sprintf("%s ended by %s", g.Ranks, g.Status.Signal))
		case g.Status.State == session.Lost:
			words = append(words, g.Ranks.String()+" lost")
		}
		highest = max(highest, 1)
	}
	return &highest, strings.Join(words, ", ")
}
