// The simulated ranks of one back end as a pure machine: its inputs have a time; its outputs are
// calls of the Sink and the next deadline.

package sim

import (
	"slices"
	"strings"
	"time"

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
	mpi     *mpi
}

func newMachine(cfg Config) *machine {
	cfg = cfg.withDefaults()
	return &machine{
		cfg: cfg, program: cfg.Library.program(cfg.Variants), library: cfg.Library, mpi: newMPI(&cfg),
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

func (m *machine) answerTime(s *state) time.Duration { return delay(m.cfg.AnswerTime, s) }
func (m *machine) runTime(s *state) time.Duration    { return delay(m.cfg.RunTime, s) }

func delay(f func(rank.ID, int) time.Duration, s *state) time.Duration {
	if f == nil {
		return 0
	}
	return max(f(s.rank, s.turn), 0)
}
