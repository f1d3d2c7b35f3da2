package console

import (
	"errors"
	"slices"

	"sdm/master/frontend/console/text"
	"sdm/master/session"
	"sdm/protocol/rank"
)

// Status is how the whole invocation ends, as the exit status of a process.
type Status int

const (
	StatusGood        Status = 0   // all ranks ended well, or the script said quit
	StatusRankFailed  Status = 1   // a rank failed, crashed, was lost, or could not be started or attached to; a command of a batch failed
	StatusUsage       Status = 2   // flags, sets, files or commands that make no sense, before anything has begun
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

// done ends the console when all commands are. Without a person who can see it,
// the ranks tell the status, and what becomes of those that run is said: they were
// perhaps meant to go on.
func (c *console) done() {
	if c.ended {
		return
	}
	c.ended, c.judge = true, !c.cfg.Interactive
	if run := c.busy(); c.judge && c.cfg.AtEnd != "" && !c.cfg.AnswersOnly && !run.IsEmpty() {
		c.say("[" + text.Ranks(run) + "] " + c.cfg.AtEnd + " while running: the commands are done")
	}
}

// judgeCall notes whether a command of a script has failed.
func (c *console) judgeCall(x *call) {
	if x.from.at == nil || x.from.prompt || x.perhaps || !x.failed() {
		return // ours, or seen by a person
	}
	c.fail(x.from.at(errFailed))
}

// errFailed ends a script of StopOnError.
var errFailed = errors.New("the command has failed: no further one is carried out (--stop-on-error)")

// fail notes that a command has failed that nobody has typed.
func (c *console) fail(err error) {
	c.failed = !c.cfg.Interactive // else it is seen
	if !c.cfg.StopOnError || c.ended {
		return
	}
	c.complain("sdm: " + err.Error())
	c.scripts = nil
	if !c.cfg.Interactive {
		c.done()
	}
}

// outcome is the status when the commands are done.
func (c *console) outcome() Status {
	if c.failed && !c.chosen && c.status == StatusGood {
		return StatusRankFailed
	}
	if c.judge && !(failedRanks(c.states, c.killed).IsEmpty() && c.refused.IsEmpty()) {
		return StatusRankFailed
	}
	return c.status
}
