package console

import (
	"sdm/master/frontend/console/command"
	"sdm/master/frontend/console/text"
	"sdm/master/session"
	"sdm/protocol"
	"sdm/protocol/rank"
)

// call is one request of the session and what has come of it.
type call struct {
	id    protocol.RequestID
	asked text.Asked
	cmd   command.Command
	from  source // of cmd; without at, it is a call of ours
	typed bool   // at the prompt: its answers are paged
	quiet bool   // ours, not the person's: nothing is written
	page  bool   // of an answer that was cut off: expand goes on from it, or tells that it was the last
	// perhaps tells that then decides whether the command has failed.
	perhaps bool
	// refusals of a quiet call are written.
	refusals bool
	starts   bool             // the launch or attach that the session begins with
	ranks    rank.Set         // whom it is for, as far as that can be told here
	then     func(call *call) // at its end, before anything is awaited; may be nil
	groups   []protocol.Group
	done     bool

	// Sets of ranks by what came since the call was made. The stream keeps the
	// order for one rank, so a rank that was resumed for this call has been
	// seen running before it is seen to stop, but not always before it answers.
	results, silent, running, ran, stopped rank.Set
	told                                   rank.Set // were lost meanwhile, or ended at the start, and that was written as an event
}

// news gives the groups without what was written as an event already: ranks that were lost while it was asked, and, of a
// start, those that ended by themselves.
func (x *call) news() []protocol.Group {
	var news []protocol.Group
	for _, g := range x.groups {
		if g.Kind == protocol.KindLost || x.starts && g.HasFault(protocol.FaultState) {
			if g.Ranks = g.Ranks.Minus(x.told); g.Ranks.IsEmpty() {
				continue
			}
		}
		news = append(news, g)
	}
	return news
}

// answer takes in an answer to the call.
func (x *call) answer(g protocol.Group) {
	x.groups = append(x.groups, g)
	switch g.Kind {
	case protocol.KindResult:
		x.results = x.results.Union(g.Ranks)
	case protocol.KindMissing:
		x.silent = x.silent.Union(g.Ranks)
	}
}

// happened takes in an event of ranks.
func (x *call) happened(g protocol.Group) {
	switch {
	case g.Kind == protocol.KindRunning:
		x.running, x.ran = x.running.Union(g.Ranks), x.ran.Union(g.Ranks)
	case g.Kind == protocol.KindStopped || g.Kind.IsEnd():
		x.running, x.stopped = x.running.Minus(g.Ranks), x.stopped.Union(g.Ranks)
		if g.Kind.IsEnd() || x.asked.Command == "run" { // starti: they never ran
			x.ran = x.ran.Union(g.Ranks)
		}
	}
}

// moving gives the ranks that the call has set in motion, or is about to, and
// that have not stopped or ended since.
func (x *call) moving() rank.Set {
	switch {
	case x.raw():
		return x.running.Intersect(x.results) // gdb knew what it means, we see it
	case !x.resumes():
		return rank.Set{}
	}
	return x.results.Minus(x.ran).Union(x.running.Intersect(x.results.Union(x.silent)))
}

func (x *call) resumes() bool {
	info, _ := protocol.LookupCommand(x.asked.Command)
	return info.Resumes
}

// raw tells of a line for gdb, which may resume ranks ("gdb continue").
func (x *call) raw() bool { return x.asked.Command == "gdb" || x.asked.Command == "mi" }

// ends tells of what brings ranks to their end.
func (x *call) ends() bool { return x.asked.Command == "kill" || x.asked.Command == "detach" }

// failed tells whether some rank has not done what the command asked for. Without a
// set in front, ranks that have ended are none of those that a command is for, as
// long as there are others.
func (x *call) failed() bool {
	for _, g := range x.groups {
		ended := x.cmd.Set == "" && g.HasFault(protocol.FaultState) && !x.results.IsEmpty()
		if g.Kind != protocol.KindResult && !ended {
			return true
		}
	}
	return false
}

// others gives the ranks that answered otherwise than by a result.
func (x *call) others() rank.Set {
	return x.those(func(g protocol.Group) bool { return g.Kind != protocol.KindResult })
}

// refused gives the ranks that could not do it; their state was not the reason.
func (x *call) refused() rank.Set {
	return x.those(func(g protocol.Group) bool { return g.Kind != protocol.KindResult && !g.HasFault(protocol.FaultState) })
}

// those gives the ranks of some of the groups.
func (x *call) those(some func(protocol.Group) bool) rank.Set {
	var ranks rank.Set
	for _, g := range x.groups {
		if some(g) {
			ranks = ranks.Union(g.Ranks)
		}
	}
	return ranks
}

// starting gives the ranks that a launch or attach has under control and that
// have not come to their first stop, nor ended.
func (x *call) starting() rank.Set { return x.results.Minus(x.stopped) }

// keptCalls is how many calls that are done are remembered for late answers.
const keptCalls = 256

// begin hands a call over. The error makes no sense of the command: a usage
// fault, or the session is gone.
func (c *console) begin(x *call, s session.Call) error {
	id, err := c.do(s)
	if err != nil {
		return err
	}
	x.id, x.asked.Command = id, asDone(x.asked.Command, s.Command)
	x.ranks = c.meant(s.Ranks)
	c.calls[id] = x
	c.progress.goOn()
	return nil
}

// meant gives the ranks of a text. Those that only the master knows are any.
func (c *console) meant(text string) rank.Set {
	var set rank.Set
	if text == "" || set.UnmarshalText([]byte(text)) != nil {
		return c.cfg.All
	}
	return set
}

// asDone is the command whose answers a call brings: expand brings those of an
// earlier one.
func asDone(as, command string) string {
	if as != "" {
		return as
	}
	return command
}

// retire forgets the oldest of the calls that are done.
func (c *console) retire(x *call) {
	x.groups = nil
	c.old = append(c.old, x.id)
	if len(c.old) > keptCalls {
		delete(c.calls, c.old[0])
		c.old = c.old[1:]
	}
}
