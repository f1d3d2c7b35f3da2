// The exit status.

package console

import (
	"errors"
	"slices"

	"sdm/master/session"
	"sdm/master/text"
	"sdm/protocol"
	"sdm/protocol/rank"
)

// Status is the result of the invocation, as the exit status of the process.
type Status int

const (
	StatusGood Status = 0 // all ranks ended well, or the script said quit
	// a rank failed, crashed, was lost, or could not be started or attached to; a command of a batch failed
	StatusRankFailed  Status = 1
	StatusUsage       Status = 2   // invalid flags, sets, files or commands, before the start
	StatusNotStarted  Status = 3   // the job could not be started or attached
	StatusNoTree      Status = 4   // the tree could not be built
	StatusTimeout     Status = 124 // --timeout is over
	StatusInterrupted Status = 130 // Ctrl-C
)

// crashes are the signals that tell of a crash.
var crashes = []string{"SIGSEGV", "SIGABRT", "SIGBUS", "SIGFPE", "SIGILL", "SIGSYS", "SIGTRAP"}

// failedRanks returns the ranks that ended with a failure, or are stopped by a crash. Killed ranks
// have not failed, nor have ranks of core files: their programs ended earlier.
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

// done ends the console after all commands. If not Interactive, the ranks determine the status, and
// a message tells what will happen to those that still run.
func (c *console) done() {
	if c.ended {
		return
	}
	if c.cut {
		c.ended, c.status = true, StatusInterrupted
		return
	}
	if c.cfg.Guest && !c.cfg.Interactive {
		c.ended, c.left = true, true
		return
	}
	c.ended, c.judge = true, !c.cfg.Interactive && !c.cfg.Past
	if run := c.busy(); c.judge && c.cfg.AtEnd != "" && !c.cfg.AnswersOnly && !run.IsEmpty() {
		c.say("[" + text.Ranks(run) + "] " + string(c.cfg.AtEnd) + " while running: the commands are done")
	}
}

// judgeCall records whether a command of a script has failed.
func (c *console) judgeCall(x *call) {
	if x.from.at == nil || x.from.prompt || x.undecided || !x.failed() {
		return // the console's own, or seen by the user
	}
	c.fail(x.from.at(errFailed))
}

// judgeAssertion records that an assertion fails on some rank, as a failed command of a batch.
func (c *console) judgeAssertion(g protocol.Group) {
	if !c.cfg.Past && !c.failed && text.AssertionFails(g) {
		c.fail(errAssertion)
	}
}

// errAssertion ends a script with StopOnError when an assertion fails.
var errAssertion = errors.New("an assertion fails: no further command is executed (--stop-on-error)")

// errFailed ends a script with StopOnError.
var errFailed = errors.New("the command has failed: no further one is executed (--stop-on-error)")

// fail records that a command of a script has failed.
func (c *console) fail(err error) {
	c.failed = !c.cfg.Interactive // otherwise the user sees it
	if !c.cfg.StopOnError || c.ended {
		return
	}
	c.complain("sdm: " + err.Error())
	c.scripts = nil
	if !c.cfg.Interactive {
		c.done()
	}
}

// exitStatus decides the status of a console whose commands are complete.
type exitStatus struct {
	killed  rank.Set // ranks that a command has killed
	refused rank.Set // ranks that could not be started or attached to
	judge   bool     // the ranks determine the status
	chosen  bool     // the status was given with quit
	failed  bool     // a command of a script has failed
}

// outcome returns the status: the given one, unless a command or a rank has failed.
func (e *exitStatus) outcome(status Status, states *session.States) Status {
	if e.failed && !e.chosen && status == StatusGood {
		return StatusRankFailed
	}
	if e.judge && !(failedRanks(states, e.killed).IsEmpty() && e.refused.IsEmpty()) {
		return StatusRankFailed
	}
	return status
}
