package console

import (
	"slices"

	"sdm/master/session"
	"sdm/protocol/rank"
)

// Status is how the whole invocation ends, as the exit status of a process.
type Status int

const (
	StatusGood        Status = 0   // all ranks ended well, or the script said quit
	StatusRankFailed  Status = 1   // a rank failed, crashed, was lost, or could not be attached to
	StatusUsage       Status = 2   // flags, sets, files or commands that make no sense
	StatusNotStarted  Status = 3   // the job could not be started or attached
	StatusNoTree      Status = 4   // the tree could not be built
	StatusTimeout     Status = 124 // --timeout is over
	StatusInterrupted Status = 130 // Ctrl-C
)

// crashes are the signals that a program does not get for its good.
var crashes = []string{"SIGSEGV", "SIGABRT", "SIGBUS", "SIGFPE", "SIGILL", "SIGSYS", "SIGTRAP"}

// failedRanks tells the ranks that ended badly, or stand at a crash that would
// have ended them. Ranks that we killed ourselves have not failed, nor has who looks
// at core files: their programs ended long before.
func failedRanks(states *session.States, killed rank.Set) rank.Set {
	var failed rank.Set
	for _, g := range states.Groups(states.All()) {
		s := g.Status
		switch {
		case s.State == session.Exited && s.Code != nil && *s.Code != 0,
			s.State == session.Lost,
			s.State == session.Signalled,
			s.State == session.Stopped && s.Reason != "core" && slices.Contains(crashes, s.Signal):
			failed = failed.Union(g.Ranks)
		}
	}
	return failed.Minus(killed)
}

// outcome is the status when the commands are done.
func (c *console) outcome() Status {
	if c.judge && !(failedRanks(c.states, c.killed).IsEmpty() && c.refused.IsEmpty()) {
		return StatusRankFailed
	}
	return c.status
}
