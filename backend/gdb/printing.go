// What a print asks for: an expression, how it is to be written, and how much of it.

package gdb

import (
	"regexp"
	"strconv"
	"strings"

	"sdm/protocol"
)

// printing is what a print asks for.
type printing struct {
	options string // of gdb's print, such as "-pretty"
	format  string // letters behind a slash
	expr    string
}

var formatOf = regexp.MustCompile(`^/(\w+)\s+`)

// printingOf parts "-pretty -- /x n", where a format may also stand beside the expression.
func printingOf(a protocol.Args) printing {
	w := printing{format: a.Format, expr: strings.TrimSpace(a.Expr)}
	if options, rest, ok := strings.Cut(w.expr, " -- "); ok && strings.HasPrefix(options, "-") {
		w.options, w.expr = options, strings.TrimSpace(rest)
	}
	if found := formatOf.FindStringSubmatch(w.expr); found != nil {
		if w.format == "" {
			w.format = found[1]
		}
		w.expr = w.expr[len(found[0]):]
	}
	return w
}

// plain tells that gdb need not be asked by its command line, which alone knows formats and options.
func (w printing) plain() bool { return w.options == "" && w.format == "" }

// line is the command that prints an expression in this way; more options come behind those of the person, and
// win.
func (w printing) line(expr string, more ...string) string {
	line := "print"
	for _, o := range append([]string{w.options}, more...) {
		if o != "" {
			line += " " + o
		}
	}
	if len(line) > len("print") {
		line += " --"
	}
	if w.format != "" {
		line += " /" + w.format
	}
	return line + " " + expr
}

// inFull are options for a page: not the elements, but what is shown of them is counted by ourselves.
func (w printing) inFull() []string {
	if w.options == "" {
		return nil
	}
	return []string{"-elements " + strconv.Itoa(pageSize)}
}

const (
	// mostShown bounds what is shown of a value, in bytes: 200 numbers with all their digits take 5,000.
	mostShown = 16 << 10
	// mostAsked bounds it where the person has said how many elements are wanted.
	mostAsked = 1 << 20
)

// most bounds what is shown of a value.
func (m *machine) most(w printing) int {
	if m.gdb.elements || strings.Contains(w.options, "-e") { // -elements, however short
		return mostAsked
	}
	return mostShown
}

var (
	called     = regexp.MustCompile(`(\w+)\s*\(`)
	noFunction = regexp.MustCompile(`^(?:[0-9]\w*|sizeof|alignof|char|short|int|long|unsigned|signed|float|double|bool|void)$`)
	assigned   = regexp.MustCompile(`\+\+|--|[^=!<>]=(?:[^=]|$)|<<=|>>=`)
)

// acts tells whether evaluating an expression twice may be another thing than doing so once: it changes
// something. Whether it calls functions can be seen where calls look different from indices.
func acts(expr string, fortran bool) bool {
	if assigned.MatchString(expr) {
		return true
	}
	if fortran {
		return false
	}
	for _, found := range called.FindAllStringSubmatch(expr, -1) {
		if !noFunction.MatchString(found[1]) {
			return true
		}
	}
	return false
}

// tooLarge is how gdb refuses to fetch a value: "value requires 800000 bytes, which is more than
// max-value-size".
var tooLarge = regexp.MustCompile(`value requires [0-9]+ bytes, which is more than max-value-size`)

// askPrint asks for a value in the way that is wanted.
func (m *machine) askPrint(q *request, w printing, expr string, then func(a answer, value string), more ...string) {
	switch {
	case !w.plain() || len(more) > 0:
		m.askLine(q, w.line(expr, more...), then)
	case acts(expr, false):
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

// operand is an expression as an argument of GDB/MI: one that may look like an option has a blank in front
// (mi.AppendCommand). gdb shows what it was given where it does not understand it.
func operand(expr string) string {
	if strings.HasPrefix(expr, "--") {
		return " " + expr
	}
	return expr
}

// askBare asks for a value by GDB/MI, which leaves out the types of pointers and all of a reference but its address.
func (m *machine) askBare(q *request, expr string, then func(a answer, value string)) {
	s := m.selected(q) // not at, and no slice that is made for this: there may be thousands of ranks
	k := m.ask(q, func(a answer) { then(a, m.heard(a, a.Results.Str("value"))) }, "-data-evaluate-expression",
		"--thread", m.gdbThread(s.thread), "--frame", strconv.Itoa(s.frame), operand(expr))
	k.print, k.apart = true, true
}

// askTyped asks for a value as gdb's print writes it: "(int &) @0x7ffe: 5", "(int *) 0x7ffe". What is for statistics gets
// what a reference refers to.
func (m *machine) askTyped(q *request, expr string, then func(a answer, value string)) {
	m.askLine(q, "output "+expr, func(a answer, value string) {
		if q.compares() {
			value = value[len(referenceHead(value)):]
		}
		then(a, value)
	})
}

// compares tells whether the values of a request are compared and not shown for themselves.
func (c *command) compares() bool { return c.args.Compare }

// typed tells whether gdb's print writes more of a value than GDB/MI does: of a reference, and of a pointer unless
// this is a comparison; of a pointer GDB/MI writes nothing where addresses are not shown.
func (c *command) typed(value string) bool {
	return strings.HasPrefix(value, "@0x") || (value == "" || strings.HasPrefix(value, "0x")) && !c.compares() && !isText(value)
}

// derived tells whether gdb's print may write another object than GDB/MI does: the whole of which this is a base.
func (m *machine) derived(q *request, value string) bool {
	return m.gdb.objects && !q.compares() && strings.HasPrefix(value, "{")
}

var refHead = regexp.MustCompile(`^(?:\([^"'{}]*?\) )?@0x[0-9a-f]+: `)

// referenceHead gives what gdb writes in front of what a reference refers to: "(int &) @0x7ffe: ".
func referenceHead(value string) string {
	if !strings.Contains(value, "@0x") {
		return ""
	}
	return refHead.FindString(value)
}

// askLine is askPrint by a line of gdb's.
func (m *machine) askLine(q *request, line string, then func(a answer, value string)) {
	k := m.ask(q, func(a answer) { then(a, m.heard(a, withoutHistory(a.text))) }, "-interpreter-exec", append(m.at(q), "console", line)...)
	k.print, k.apart = true, true
}

// fewElements is how many elements are shown of the arrays in a value of more than a mebibyte.
const fewElements = 20

// askLarge asks for a value that gdb does not fetch unless it is told to: up to a gibibyte.
func (m *machine) askLarge(q *request, w printing, then func(a answer, value string)) {
	m.askLine(q, unbounded+w.line(w.expr, "-elements "+strconv.Itoa(fewElements)), then)
}
