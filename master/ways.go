// What the master does with a command besides sending it to the ranks.

package master

import (
	"encoding/json"
	"time"

	"sdm/master/sampling"
	"sdm/master/session"
	"sdm/protocol"
	"sdm/protocol/canonical"
	"sdm/protocol/rank"
)

// execution is a command whose ranks are known.
type execution struct {
	id    protocol.RequestID
	info  protocol.CommandInfo
	ranks rank.Set
	args  protocol.Args
	wait  time.Duration // 0: no limit
}

// way is the row of a command: what is done before it is sent, in place of that, and after it is answered. Most
// commands have none: they are checked by their arguments, numbered, recorded for ranks that start later, and sent.
type way struct {
	// ends ends the session and returns the number of the call. It is possible before the tree is built.
	ends func(m *Master, wait time.Duration) protocol.RequestID
	// check refuses arguments that contradict the master's tables.
	check func(*Master, protocol.Args) *protocol.Fault
	// answer answers from the master's tables. Nothing is sent.
	answer func(*Master, *execution) []protocol.Group
	// instead executes the command in another way and reports whether it has. Nothing is sent then.
	instead func(*Master, *execution) bool
	// before completes the arguments, and begins to collect the answers where the master evaluates them.
	before func(*Master, *execution)
	// after takes note of a result of ranks.
	after func(*Master, session.Event)
}

// ways are the rows of commands that are more than sent. The map is read only; masters have it as a field, since its
// functions lead to those that read it.
var ways = map[string]way{
	"quit":  {ends: (*Master).quitCall},
	"ranks": {answer: func(m *Master, x *execution) []protocol.Group { return m.statusGroups(x.ranks) }},
	"focus": {answer: func(_ *Master, x *execution) []protocol.Group { return []protocol.Group{namedSet("", x.ranks)} }},
	"cancel": {
		check: (*Master).checkCancel,
		answer: func(m *Master, x *execution) []protocol.Group {
			m.cancel(x.args.Of)
			return nil
		},
	},
	"groups": {answer: func(m *Master, _ *execution) []protocol.Group { return m.namedSetGroups() }},
	"group": {
		check: func(m *Master, a protocol.Args) *protocol.Fault { return m.checkName(a.Name) },
		answer: func(m *Master, x *execution) []protocol.Group {
			m.namedSets[x.args.Name] = x.ranks
			return []protocol.Group{namedSet(x.args.Name, x.ranks)}
		},
	},
	"stacks": {
		check: func(_ *Master, a protocol.Args) *protocol.Fault { return sampling.Check(a) },
		instead: func(m *Master, x *execution) bool { // stacks of running ranks are a sample
			sample := x.args.Samples > 0 || x.ranks.Intersects(m.states.In(session.Running))
			if sample {
				m.sampler.sample(x.id, x.ranks, x.args, x.wait)
			}
			return sample
		},
	},
	"interrupt": {before: func(m *Master, x *execution) { m.sampler.interrupt(x.ranks) }},
	"stat": {before: func(_ *Master, x *execution) {
		x.args.Compare, x.args.Stat = true, true
		if x.args.Limit == 0 {
			x.args.Limit = statLimit(x.ranks.Len())
		}
	}},
	"diff": {before: func(m *Master, x *execution) {
		x.args.Compare = true
		if x.args.Tolerance > 0 { // all values are needed to find those within the tolerance
			x.args.Limit = -1
		}
		m.compare(x.id, x.args, x.ranks, x.wait, m.now())
	}},
	"info hosts": {before: func(m *Master, x *execution) {
		x.args.Limit = -1
		m.reportHosts(x.id, x.ranks, m.now())
	}},
	"rbreak": {before: func(m *Master, x *execution) {
		x.args.Functions = nil
		absent := m.waiting(x.ranks)
		if present := x.ranks.Minus(absent); !present.IsEmpty() { // only these can list functions
			x.ranks = present
			m.breakMatching(x.id, x.args, present, absent, x.wait, m.now())
		}
	}},
	"break": {after: func(m *Master, e session.Event) { m.persistent.located(e.ID, e.Group) }},
	"clear": {after: func(m *Master, e session.Event) {
		var body clearedNumbers
		if json.Unmarshal(e.Group.Body, &body) == nil {
			for _, n := range body.Deleted {
				m.persistent.forget(n, e.Group.Ranks)
			}
		}
	}},
	"assert":    {check: func(_ *Master, a protocol.Args) *protocol.Fault { return checkAssertion("assert", a) }},
	"assert at": {check: func(_ *Master, a protocol.Args) *protocol.Fault { return checkAssertion("assert at", a) }},
	"commands": {before: func(m *Master, x *execution) {
		if len(x.args.Breakpoints) == 0 {
			x.args.Breakpoints = []int{m.lastBreak}
		}
	}},
	"launch": {check: (*Master).checkLaunch, before: (*Master).addPersistent},
	"attach": {before: (*Master).addPersistent},
	"run":    {before: (*Master).addPersistent},
	"core":   {before: func(m *Master, x *execution) { x.args.Size = m.states.All().Len() }},
}

// proceed executes a command.
func (m *Master) proceed(x *execution) {
	if m.withdrawn(x.id) {
		return
	}
	way := m.ways[x.info.Name]
	if way.answer != nil {
		m.answer(x.id, x.info.Name, way.answer(m, x)...)
		return
	}
	m.calls[x.id] = &openCall{info: x.info, ranks: x.ranks, began: m.now()}
	if way.instead != nil && way.instead(m, x) {
		return
	}
	m.number(x.info, x.id, &x.args)
	if way.before != nil {
		way.before(m, x)
	}
	m.persistent.record(x.id, x.info.Name, x.args, x.ranks, m.waiting(x.ranks))
	if x.info.Resumes {
		m.sampler.resume(x.ranks)
	}
	if x.info.Forward {
		m.noteAborts(x.ranks)
	}
	m.send(x.id, x.info.Name, x.ranks, x.wait, x.args)
}

func (m *Master) checkLaunch(a protocol.Args) *protocol.Fault {
	if err := m.programs.check(a.Job.Program); err != nil {
		return &protocol.Fault{Kind: protocol.FaultLaunch, Op: "launch", Message: err.Error()}
	}
	return nil
}

// addPersistent adds what ranks that start, or are attached to, execute first.
func (m *Master) addPersistent(x *execution) {
	x.args.Before, x.args.Size = m.persistent.commandsFor(x.ranks), m.states.All().Len()
}

// noteAborts reports the ranks that are about to continue into MPI_Abort. It must be called before
// they are resumed, because the starter may then end the servers before any of them has sent an
// event.
func (m *Master) noteAborts(ranks rank.Set) {
	if gone := m.aborts.resume(ranks); !gone.IsEmpty() {
		m.report(protocol.Group{Kind: protocol.KindNote, Ranks: gone,
			Body: canonical.JSON(protocol.Note{Text: protocol.IntoAbort})})
	}
}
