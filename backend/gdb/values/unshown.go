// Values that gdb could not print: its warning replaces them.

package values

import (
	"strings"

	"sdm/backend/gdb/request"
)

// shownOr returns a value, or gdb's warning instead: if a pretty-printer fails, GDB/MI
// returns an empty value, and the reason is in the log.
func shownOr(value, warned string) string {
	warned = strings.TrimSpace(warned)
	switch {
	case warned == "" || value != "" && !strings.HasSuffix(value, "<synthetic pointer>"):
		return value
	case strings.HasSuffix(warned, "value has been optimized out"):
		return value + "<optimized out>"
	}
	return value + "<error: " + strings.Join(strings.Fields(warned), " ") + ">"
}

// heard returns a value as it is shown. A warning about a value that was printed is
// reported.
func (p *Printer) heard(a request.Answer, value string) string {
	if a.Failed() || a.Warned == "" {
		return value
	}
	shown := shownOr(value, a.Warned)
	if shown == value {
		p.warned(a)
	}
	return shown
}

// heardAll is heard for the variables of one answer, each of which may have failed: the
// reasons are in their order.
func (p *Printer) heardAll(a request.Answer, values []string) {
	lines := strings.FieldsFunc(a.Warned, func(r rune) bool { return r == '\n' })
	for i, value := range values {
		if len(lines) > 0 && shownOr(value, lines[0]) != value {
			values[i], lines = shownOr(value, lines[0]), lines[1:]
		}
	}
	a.Warned = strings.Join(lines, "\n")
	p.warned(a)
}
