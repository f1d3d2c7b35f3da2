// What a print asks for: an expression, how it is to be written, and how much of it.

package debugger

import (
	"regexp"
	"strconv"
	"strings"

	"sdm/backend/gdb/gdbtext"
)

const (
	// mostShown bounds what is shown of a value, in bytes: 200 numbers with all their digits take 5,000.
	mostShown = 16 << 10
	// mostAsked bounds it where the person has said how many elements are wanted.
	mostAsked = 1 << 20
)

// most bounds what is shown of a value.
func (m *Machine) most(w gdbtext.Printing) int {
	if m.GDB.elements || strings.Contains(w.Options, "-e") { // -elements, however short
		return mostAsked
	}
	return mostShown
}

// tooLarge is how gdb refuses to fetch a value: "value requires 800000 bytes, which is more than
// max-value-size".
var tooLarge = regexp.MustCompile(`value requires [0-9]+ bytes, which is more than max-value-size`)

// askPrint asks for a value in the way that is wanted.
func (m *Machine) askPrint(q *Request, w gdbtext.Printing, expr string, then func(a answer, value string), more ...string) {
	switch {
	case !w.Plain() || len(more) > 0:
		m.askLine(q, w.Line(expr, more...), then)
	case gdbtext.HasSideEffects(expr, false):
		m.askTyped(q, expr, then)
	default:
		m.askBare(q, expr, func(a answer, value string) {
			if a.failed() || !q.typed(value) && !m.derived(q, value) {
				then(a, value)
				return
			}
			m.askTyped(q, expr, then)
		})
	}
}

// askBare asks for a value by GDB/MI, which leaves out the types of pointers and all of a reference but its address.
func (m *Machine) askBare(q *Request, expr string, then func(a answer, value string)) {
	s := m.selected(q) // not at, and no slice that is made for this: there may be thousands of ranks
	k := m.ask(q, func(a answer) { then(a, m.heard(a, a.Results.Str("value"))) }, "-data-evaluate-expression",
		"--thread", m.gdbThread(s.thread), "--frame", strconv.Itoa(s.frame), gdbtext.Operand(expr))
	k.print, k.apart = true, true
}

// askTyped asks for a value as gdb's print writes it: "(int &) @0x7ffe: 5", "(int *) 0x7ffe". What is for statistics gets
// what a reference refers to.
func (m *Machine) askTyped(q *Request, expr string, then func(a answer, value string)) {
	m.askLine(q, "output "+expr, func(a answer, value string) {
		if q.compares() {
			value = value[len(gdbtext.ReferenceHead(value)):]
		}
		then(a, value)
	})
}

// compares tells whether the values of a request are compared and not shown for themselves.
func (c *Command) compares() bool { return c.args.Compare }

// typed tells whether gdb's print writes more of a value than GDB/MI does: of a reference, and of a pointer unless
// this is a comparison; of a pointer GDB/MI writes nothing where addresses are not shown.
func (c *Command) typed(value string) bool {
	return strings.HasPrefix(value, "@0x") || (value == "" || strings.HasPrefix(value, "0x")) && !c.compares() && !gdbtext.IsText(value)
}

// derived tells whether gdb's print may write another object than GDB/MI does: the whole of which this is a base.
func (m *Machine) derived(q *Request, value string) bool {
	return m.GDB.objects && !q.compares() && strings.HasPrefix(value, "{")
}

// askLine is askPrint by a line of gdb's.
func (m *Machine) askLine(q *Request, line string, then func(a answer, value string)) {
	k := m.ask(q, func(a answer) { then(a, m.heard(a, gdbtext.WithoutHistory(a.text))) }, "-interpreter-exec", append(m.at(q), "console", line)...)
	k.print, k.apart = true, true
}

// fewElements is how many elements are shown of the arrays in a value of more than a mebibyte.
const fewElements = 20

// askLarge asks for a value that gdb does not fetch unless it is told to: up to a gibibyte.
func (m *Machine) askLarge(q *Request, w gdbtext.Printing, then func(a answer, value string)) {
	m.askLine(q, unbounded+w.Line(w.Expr, "-elements "+strconv.Itoa(fewElements)), then)
}
