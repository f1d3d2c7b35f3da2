// The command list: source text of the program.

package sim

import (
	"fmt"
	"strconv"
	"strings"

	"sdm/protocol"
)

// listed is how many lines list shows.
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
	lines := sourceLines()
	last := len(lines) - 1
	n := listed
	if a.Count > 0 {
		n = a.Count
	}
	from := max(here.Line-n/2, 1)
	to := from + n - 1
	if a.First > 0 {
		from, to = a.First, a.First+n-1
	}
	if a.Last > 0 {
		to = a.Last
	}
	if a.Location != "" || a.To != "" {
		var bad *protocol.Fault
		if from, to, bad = m.program.between(a.Location, a.To, m.cfg.Variants, n); bad != nil {
			return answer{}, bad
		}
	}
	to = min(to, last)
	if from > last {
		return answer{}, gdbSays("Line number %d out of range; %s has %d lines.", from, sourceFile, last)
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

// between returns the lines from one location to another. A location may be an offset ("+9", "-9";
// without a number, of one page). Without a second location the lines are those around the first.
func (p *program) between(from, to string, variants, page int) (first, last int, bad *protocol.Fault) {
	if first, bad = p.lineOf(from, variants, page); bad != nil {
		return 0, 0, bad
	}
	if last, bad = p.lineOf(to, variants, page); bad != nil {
		return 0, 0, bad
	}
	switch {
	case to == "":
		first = max(first-page/2, 1)
		return first, first + page - 1, nil
	case to[0] == '+':
		last += first
	case from[0] == '-':
		first = max(last-first, 1)
	}
	if last < first {
		return 0, 0, &protocol.Fault{Kind: protocol.FaultUsage, Message: fmt.Sprintf("The last line, %d, is before the first, %d.", last, first)}
	}
	return first, last, nil
}

func (p *program) lineOf(location string, variants, page int) (int, *protocol.Fault) {
	if location == "" {
		return 0, nil
	}
	if rest := location[1:]; location[0] == '+' || location[0] == '-' {
		if n, err := strconv.Atoi(rest); err == nil {
			return n, nil
		}
		return page - 1, nil
	}
	if n, err := strconv.Atoi(strings.TrimPrefix(location, sourceFile+":")); err == nil {
		return n, nil
	}
	pos, _, ok := p.find(location, variants)
	if !ok {
		return 0, gdbSays("Function \"%s\" not defined.", location)
	}
	return p.points[pos].line, nil
}
