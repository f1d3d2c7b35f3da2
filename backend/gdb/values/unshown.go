// Values that gdb could not print: its warning replaces them.

package values

import (
	"strings"

	"sdm/backend/gdb/request"
)

// orWarning returns a value, or gdb's warning instead: if a pretty-printer fails, GDB/MI returns an empty
// value, and the reason is in the log.
func orWarning(value, warned string) string {
	warned = strings.TrimSpace(warned)
	switch {
	case warned == "" || value != "" && !strings.HasSuffix(value, "<synthetic pointer>"):
		return value
	case strings.HasSuffix(warned, "value has been optimized out"):
		return value + "<optimized out>"
	}
	return value + "<error: " + strings.Join(strings.Fields(warned), " ") + ">"
}

// withWarning returns the value of an answer, or gdb's warning if the value could not be printed. A warning
// about a value that was printed is reported.
func (p *Printer) withWarning(a request.Answer, value string) string {
	if a.Failed() || a.Warned == "" {
		return value
	}
	shown := orWarning(value, a.Warned)
	if shown == value {
		p.reportWarnings(a)
	}
	return shown
}

// withWarnings is withWarning for the variables of one answer. The warnings are in the order of the
// variables.
func (p *Printer) withWarnings(a request.Answer, values []string) {
	lines := strings.FieldsFunc(a.Warned, func(r rune) bool { return r == '\n' })
	for i, value := range values {
		if len(lines) > 0 && orWarning(value, lines[0]) != value {
			values[i], lines = orWarning(value, lines[0]), lines[1:]
		}
	}
	a.Warned = strings.Join(lines, "\n")
	p.reportWarnings(a)
}
