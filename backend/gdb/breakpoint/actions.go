// Breakpoints with actions: logs, and those with commands.

package breakpoint

import (
	"strconv"
	"strings"

	"sdm/backend/gdb/gdbtext"
	"sdm/backend/gdb/request"
	"sdm/backend/gdb/values"
	"sdm/backend/mi"
	"sdm/protocol"
	"sdm/protocol/pattern"
	"sdm/protocol/sideeffect"
)

// Output is the output of breakpoints: lines, and their texts.
type Output struct{ Lines, Texts []string }

// PassBy executes what is to be done where a thread has come to a log, to commands that end in continue, or to a
// breakpoint at the same place as one of these. It calls then with the stop at which the thread stays; nil: it goes on.
// Other threads run on meanwhile.
func (bc *Commands) PassBy(t *values.Thread, p *Point, then func(stays mi.Tuple)) {
	var passed []*Point
	for _, w := range bc.points.Reached(t.Stop) {
		if w != p && w.Resumes() {
			passed = append(passed, w)
		}
	}
	stays := bc.points.staysFor(t.Stop)
	if len(bc.points.atSamePlace(p)) == 0 {
		bc.passAll(t, append(passed, p), func() { then(stays) })
		return
	}
	bc.hitPoints(t, p, func(those []*Point, at *Point) {
		if at != nil {
			stays = at.stopOf(t.Stop)
		}
		bc.passAll(t, append(passed, those...), func() { then(stays) })
	})
}

// passAll executes the actions of breakpoints one after another.
func (bc *Commands) passAll(t *values.Thread, passed []*Point, then func()) {
	if len(passed) == 0 {
		then()
		return
	}
	bc.RunActions(passed[0], t, func(s Output) {
		bc.logged(passed[0], t, s)
		bc.passAll(t, passed[1:], then)
	})
}

// logged reports the output of a breakpoint while the rank runs on.
func (bc *Commands) logged(p *Point, t *values.Thread, s Output) {
	body := protocol.Logged{Breakpoint: p.Number}
	if f, ok := values.FrameIn(t.Stop); ok {
		f.Args, f.Level = nil, 0
		body.Frame = &f.Frame
	}
	c := values.ColumnsOf(bc.Process().Rank, 0)
	if p.exprs != nil {
		body.Exprs = p.exprs
		for i, text := range s.Texts {
			c.Add("value."+strconv.Itoa(i), text)
		}
	} else {
		body.Commands, body.Silent = s.Lines, p.IsSilent()
		s.AddTo(c)
		if body.Silent && len(s.Lines) == 0 {
			return
		}
	}
	bc.Event(protocol.KindLogged, body, c.Sorted()...)
}

// AddTo adds the texts to the columns of an answer.
func (s Output) AddTo(c *values.Columns) {
	for i, text := range s.Texts {
		c.Add("output."+strconv.Itoa(i), text)
	}
}

// RunActions evaluates the expressions of a log, or executes commands, in the innermost
// frame of a stopped thread.
func (bc *Commands) RunActions(p *Point, t *values.Thread, then func(Output)) {
	var s Output
	lines := p.exprs
	if p.exprs == nil {
		for _, line := range p.Lines[:protocol.FrontEndLine(p.Lines)] {
			if line != "silent" && !isContinue(line) {
				lines = append(lines[:len(lines):len(lines)], line)
			}
		}
	}
	if p.asserted != "" {
		lines = append(assertedLines(p.asserted, t), lines...)
	}
	if len(lines) == 0 {
		then(s)
		return
	}
	q := request.InternalIn("commands", t.ID)
	denied := ""
	if p.asserted != "" {
		denied = lines[0]
	}
	texts := make([]string, len(lines))
	left := len(lines)
	for i, line := range lines {
		told := func(a request.Answer, text string) {
			texts[i] = strings.TrimRight(gdbtext.TruncateText(text, values.MaxShown), "\n")
			switch {
			case line == denied:
				texts[i] = values.OutcomeOf(a, text)
			case a.Failed() && denied != "" && strings.HasPrefix(line, "print "):
				texts[i] = "" // the outcome tells why
			case a.Failed():
				texts[i] = "<error: " + a.Results.Str("msg") + ">"
			}
			if left--; left > 0 {
				return
			}
			for k, text := range texts {
				if p.exprs != nil || text != "" {
					s.Lines, s.Texts = append(s.Lines, lines[k]), append(s.Texts, text)
				}
			}
			then(s)
		}
		if line == denied {
			bc.values.Displays.AskValue(q, "", protocol.Denied(p.asserted), told)
			continue
		}
		if format, expr, ok := printedBy(line); ok || p.exprs != nil {
			if p.exprs != nil {
				format, expr = "", line
			}
			bc.values.Displays.AskValue(q, format, expr, told)
			continue
		}
		k := bc.Ask(q, func(a request.Answer) { told(a, a.Text) }, "-interpreter-exec", append(bc.At(q), "console", gdbtext.WithoutInput(line))...)
		k.Print = true
	}
}

// assertedLines are the lines that judge an assertion and show what it compares.
func assertedLines(expr string, t *values.Thread) []string {
	lines := []string{protocol.AssertLine + expr}
	f, _ := values.FrameIn(t.Stop)
	for _, part := range protocol.Operands(expr) {
		if !sideeffect.Of(part, gdbtext.IsFortran(f.File)) {
			lines = append(lines, "print "+part)
		}
	}
	return lines
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
