// Commands about types, and those that change values.

package debugger

import (
	"strings"

	"sdm/backend/gdb/gdbtext"
	"sdm/protocol"
)

// describe executes ptype and whatis. They work while the rank runs, without a frame.
func (m *Machine) describe(q *Request) {
	if q.args.Expr == "" {
		m.fail(q, noExpression())
		return
	}
	word := q.Name
	if q.args.Format != "" {
		word += "/" + q.args.Format
	}
	m.inConsole(q, word+" "+q.args.Expr, func(text string) {
		m.reply(q, textBody{strings.TrimRight(text, "\n")})
	})
}

func noExpression() *protocol.Fault {
	return &protocol.Fault{Kind: protocol.FaultUsage, Message: "no expression is given"}
}

// assign evaluates an expression and answers with an empty object.
func (m *Machine) assign(q *Request) {
	m.ask(q, m.thenDone(q), "-data-evaluate-expression", append(m.at(q), gdbtext.Operand(q.args.Expr))...)
}

// callFunction executes call: print, except for functions without a value.
func (m *Machine) callFunction(q *Request) {
	m.askLine(q, "call "+q.args.Expr, func(a answer, value string) {
		if !a.failed() && value == "" {
			m.reply(q, printed{Expr: q.args.Expr})
			return
		}
		m.evaluated(q, a, value)
	})
}

// inConsole executes a line of gdb's command line, for the selected frame if the rank
// is stopped, and passes on the output.
func (m *Machine) inConsole(q *Request, line string, then func(text string)) {
	k := m.ask(q, func(a answer) {
		if a.failed() {
			m.refused(q, a)
			return
		}
		then(a.text)
	}, "-interpreter-exec", append(m.where(q), "console", line)...)
	k.print = true
}
