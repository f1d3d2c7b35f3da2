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
	p.printable(q, func(line string) {
		p.InConsole(q, line, func(text string) {
			p.Reply(q, TextBody{strings.TrimRight(strings.TrimSuffix(text, otherLanguage), "\n")})
		})
	}, word)
}

// otherLanguage follows what gdb prints in a language that is not the frame's.
const otherLanguage = "Warning: the current language does not match this frame.\n"

// printable calls then with a line that prints the type of the request's expression. In Fortran gdb 13 and 16 read a
// null pointer when they print a structure without a name through GDB/MI (f-typeprint.c, f_type_print_base). They
// make such a type, without a size, of the dummy argument character(len=*) :: s(:). It is printed as in C.
func (p *Printer) printable(q *request.Request, then func(line string), word string) {
	line := word + " " + q.Args.Expr
	p.inFortran(q, func(yes bool) {
		if !yes {
			then(line)
			return
		}
		p.Ask(q, func(a request.Answer) {
			if !a.Failed() && a.Results.Str("value") == "0" {
				line = "with language c -- " + word + " " + gdbtext.InC(q.Args.Expr)
			}
			then(line)
		}, "-data-evaluate-expression", append(p.At(q), gdbtext.Operand("sizeof("+strings.TrimLeft(q.Args.Expr, "& ")+")"))...)
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
