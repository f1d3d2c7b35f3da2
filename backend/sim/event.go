// Events of ranks.

package sim

import (
	"strconv"

	"sdm/protocol"
)

// stopped returns the event of a rank that has stopped at its position.
func (m *machine) stopped(s *state, stop protocol.Stop) answer {
	k := bodyKey{what: stop.Reason, pos: s.pos, variant: s.variant, n: stop.Breakpoint, flag: stop.Temporary}
	body := m.body(k, func() any {
		f := m.frame(s, 0)
		stop.Frame, stop.Source = &f, sourceAt(f)
		return stop
	})
	cells := append(m.args(s, 0, ""), cell{"thread", "1"})
	if stop.Returned {
		cells = append(cells, cell{"value", m.returned(s)})
	}
	return answer{kind: protocol.KindStopped, body: body, cells: sorted(cells)}
}

// returned returns the value of the function that has just returned.
func (m *machine) returned(s *state) string {
	n := int(s.rank)
	if m.program.points[s.pos].fn == fnMain {
		return strconv.Itoa(2*n + 1) // compute
	}
	return strconv.Itoa(2 * n) // helper, phase_K
}

func (m *machine) exited(exit protocol.Exit) answer {
	kind := protocol.KindExited
	if exit.Signal != "" {
		kind = protocol.KindSignalled
	}
	return answer{kind: kind, body: m.body(bodyKey{what: "exit", text: exit.Signal + "\x00" + exit.Meaning, n: exit.Code},
		func() any { return exit })}
}

func (m *machine) note(text string) answer {
	return answer{kind: protocol.KindNote, body: m.body(bodyKey{what: "note", text: text},
		func() any { return protocol.Note{Text: text} })}
}
