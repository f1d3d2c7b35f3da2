// The source text of the program.

package sim

import "sdm/protocol"

// listed is how many lines `list` shows.
const listed = 10

// line is one line of a listing.
type line struct {
	N    int    `json:"n"`
	Text string `json:"text"`
}

func (m *machine) list(s *state, a *protocol.Args) (answer, *protocol.Fault) {
	here := m.frame(s, s.level)
	if here.File == phaseFile && a.Location == "" && a.First == 0 {
		return answer{}, gdbSays("%d\tin %s", here.Line, phaseFile)
	}
	center := here.Line
	if a.Location != "" {
		pos, _, ok := m.program.find(a.Location, m.cfg.Variants)
		if !ok {
			return answer{}, gdbSays("Function \"%s\" not defined.", a.Location)
		}
		center = m.program.points[pos].line
	}
	lines := sourceLines()
	last := len(lines) - 1
	from := max(center-listed/2, 1)
	to := min(from+listed-1, last)
	if a.First > 0 {
		from, to = a.First, min(a.First+listed-1, last)
	}
	if a.Last > 0 {
		to = min(a.Last, last)
	}
	if from > last {
		return answer{}, gdbSays("Line number %d out of range; \"%s\" has fewer lines.", from, sourceFile)
	}
	current := 0
	if here.File == sourceFile && from <= here.Line && here.Line <= to {
		current = here.Line
	}
	body := m.body(bodyKey{what: "list", pos: from, level: to, n: current}, func() any {
		out := []line{}
		for n := from; n <= to; n++ {
			out = append(out, line{n, lines[n]})
		}
		return struct {
			File    string `json:"file"`
			Lines   []line `json:"lines"`
			Current int    `json:"current,omitempty"`
		}{sourceFile, out, current}
	})
	return answer{kind: protocol.KindResult, body: body}, nil
}
