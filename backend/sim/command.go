// Dispatch of commands, and the commands that change ranks.

package sim

import (
	"time"

	"sdm/backend"
	"sdm/protocol"
	"sdm/protocol/sideeffect"
)

// do executes one command.
func (m *machine) do(now time.Duration, req backend.Request) {
	running := m.batch(now, 0, false, 0)
	replies := m.batch(now, req.ID, true, req.Command.Args.Limit)
	events := m.batch(now, 0, false, 0)
	var resumed []*state
	act := m.action(req.Command)
	info, known := protocol.LookupCommand(req.Command.Name)
	for r := range req.Ranks.All() {
		s := m.find(r)
		switch {
		case m.cfg.Hang.Contains(r):
			continue
		case s == nil:
			s = &state{rank: r} // a temporary state for the answer
			replies.add(s, 0, m.fault(info.Name, (*state)(nil).check(info.Need)))
			continue
		}
		bad := s.check(info.Need)
		if !known || act == nil {
			bad = &protocol.Fault{Kind: protocol.FaultEngine, Message: "simulated ranks do not know " + req.Command.Name}
		}
		var result effect
		if bad == nil {
			result, bad = act(s)
		}
		if bad != nil {
			replies.add(s, m.answerTime(s), m.fault(req.Command.Name, bad))
			continue
		}
		if result.resumed {
			m.resumeRank(s, running)
			resumed = append(resumed, s)
		}
		replies.add(s, m.answerTime(s), result.answer)
		if result.event.kind != 0 {
			events.add(s, 0, result.event)
		}
	}
	running.send()
	replies.send()
	events.send()
	m.advanceFurther(now, resumed)
}

// effect is the result of a command on a rank: the answer, and what follows it.
type effect struct {
	answer  answer
	event   answer // none if its kind is 0
	resumed bool   // it runs to its goal
}

// action returns the function that executes a command on one rank, nil for an unknown command.
// What does not depend on the rank is computed once.
func (m *machine) action(c *protocol.Command) func(*state) (effect, *protocol.Fault) {
	a := &c.Args
	if look, ok := looks[c.Name]; ok {
		if a.Pure && sideeffect.Of(a.Expr, false) {
			return only(func(*state) (answer, *protocol.Fault) { return answer{}, protocol.NotPure(a.Expr) })
		}
		return only(func(s *state) (answer, *protocol.Fault) { return look(m, s, a) })
	}
	switch c.Name {
	case "break":
		d, bad := m.define(a)
		return only(func(s *state) (answer, *protocol.Fault) {
			if bad != nil {
				return answer{}, bad
			}
			return m.setBreak(s, d)
		})
	case "clear":
		return only(func(s *state) (answer, *protocol.Fault) { return m.clear(s, a) })
	case "delete":
		return changing(a, func(*rankBreak) bool { return false })
	case "enable", "disable":
		return changing(a, func(b *rankBreak) bool { b.enable(c.Name == "enable", a); return true })
	case "continue", "next", "step", "finish", "until":
		return func(s *state) (effect, *protocol.Fault) { return m.resume(s, c) }
	case "interrupt":
		return m.interrupt
	case "kill":
		return m.ending(m.exited(protocol.Exit{Signal: "SIGKILL", Meaning: "Killed"}))
	case "detach":
		return m.ending(m.plain(protocol.KindDetached))
	}
	return nil
}

// only makes an action whose only effect is an answer.
func only(f func(*state) (answer, *protocol.Fault)) func(*state) (effect, *protocol.Fault) {
	return func(s *state) (effect, *protocol.Fault) {
		a, bad := f(s)
		return effect{answer: a}, bad
	}
}

func changing(a *protocol.Args, keep func(*rankBreak) bool) func(*state) (effect, *protocol.Fault) {
	return only(func(s *state) (answer, *protocol.Fault) { return s.change(a, keep) })
}

// resume sets the goal of a rank.
func (m *machine) resume(s *state, c *protocol.Command) (effect, *protocol.Fault) {
	g := goal{count: max(c.Args.Count, 1), depth: m.program.depth(s.pos)}
	switch c.Name {
	case "continue":
		g.kind = goContinue // the count has no effect: the program has no loops
	case "next":
		g.kind = goNext
	case "step":
		g.kind = goStep
	case "finish":
		if s.level == g.depth-1 {
			return effect{}, gdbSays("\"finish\" not meaningful in the outermost frame.")
		}
		g.kind, g.depth = goFinish, g.depth-s.level
	case "until":
		if c.Args.Location == "" {
			g.kind, g.count = goNext, 1 // the program has no loops
			break
		}
		pos, variant, ok := m.program.find(c.Args.Location, m.cfg.Variants)
		if !ok {
			return effect{}, gdbSays("Function \"%s\" not defined.", c.Args.Location)
		}
		g.kind, g.pos, g.variant = goUntil, pos, variant
	}
	s.goal = m.shared(g)
	return effect{answer: m.plain(protocol.KindResult), resumed: true}, nil
}

// interrupt stops a running rank at the position where it was resumed.
func (m *machine) interrupt(s *state) (effect, *protocol.Fault) {
	done := effect{answer: m.plain(protocol.KindResult)}
	if s.now == backend.Running {
		s.now, s.level = backend.Stopped, 0
		s.turn++
		done.event = m.stopped(s, protocol.Stop{Reason: "interrupted"})
	}
	return done, nil
}

// ending makes an action that ends a rank.
func (m *machine) ending(event answer) func(*state) (effect, *protocol.Fault) {
	return func(s *state) (effect, *protocol.Fault) {
		s.end(event.kind)
		return effect{answer: m.plain(protocol.KindResult), event: event}, nil
	}
}
