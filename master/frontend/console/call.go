// Calls of the session and their answers.

package console

import (
	"encoding/json"

	"sdm/master/language"
	"sdm/master/session"
	"sdm/master/text"
	"sdm/protocol"
	"sdm/protocol/rank"
	"sdm/protocol/sideeffect"
)

// call is one call of the session and its answers.
type call struct {
	id    protocol.RequestID
	asked text.Asked
	cmd   language.Command
	from  source // of cmd; without at, the call is the console's own
	typed bool   // at the prompt: its answers are paged
	quiet bool   // the console's own: answers are not written
	page  bool   // a further page of a truncated answer; expand continues from it
	// undecided tells that then decides whether the command has failed.
	undecided bool
	// refusals of a quiet call are written.
	refusals bool
	starts   bool             // the launch or attach that the session begins with
	ranks    rank.Set         // the ranks that it addresses, as far as known here
	then     func(call *call) // called at its end, before anything is awaited; may be nil
	groups   []protocol.Group
	done     bool

	// Sets of ranks by events since the call was made. Events of one rank are in order, so that a
	// rank that the call has resumed runs before it stops. Its answer may come before or after the
	// running event.
	results, silent, running, ran, stopped rank.Set
	told                                   rank.Set // lost or ended, as an event reported
}

// news returns the groups without ranks that were reported by events already: ranks lost during the
// call, and, for a start, ranks that ended by themselves.
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

// answer processes an answer to the call.
func (x *call) answer(g protocol.Group) {
	x.groups = append(x.groups, g)
	switch g.Kind {
	case protocol.KindResult:
		x.results = x.results.Union(g.Ranks)
	case protocol.KindMissing:
		x.silent = x.silent.Union(g.Ranks)
	}
}

// observe processes an event of ranks.
func (x *call) observe(g protocol.Group) {
	switch {
	case g.Kind == protocol.KindRunning:
		x.running, x.ran = x.running.Union(g.Ranks), x.ran.Union(g.Ranks)
	case g.Kind == protocol.KindWatched: // it does not stop until a command needs that
		x.stopped = x.stopped.Union(g.Ranks)
	case g.Kind == protocol.KindStopped || g.Kind.IsEnd():
		x.running, x.stopped = x.running.Minus(g.Ranks), x.stopped.Union(g.Ranks)
		if g.Kind.IsEnd() || x.asked.Command == "run" { // starti: they never ran
			x.ran = x.ran.Union(g.Ranks)
		}
	}
}

// moving returns the ranks that the call has resumed, or is about to, and that have not stopped or
// ended since.
func (x *call) moving() rank.Set {
	switch {
	case x.raw():
		return x.running.Intersect(x.results) // the effect of a gdb command is seen by its events
	case !x.resumes():
		return rank.Set{}
	}
	return x.results.Minus(x.ran).Union(x.running.Intersect(x.results.Union(x.silent)))
}

func (x *call) resumes() bool { return x.info().Resumes }

// info returns the row of the command in the table.
func (x *call) info() protocol.CommandInfo {
	info, _ := protocol.LookupCommand(x.asked.Command)
	return info
}

// raw reports whether the call is a line for gdb, which may resume ranks ("gdb continue").
func (x *call) raw() bool { return x.info().Takes("text") }

// ends reports whether the call ends ranks.
func (x *call) ends() bool { return x.info().Ends }

// failed reports whether some rank has not executed the command. Without an explicit set, a command
// is not for ranks that have ended, unless no others are left.
func (x *call) failed() bool {
	for _, g := range x.groups {
		ended := x.cmd.Set == "" && g.HasFault(protocol.FaultState) && !x.results.IsEmpty()
		if g.Kind != protocol.KindResult && !ended {
			return true
		}
	}
	return false
}

// hung returns the ranks whose gdb executes the call still after the wait, if the call comes from a
// script and only looks. An expression that calls a function does not: its end would leave the
// rank in that function.
func (x *call) hung() rank.Set {
	if x.from.at == nil || x.from.prompt || !x.info().Looks() || sideeffect.Calls(x.cmd.Args.Expr) {
		return rank.Set{}
	}
	return x.ranksWhere(func(g protocol.Group) bool {
		var f protocol.Fault
		return g.Kind == protocol.KindFault && json.Unmarshal(g.Body, &f) == nil && f.Busy
	})
}

// others returns the ranks without a result.
func (x *call) others() rank.Set {
	return x.ranksWhere(func(g protocol.Group) bool { return g.Kind != protocol.KindResult })
}

// refused returns the ranks without a result for reasons other than their state.
func (x *call) refused() rank.Set {
	return x.ranksWhere(func(g protocol.Group) bool {
		return g.Kind != protocol.KindResult &&
			!g.HasFault(protocol.FaultState)
	})
}

// ranksWhere returns the ranks of some of the groups.
func (x *call) ranksWhere(some func(protocol.Group) bool) rank.Set {
	var ranks rank.Set
	for _, g := range x.groups {
		if some(g) {
			ranks = ranks.Union(g.Ranks)
		}
	}
	return ranks
}

// starting returns the ranks that a launch or attach has under control, and that have neither had
// their first stop nor ended.
func (x *call) starting() rank.Set { return x.results.Minus(x.stopped) }

// begin makes a call of the session. The error refuses the call, or the session has ended.
func (c *console) begin(x *call, s session.Call) error {
	id, err := c.do(s)
	if err != nil {
		return err
	}
	x.id, x.asked.Command = id, asDone(x.asked.Command, s.Command)
	x.ranks = c.ranksOf(s.Ranks)
	c.calls[id] = x
	c.progress.resume()
	return nil
}

// beginAwaited makes a call whose answers the next command waits for.
func (c *console) beginAwaited(x *call, s session.Call) error {
	if err := c.begin(x, s); err != nil {
		return err
	}
	c.await = await{call: x}
	return nil
}

// asDone returns the command whose answers a call returns: for expand the command of an earlier
// call.
func asDone(as, command string) string {
	if as != "" {
		return as
	}
	return command
}
