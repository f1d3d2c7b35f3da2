// Runs of ranks: where they stop, and what they report.

package sim

import (
	"strconv"
	"strings"
	"time"

	"sdm/backend"
	"sdm/protocol"
)

type goalKind uint8

const (
	goContinue goalKind = iota
	goStart             // to the first stop of a started rank
	goStep
	goNext
	goFinish // until the frame has returned
	goUntil  // to a location, or to the return of the frame
)

// goal is where a run ends, unless something else stops it before.
type goal struct {
	kind    goalKind
	pos     int // for goStart and goUntil
	variant int // for goStart and goUntil; -1: any
	depth   int // number of frames at the start, from the selected one outwards
	count   int // how often goStep and goNext are repeated; 0 is 1
}

// reached reports whether the rank has reached the goal.
func (g *goal) reached(m *machine, s *state) bool {
	depth := m.program.depth(s.pos)
	here := g.pos == s.pos && (g.variant < 0 || g.variant == s.variant)
	midLine := m.program.points[s.pos].back // steps end at the beginning of a line
	switch g.kind {
	case goStart:
		return here
	case goStep:
		return !midLine
	case goNext:
		return depth <= g.depth && !midLine
	case goFinish:
		return depth < g.depth
	case goUntil:
		return here && depth == g.depth || depth < g.depth // in no inner frame, as in gdb
	}
	return false
}

// reason returns GDB's reason for a stop at the goal.
func (g *goal) reason() string {
	switch g.kind {
	case goStart:
		return "breakpoint-hit"
	case goFinish:
		return "function-finished"
	case goUntil:
		return "location-reached"
	}
	return "end-stepping-range"
}

// resumeRank resumes a rank. Its running event precedes the answer to the command that resumes it.
func (m *machine) resumeRank(s *state, running *batch) {
	s.now = backend.Running
	s.turn++
	running.add(s, 0, m.plain(protocol.KindRunning))
}

// advanceFurther runs ranks that have resumed to their goals.
func (m *machine) advanceFurther(now time.Duration, ranks []*state) {
	var there []arrival
	for _, s := range ranks {
		a := arrival{s, s.turn}
		due := max(now+m.runTime(s), s.last)
		switch {
		case s.goal.kind == goContinue && m.cfg.Loop.Contains(s.rank) && s.pos > 0:
		case due <= now:
			there = append(there, a)
		default:
			entry := m.agenda.entry(due)
			entry.arrivals = append(entry.arrivals, a)
		}
	}
	m.arrive(now, there)
}

// arrive ends runs.
func (m *machine) arrive(now time.Duration, list []arrival) {
	output := m.batch(now, 0, false, 0)
	ends := m.batch(now, 0, false, 0)
	for _, a := range list {
		s := a.state
		if s.now != backend.Running || s.turn != a.turn {
			continue
		}
		end, wrote := m.advance(s)
		if wrote {
			text := strings.ReplaceAll(m.cfg.Output, "%r", strconv.Itoa(int(s.rank)))
			output.add(s, 0, answer{kind: protocol.KindStdout, body: []byte(text)})
		}
		ends.add(s, 0, end)
	}
	output.send()
	ends.send()
}

// advance moves a rank to the point where it stops or ends. wrote reports whether it has passed the
// line with output.
func (m *machine) advance(s *state) (end answer, wrote bool) {
	if s.crashed {
		s.end(protocol.KindSignalled)
		return m.exited(protocol.Exit{Signal: "SIGSEGV", Meaning: "Segmentation fault"}), false
	}
	s.now, s.level = backend.Stopped, 0
	g := *s.goal // a copy, which changes on the way
	for {
		wrote = wrote || m.cfg.Output != "" && m.program.points[s.pos].line == lineOfOutput
		s.pos++
		if s.pos == m.program.end() {
			e := m.exited(m.cfg.exit(s.rank))
			s.end(e.kind)
			return e, wrote
		}
		if m.crashes(s) {
			s.crashed = true
			return m.stopped(s, protocol.Stop{Reason: "signal-received", Signal: "SIGSEGV", Meaning: "Segmentation fault"}), wrote
		}
		if stop, hit := m.hit(s); hit {
			return stop, wrote
		}
		if !g.reached(m, s) {
			continue
		}
		if g.count > 1 {
			g.count--
			g.depth = m.program.depth(s.pos)
			continue
		}
		stop := protocol.Stop{Reason: g.reason(), Temporary: g.kind == goStart, Returned: g.kind == goFinish}
		return m.stopped(s, stop), wrote
	}
}

func (m *machine) crashes(s *state) bool {
	p := m.program.points[s.pos]
	return p.line == m.cfg.CrashLine && !p.back && m.cfg.Crash.Contains(s.rank)
}
