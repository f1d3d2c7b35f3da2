// One simulated rank.

package sim

import (
	"time"

	"sdm/backend"
	"sdm/protocol"
	"sdm/protocol/rank"
)

type status uint8

const (
	statusStopped status = iota
	statusRunning
	statusEnded // or detached: no more of ours
)

// state is one rank.
type state struct {
	rank    rank.ID
	pid     int
	pos     int // of the program; while running: where it was resumed
	level   int // of the stack: the selected frame
	variant int
	status  status
	crashed bool // stands where it gets its SIGSEGV
	breaks  []own
	goal    goal // of the run
	turn    int  // counts runs; see arrival
	last    time.Duration
}

// newState makes s the state of a fresh rank.
func (m *machine) newState(s *state, t backend.Target) *state {
	*s = state{rank: t.Rank, pid: t.PID, variant: int(t.Rank) % m.cfg.Variants}
	if s.pid == 0 {
		s.pid = PID(t.Rank)
	}
	return s
}

func (s *state) end() {
	s.status = statusEnded
	s.turn++
}

// check tells what stands against a command in the rank's state; s is nil for a
// rank that nobody has brought here.
func (s *state) check(need protocol.Need) *protocol.Fault {
	wrong := func(message, hint string) *protocol.Fault {
		return &protocol.Fault{Kind: protocol.FaultState, Message: message, Hint: hint}
	}
	switch {
	case need == protocol.NeedNothing && s != nil:
		return nil
	case s == nil:
		return wrong("has not been started", "launch or attach first")
	case s.status == statusEnded:
		return wrong("has ended", "")
	case need == protocol.NeedStopped && s.status == statusRunning:
		return wrong("is running", "interrupt it first")
	case need == protocol.NeedRunning && s.status == statusStopped:
		return wrong("is stopped", "")
	}
	return nil
}

// scope is where names are looked up in a frame of the rank.
func (m *machine) scope(s *state, level int) scope {
	return scope{rank: s.rank, size: m.cfg.Size, program: m.program, pos: s.pos, level: level, globals: m.cfg.Variables, seed: m.cfg.Seed}
}

// frame describes a level of the rank's stack.
func (m *machine) frame(s *state, level int) protocol.Frame {
	fn := m.program.stacks[s.pos][level]
	return protocol.Frame{
		Level: level, Func: fn.name(s.variant), Args: fn.args(),
		File: fn.file(), Line: m.program.lineAt(s.pos, level, s.variant),
	}
}

// sourceAt is the text of the line of a frame, "" where there is none.
func sourceAt(f protocol.Frame) string {
	lines := sourceLines()
	if f.File != sourceFile || f.Line >= len(lines) {
		return ""
	}
	return lines[f.Line]
}

// values gives variables of a frame as cells, each name after a prefix.
func (m *machine) values(s *state, level int, prefix string, names []string) []cell {
	var cells []cell
	scope := m.scope(s, level)
	for _, name := range names {
		v, _ := scope.lookup(name)
		cells = append(cells, cell{prefix + name, v.String()})
	}
	return cells
}

// args gives the arguments of a frame as cells.
func (m *machine) args(s *state, level int, prefix string) []cell {
	return m.values(s, level, prefix+"args.", m.program.stacks[s.pos][level].args())
}
