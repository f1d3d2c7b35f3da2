// Commands about types, and those that change values.

package values

import (
	"strings"

	"sdm/backend/gdb/gdbtext"
	"sdm/backend/gdb/request"
)

// describe executes ptype and whatis. They work while the rank runs, without a frame.
func (p *Printer) describe(q *request.Request) {
	if q.Args.Expr == "" {
		p.Fail(q, NoExpression())
		return
	}
	word := q.Name
	if q.Args.Format != "" {
		word += "/" + q.Args.Format
	}
	p.InConsole(q, word+" "+q.Args.Expr, func(text string) {
		p.Reply(q, TextBody{strings.TrimRight(text, "\n")})
	})
}

// assign evaluates an expression and answers with an empty object.
func (p *Printer) assign(q *request.Request) {
	p.Ask(q, p.ThenDone(q), "-data-evaluate-expression", append(p.At(q), gdbtext.Operand(q.Args.Expr))...)
}

// callFunction executes call: print, except for functions without a value.
func (p *Printer) callFunction(q *request.Request) {
	p.askLine(q, "call "+q.Args.Expr, func(a request.Answer, value string) {
		if !a.Failed() && value == "" {
			p.Reply(q, Printed{Expr: q.Args.Expr})
			return
		}
		p.evaluated(q, a, value)
	})
}

// InConsole executes a line of gdb's command line, for the selected frame if the rank
// is stopped, and passes on the output.
func (p *Printer) InConsole(q *request.Request, line string, then func(text string)) {
	k := p.Ask(q, func(a request.Answer) {
		if a.Failed() {
			p.Refused(q, a)
			return
		}
		then(a.Text)
	}, "-interpreter-exec", append(p.Where(q), "console", line)...)
	k.Print = true
}

// TextBody is the body of gdb and mi.
type TextBody struct {
	Text string `json:"text"`
}
