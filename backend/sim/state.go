// One simulated rank.

package sim

import (
	"time"

	"sdm/backend"
	"sdm/protocol"
	"sdm/protocol/rank"
)

// state is one rank. It is small, because there may be millions.
type state struct {
	rank    rank.ID
	pid     int
	pos     int // position in the program; while running: where it was resumed
	level   int // the selected frame
	variant int
	now     backend.State
	crashed bool // it has stopped with SIGSEGV
	breaks  []rankBreak
	goal    *goal // of the current run; shared
	turn    int   // number of runs; see arrival
	seen    int   // turn + 1 when stacks with progress were asked for last; 0: never
	last    time.Duration
	printed *answer // the last value that was printed; nil: none yet
}

// newState makes s the state of a new rank.
func (m *machine) newState(s *state, t backend.Target) *state {
	*s = state{rank: t.Rank, now: backend.Stopped, pid: t.PID, variant: int(t.Rank) % m.cfg.Variants}
	if s.pid == 0 {
		s.pid = PID(t.Rank)
	}
	return s
}

// end ends the rank; event says how.
func (s *state) end(event protocol.Kind) {
	s.now, _ = s.now.After(event)
	s.turn++
}

// check returns the fault that refuses a command in the rank's state, nil if there is none. s is
// nil for a rank that was not attached.
func (s *state) check(need protocol.Need) *protocol.Fault {
	if s == nil {
		return backend.NotStarted()
	}
	return s.now.Refuse(need)
}

// scope returns the scope of a frame of the rank.
func (m *machine) scope(s *state, level int) scope {
	return scope{rank: s.rank, size: m.cfg.Size, program: m.program, pos: s.pos, level: level, globals: m.cfg.Variables,
		seed: m.cfg.Seed}
}

// frame describes a frame of the rank.
func (m *machine) frame(s *state, level int) protocol.Frame {
	fn := m.program.stacks[s.pos][level]
	return protocol.Frame{
		Level: level, Func: fn.name(s.variant), Args: fn.args(),
		File: fn.file(), Line: m.program.lineAt(s.pos, level, s.variant),
	}
}

// sourceAt returns the text of the line of a frame, "" if there is none.
func sourceAt(f protocol.Frame) string {
	lines := sourceLines()
	if f.File != sourceFile || f.Line >= len(lines) {
		return ""
	}
	return lines[f.Line]
}

// values returns variables of a frame as cells, with a prefix before each name.
func (m *machine) values(s *state, level int, prefix string, names []string) []cell {
	var cells []cell
	scope := m.scope(s, level)
	for _, name := range names {
		v, _ := scope.lookup(name)
		cells = append(cells, cell{prefix + name, v.String()})
	}
	return cells
}

// args returns the arguments of a frame as cells.
func (m *machine) args(s *state, level int, prefix string) []cell {
	return m.values(s, level, prefix+"args.", m.program.stacks[s.pos][level].args())
}

// level returns the frame that a command refers to.
func (m *machine) level(s *state, a *protocol.Args) (int, *protocol.Fault) {
	if a.Thread > 1 {
		return 0, gdbSays("Unknown thread %d.", a.Thread)
	}
	if a.Frame == nil {
		return s.level, nil
	}
	if n := *a.Frame; n >= 0 && n < m.program.depth(s.pos) {
		return n, nil
	}
	return 0, gdbSays("No frame at level %d.", *a.Frame)
}
