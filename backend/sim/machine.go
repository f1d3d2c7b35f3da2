// The simulated ranks of one back end as a pure machine: its inputs have a time; its outputs are
// calls of the Sink and the next deadline.

package sim

import (
	"slices"
	"strings"
	"time"

	"sdm/backend"
	"sdm/protocol"
	"sdm/protocol/rank"
)

// machine is the state of all ranks. It is used by one goroutine at a time.
type machine struct {
	cfg     Config
	program *program
	ranks   []*state // ascending
	goal    *goal    // the goal that was set last
	agenda  agenda
	out     []output
	library *Library
}

func newMachine(cfg Config) *machine {
	cfg = cfg.withDefaults()
	return &machine{
		cfg: cfg, program: cfg.Library.program(cfg.Variants), library: cfg.Library,
	}
}

// find returns a rank, nil if it is not here.
func (m *machine) find(r rank.ID) *state {
	if i, found := m.place(r); found {
		return m.ranks[i]
	}
	return nil
}

func (m *machine) place(r rank.ID) (int, bool) {
	return slices.BinarySearchFunc(m.ranks, r, func(s *state, r rank.ID) int { return int(s.rank - r) })
}

// keep adds a rank, in place of an earlier one with its number.
func (m *machine) keep(s *state) {
	i, found := m.place(s.rank)
	if !found {
		m.ranks = slices.Insert(m.ranks, i, s)
	}
	m.ranks[i] = s
}

// shared returns one copy of a goal for consecutive ranks with the same goal.
func (m *machine) shared(g goal) *goal {
	if m.goal == nil || *m.goal != g {
		m.goal = &g
	}
	return m.goal
}

func (m *machine) body(k bodyKey, make func() any) []byte { return m.library.body(k, make) }

// plain returns an answer without content.
func (m *machine) plain(kind protocol.Kind) answer {
	return answer{kind: kind, body: []byte("{}")}
}

func (m *machine) fault(op string, f *protocol.Fault) answer {
	k := bodyKey{what: "fault", text: strings.Join([]string{op, string(f.Kind), f.Message, f.Hint}, "\x00")}
	return answer{kind: protocol.KindFault, body: m.body(k, func() any {
		g := *f
		g.Op = op
		return &g
	})}
}

func (m *machine) batch(now time.Duration, id protocol.RequestID, reply bool, limit int) *batch {
	return &batch{m: m, now: now, id: id, reply: reply, limit: limit}
}

// take returns and clears the outputs.
func (m *machine) take() []output {
	out := m.out
	m.out = nil
	return out
}

// wake carries out what is due. Ranks that arrive at different times, with no output in between,
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
		case bad != nil:
			replies.add(s, m.answerTime(s), m.plain(protocol.KindResult))
			notes.add(s, 0, m.note("cannot stop at "+stopAt+": "+bad.Message+" The rank stays at its first instruction."))
			stops.add(s, 0, m.stopped(s, protocol.Stop{Reason: "entry"}))
		case stopAt == "entry":
			replies.add(s, m.answerTime(s), m.plain(protocol.KindResult))
			stops.add(s, 0, m.stopped(s, protocol.Stop{Reason: "entry"}))
		default:
			s.goal = m.shared(goal)
			m.resumeRank(s, running)
			replies.add(s, m.answerTime(s), m.plain(protocol.KindResult))
			resumed = append(resumed, s)
		}
	}
	running.send()
	replies.send()
	notes.send()
	stops.send()
	m.advanceFurther(now, resumed)
}

func (m *machine) note(text string) answer {
	return answer{kind: protocol.KindNote, body: m.body(bodyKey{what: "note", text: text}, func() any { return protocol.Note{Text: text} })}
}

// startGoal returns where ranks that are started stop first.
func (m *machine) startGoal(stopAt string) (goal, *protocol.Fault) {
	switch stopAt {
	case "entry", "none":
		return goal{kind: goContinue}, nil
	case "":
		stopAt = "main"
	}
	pos, variant, ok := m.program.find(stopAt, m.cfg.Variants)
	if !ok {
		return goal{}, nowhere(stopAt)
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

func (m *machine) exited(exit protocol.Exit) answer {
	kind := protocol.KindExited
	if exit.Signal != "" {
		kind = protocol.KindSignalled
	}
	return answer{kind: kind, body: m.body(bodyKey{what: "exit", text: exit.Signal + "\x00" + exit.Meaning, n: exit.Code}, func() any { return exit })}
}

func (m *machine) answerTime(s *state) time.Duration { return delay(m.cfg.AnswerTime, s) }
func (m *machine) runTime(s *state) time.Duration    { return delay(m.cfg.RunTime, s) }

func delay(f func(rank.ID, int) time.Duration, s *state) time.Duration {
	if f == nil {
		return 0
	}
	return max(f(s.rank, s.turn), 0)
}
