// Breakpoints with actions: logs, and those with commands.

package debugger

import (
	"regexp"
	"strconv"
	"strings"

	"sdm/backend/gdb/gdbtext"
	"sdm/backend/mi"
	"sdm/protocol"
)

// goesOn reports whether a thread that stopped at the breakpoint resumes after its
// actions.
func (p *point) goesOn() bool {
	return p != nil && (p.exprs != nil || len(p.lines) > 0 && len(p.then()) == 0 && isContinue(p.lines[len(p.lines)-1]))
}

// then returns the lines that the front end executes.
func (p *point) then() []string { return p.lines[protocol.FrontEndLine(p.lines):] }

// spoken is the output of a breakpoint: lines, and their texts.
type spoken struct{ lines, texts []string }

// passBy handles a thread that has come to a log, to commands that end in continue, or
// to a breakpoint at the same place as one of these. Other threads run on meanwhile.
// The thread stays stopped if the rank is being stopped, or if the thread steps: gdb
// has forgotten where the step was to end.
func (m *Machine) passBy(r *run, t *thread, p *point) {
	r.owed++ // nothing is decided before the thread resumes
	var passed []*point
	for _, w := range m.points.reached(t.stop) {
		if w != p && w.goesOn() {
			passed = append(passed, w)
		}
	}
	stays := m.points.staysFor(t.stop)
	if len(m.points.beside(p)) == 0 {
		m.passAll(r, t, append(passed, p), stays)
		return
	}
	m.hitTogether(t, p, func(those []*point, at *point) {
		if at != nil {
			stays = at.stopOf(t.stop)
		}
		m.passAll(r, t, append(passed, those...), stays)
	})
}

// passAll executes the actions of breakpoints one after another and then resumes the
// thread, unless stays is a stop at which it remains.
func (m *Machine) passAll(r *run, t *thread, passed []*point, stays mi.Tuple) {
	if len(passed) > 0 {
		m.speakAt(passed[0], t, func(s spoken) {
			m.logged(passed[0], t, s)
			m.passAll(r, t, passed[1:], stays)
		})
		return
	}
	r.owed--
	switch {
	case m.run != r || m.State.IsOver():
	case stays != nil:
		t.stop = stays
		m.countDown(t.stop)
		r.stoppedBy(t)
	case r.interrupted:
		r.stoppedBy(t)
		t.stop = withoutReason(t.stop)
	case t.id == r.thread:
		r.stoppedBy(t)
	default:
		m.continueThread(r, t.id)
	}
}

// stoppedBy records that a thread has stopped.
func (r *run) stoppedBy(t *thread) {
	if r.stopped == 0 {
		r.stopped = t.id
	}
}

// withoutReason returns a stop that counts as commanded: its breakpoint has been
// reported.
func withoutReason(stop mi.Tuple) mi.Tuple {
	var rest mi.Tuple
	for _, f := range stop {
		if f.Name != "reason" && f.Name != "bkptno" && f.Name != "disp" {
			rest = append(rest, f)
		}
	}
	return rest
}

// withReason returns a stop with another reason.
func withReason(stop mi.Tuple, reason string) mi.Tuple {
	return append(mi.Tuple{{Name: "reason", Value: mi.Value{Str: reason}}}, withoutReason(stop)...)
}

// stepped returns a stop as the end of a step.
func stepped(stop mi.Tuple) mi.Tuple { return withReason(stop, "end-stepping-range") }

// logged reports the output of a breakpoint while the rank runs on.
func (m *Machine) logged(p *point, t *thread, s spoken) {
	body := protocol.Logged{Breakpoint: p.number}
	if f, ok := frameIn(t.stop); ok {
		f.Args, f.Level = nil, 0
		body.Frame = &f.Frame
	}
	c := columnsOf(m.Target.Rank, 0)
	if p.exprs != nil {
		body.Exprs = p.exprs
		for i, text := range s.texts {
			c.add("value."+strconv.Itoa(i), text)
		}
	} else {
		body.Commands, body.Silent = s.lines, p.silent()
		c.outputs(s)
		if body.Silent && len(s.lines) == 0 {
			return
		}
	}
	m.Event(protocol.KindLogged, body, c.sorted()...)
}

func (c *columns) outputs(s spoken) {
	for i, text := range s.texts {
		c.add("output."+strconv.Itoa(i), text)
	}
}

func (p *point) silent() bool { return len(p.lines) > 0 && p.lines[0] == "silent" }

// speakAt evaluates the expressions of a log, or executes commands, in the innermost
// frame of a stopped thread.
func (m *Machine) speakAt(p *point, t *thread, then func(spoken)) {
	var s spoken
	lines := p.exprs
	if p.exprs == nil {
		for _, line := range p.lines[:protocol.FrontEndLine(p.lines)] {
			if line != "silent" && !isContinue(line) {
				lines = append(lines[:len(lines):len(lines)], line)
			}
		}
	}
	if len(lines) == 0 {
		then(s)
		return
	}
	q := oursIn("commands", t)
	texts := make([]string, len(lines))
	left := len(lines)
	for i, line := range lines {
		told := func(a answer, text string) {
			texts[i] = strings.TrimRight(gdbtext.TruncateText(text, mostShown), "\n")
			if a.failed() {
				texts[i] = "<error: " + a.Results.Str("msg") + ">"
			}
			if left--; left > 0 {
				return
			}
			for k, text := range texts {
				if p.exprs != nil || text != "" {
					s.lines, s.texts = append(s.lines, lines[k]), append(s.texts, text)
				}
			}
			then(s)
		}
		if format, expr, ok := printedBy(line); ok || p.exprs != nil {
			if p.exprs != nil {
				format, expr = "", line
			}
			m.askValue(q, format, expr, told)
			continue
		}
		k := m.ask(q, func(a answer) { told(a, a.text) }, "-interpreter-exec", append(m.at(q), "console", withoutInput(line))...)
		k.print = true
	}
}

// printLine matches a print: format and expression. It is evaluated by GDB/MI, because
// the "$1 =" of gdb's command line differs between ranks.
var printLine = regexp.MustCompile(`^(?:print|p|inspect)(?:/(\S+))?(\s.*|[(*&].*)$`)

func printedBy(line string) (format, expr string, ok bool) {
	found := printLine.FindStringSubmatch(line)
	if found == nil || strings.Contains(line, " -- ") || !gdbtext.IsFormat(found[1]) {
		return "", "", false
	}
	return found[1], strings.TrimSpace(found[2]), true
}

// setLog executes log: a breakpoint that reports values and resumes the thread.
func (m *Machine) setLog(q *Request) {
	if len(q.args.Exprs) == 0 {
		m.fail(q, noExpression())
		return
	}
	m.insertBreakpoint(q)
}

// runToBarrier executes barrier: a breakpoint that each rank reaches once, and a
// resume.
func (m *Machine) runToBarrier(q *Request) {
	if q.args.Location == "" {
		m.fail(q, &protocol.Fault{Kind: protocol.FaultUsage, Message: "no location is given", Hint: "FILE:LINE, FUNCTION or *ADDRESS"})
		return
	}
	q.apart()
	q.args.Temporary = true
	m.insertBreakpoint(q)
}
