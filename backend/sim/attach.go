// Inputs of the machine: ranks that are attached to, the end of a process, and the clock.

package sim

import (
	"fmt"
	"slices"
	"time"

	"sdm/backend"
	"sdm/protocol"
	"sdm/protocol/rank"
)

// attach adds ranks. Held ones begin before main, running ones are stopped in helper.
func (m *machine) attach(now time.Duration, id protocol.RequestID, targets []backend.Target, stopAt string) {
	running := m.batch(now, 0, false, 0)
	replies := m.batch(now, id, true, 0)
	notes := m.batch(now, 0, false, 0)
	stops := m.batch(now, 0, false, 0)
	var resumed []*state
	goal, bad := m.startGoal(stopAt)
	states := make([]state, len(targets)) // one allocation
	m.ranks = slices.Grow(m.ranks, len(targets))
	for i, t := range targets {
		if old := m.find(t.Rank); old != nil && !old.now.IsOver() {
			replies.add(old, 0, m.fault("attach", old.now.Refuse(protocol.NeedNew)))
			continue
		}
		s := m.newState(&states[i], t)
		m.keep(s)
		for _, c := range t.Before {
			if act := m.action(&c); act != nil {
				_, _ = act(s) // its refusal has been reported before
			}
		}
		switch {
		case !t.Held:
			s.pos = m.program.of(fnHelper)
			replies.add(s, m.answerTime(s), m.plain(protocol.KindResult))
			stops.add(s, 0, m.stopped(s, protocol.Stop{Reason: "attached"}))
		case stopAt == "entry":
			replies.add(s, m.answerTime(s), m.plain(protocol.KindResult))
			stops.add(s, 0, m.stopped(s, protocol.Stop{Reason: "entry"}))
		default:
			s.goal = m.shared(goal)
			m.resumeRank(s, running)
			replies.add(s, m.answerTime(s), m.plain(protocol.KindResult))
			if bad != nil {
				const stays = " The rank stays in main; break %s waits for libraries that are loaded later."
				notes.add(s, 0, m.note("cannot stop at "+stopAt+": "+bad.Message+fmt.Sprintf(stays, stopAt)))
			}
			resumed = append(resumed, s)
		}
	}
	running.send()
	replies.send()
	notes.send()
	stops.send()
	m.advanceFurther(now, resumed)
}

// startGoal returns where ranks that are started stop first: in main, with the reason, if there is no such place.
func (m *machine) startGoal(stopAt string) (goal, *protocol.Fault) {
	switch stopAt {
	case "entry", "none":
		return goal{kind: goContinue}, nil
	case "":
		stopAt = "main"
	}
	pos, variant, ok := m.program.find(stopAt, m.cfg.Variants)
	if !ok {
		g, _ := m.startGoal("main")
		return g, nowhere(stopAt)
	}
	return goal{kind: goStart, pos: pos, variant: variant}, nil
}

// ended handles the end of a rank's process.
func (m *machine) ended(now time.Duration, r rank.ID, exit protocol.Exit) {
	s := m.find(r)
	if s == nil || s.now.IsOver() {
		return
	}
	e := m.exited(exit)
	s.end(e.kind)
	b := m.batch(now, 0, false, 0)
	b.add(s, 0, e)
	b.send()
}

// wake executes what is due. Ranks that arrive at different times, with no output in between,
// are reported together: a late wake-up has many of them.
func (m *machine) wake(now time.Duration) {
	var arrivals []arrival
	var last time.Duration
	for {
		due, ok := m.agenda.first()
		if !ok || due > now {
			break
		}
		s := m.agenda.pop()
		if len(s.outputs) > 0 && len(arrivals) > 0 {
			m.arrive(last, arrivals)
			arrivals = nil
		}
		m.out = append(m.out, s.outputs...)
		arrivals, last = append(arrivals, s.arrivals...), due
	}
	if len(arrivals) > 0 {
		m.arrive(last, arrivals)
	}
}
