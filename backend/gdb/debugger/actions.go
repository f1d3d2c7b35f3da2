// Breakpoints with actions: logs, and those with commands.

package debugger

import (
	"strconv"
	"strings"

	"sdm/backend/gdb/gdbtext"
	"sdm/backend/gdb/request"
	"sdm/backend/gdb/values"
	"sdm/backend/mi"
	"sdm/protocol"
	"sdm/protocol/pattern"
)

// actions executes what is to be done at a breakpoint.
type actions struct {
	*core
}

// resumes reports whether a thread that stopped at the breakpoint resumes after its
// actions.
func (p *point) resumes() bool {
	return p != nil && (p.exprs != nil || len(p.lines) > 0 && len(p.then()) == 0 && isContinue(p.lines[len(p.lines)-1]))
}

// then returns the lines that the front end executes.
func (p *point) then() []string { return p.lines[protocol.FrontEndLine(p.lines):] }

// actionOutput is the output of a breakpoint: lines, and their texts.
type actionOutput struct{ lines, texts []string }

// passBy executes what is to be done where a thread has come to a log, to commands that end in continue, or to a
// breakpoint at the same place as one of these, and calls then with the stop at which the thread stays; nil: it goes on.
// Other threads run on meanwhile.
func (ac *actions) passBy(t *values.Thread, p *point, then func(stays mi.Tuple)) {
	var passed []*point
	for _, w := range ac.points.reached(t.Stop) {
		if w != p && w.resumes() {
			passed = append(passed, w)
		}
	}
	stays := ac.points.staysFor(t.Stop)
	if len(ac.points.atSamePlace(p)) == 0 {
		ac.passAll(t, append(passed, p), func() { then(stays) })
		return
	}
	ac.hitPoints(t, p, func(those []*point, at *point) {
		if at != nil {
			stays = at.stopOf(t.Stop)
		}
		ac.passAll(t, append(passed, those...), func() { then(stays) })
	})
}

// passAll executes the actions of breakpoints one after another.
func (ac *actions) passAll(t *values.Thread, passed []*point, then func()) {
	if len(passed) == 0 {
		then()
		return
	}
	ac.runActions(passed[0], t, func(s actionOutput) {
		ac.logged(passed[0], t, s)
		ac.passAll(t, passed[1:], then)
	})
}

// logged reports the output of a breakpoint while the rank runs on.
func (ac *actions) logged(p *point, t *values.Thread, s actionOutput) {
	body := protocol.Logged{Breakpoint: p.number}
	if f, ok := values.FrameIn(t.Stop); ok {
		f.Args, f.Level = nil, 0
		body.Frame = &f.Frame
	}
	c := values.ColumnsOf(ac.Target.Rank, 0)
	if p.exprs != nil {
		body.Exprs = p.exprs
		for i, text := range s.texts {
			c.Add("value."+strconv.Itoa(i), text)
		}
	} else {
		body.Commands, body.Silent = s.lines, p.silent()
		outputs(c, s)
		if body.Silent && len(s.lines) == 0 {
			return
		}
	}
	ac.Event(protocol.KindLogged, body, c.Sorted()...)
}

func outputs(c *values.Columns, s actionOutput) {
	for i, text := range s.texts {
		c.Add("output."+strconv.Itoa(i), text)
	}
}

func (p *point) silent() bool { return len(p.lines) > 0 && p.lines[0] == "silent" }

// runActions evaluates the expressions of a log, or executes commands, in the innermost
// frame of a stopped thread.
func (ac *actions) runActions(p *point, t *values.Thread, then func(actionOutput)) {
	var s actionOutput
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
	q := request.InternalIn("commands", t.ID)
	texts := make([]string, len(lines))
	left := len(lines)
	for i, line := range lines {
		told := func(a request.Answer, text string) {
			texts[i] = strings.TrimRight(gdbtext.TruncateText(text, values.MaxShown), "\n")
			if a.Failed() {
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
			ac.values.Displays.AskValue(q, format, expr, told)
			continue
		}
		k := ac.ask(q, func(a request.Answer) { told(a, a.Text) }, "-interpreter-exec", append(ac.At(q), "console", withoutInput(line))...)
		k.Print = true
	}
}

// printLine matches a print: format and expression. It is evaluated by GDB/MI, because
// the "$1 =" of gdb's command line differs between ranks.
var printLine = pattern.New(`^(?:print|p|inspect)(?:/(\S+))?(\s.*|[(*&].*)$`)

func printedBy(line string) (format, expr string, ok bool) {
	found := printLine.FindStringSubmatch(line)
	if found == nil || strings.Contains(line, " -- ") || !gdbtext.IsFormat(found[1]) {
		return "", "", false
	}
	return found[1], strings.TrimSpace(found[2]), true
}
