// What a print asks for: an expression, how it is to be written, and how much of it.

package values

import (
	"strconv"
	"strings"

	"sdm/backend/gdb/gdbtext"
	"sdm/backend/gdb/request"
	"sdm/protocol/pattern"
	"sdm/protocol/sideeffect"
)

const (
	// MaxShown bounds what is shown of a value, in bytes: 200 numbers with all their digits take 5,000.
	MaxShown = 16 << 10
	// maxAsked bounds it where the user has set how many elements are shown.
	maxAsked = 1 << 20
)

// most bounds what is shown of a value.
func (p *Printer) most(w gdbtext.Printing) int {
	if p.Settings().Elements || strings.Contains(w.Options, "-e") { // -elements, however short
		return maxAsked
	}
	return MaxShown
}

// tooLarge is how gdb refuses to fetch a value: "value requires 800000 bytes, which is more than
// max-value-size".
var tooLarge = pattern.New(`value requires [0-9]+ bytes, which is more than max-value-size`)

// askPrint asks for a value: by GDB/MI if its answer is the same as gdb's print gives, otherwise by print.
func (p *Printer) askPrint(q *request.Request, w gdbtext.Printing, expr string,
	then func(a request.Answer, value string), more ...string) {
	switch {
	case !w.Plain() || len(more) > 0:
		p.askLine(q, w.Line(expr, more...), then)
	case sideeffect.Of(expr, false):
		p.askOutput(q, expr, then)
	default:
		p.askMI(q, expr, func(a request.Answer, value string) {
			if a.Failed() || !q.PrintsMore(value) && !p.derived(q, value) {
				then(a, value)
				return
			}
			p.askOutput(q, expr, then)
		})
	}
}

// askMI asks for a value by GDB/MI, which omits the types of pointers, and of a reference all but the address.
func (p *Printer) askMI(q *request.Request, expr string, then func(a request.Answer, value string)) {
	s := p.Selected(q) // At would allocate a slice, for each of possibly thousands of ranks
	k := p.Ask(q, func(a request.Answer) { then(a, p.withWarning(a, a.Results.Str("value"))) }, "-data-evaluate-expression",
		"--thread", p.GDBThread(s.Thread), "--frame", strconv.Itoa(s.Frame), gdbtext.Operand(expr))
	k.Print, k.SeparateWarnings = true, true
}

// askOutput asks for a value as gdb's print writes it: "(int &) @0x7ffe: 5", "(int *) 0x7ffe". If values are
// only compared, a reference is replaced by the value that it refers to.
func (p *Printer) askOutput(q *request.Request, expr string, then func(a request.Answer, value string)) {
	p.askLine(q, "output "+expr, func(a request.Answer, value string) {
		if q.Compares() {
			value = value[len(gdbtext.ReferenceHead(value)):]
		}
		then(a, value)
	})
}

// derived reports whether gdb's print may write another object than GDB/MI does: the complete object of
// which this is a base.
func (p *Printer) derived(q *request.Request, value string) bool {
	return p.Settings().Objects && !q.Compares() && strings.HasPrefix(value, "{")
}

// askLine asks for a value by a line of gdb's command line.
func (p *Printer) askLine(q *request.Request, line string, then func(a request.Answer, value string)) {
	k := p.Ask(q, func(a request.Answer) { then(a, p.withWarning(a, gdbtext.WithoutHistory(a.Text))) }, "-interpreter-exec",
		append(p.At(q), "console", line)...)
	k.Print, k.SeparateWarnings = true, true
}

// fewElements is how many elements are shown of each array in a value of more than a mebibyte.
const fewElements = 20

// askLarge asks for a value of more than MaxFetched bytes, up to a gibibyte.
func (p *Printer) askLarge(q *request.Request, w gdbtext.Printing, then func(a request.Answer, value string)) {
	p.askLine(q, unbounded+w.Line(w.Expr, "-elements "+strconv.Itoa(fewElements)), then)
}
