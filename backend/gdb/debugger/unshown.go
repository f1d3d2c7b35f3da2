// Values that gdb could not print: its warning replaces them.

package debugger

import "strings"

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
func (m *Machine) heard(a answer, value string) string {
	if a.failed() || a.warned == "" {
		return value
	}
	shown := shownOr(value, a.warned)
	if shown == value {
		m.warned(a)
	}
	return shown
}

// heardAll is heard for the variables of one answer, each of which may have failed: the
// reasons are in their order.
func (m *Machine) heardAll(a answer, values []string) {
	lines := strings.FieldsFunc(a.warned, func(r rune) bool { return r == '\n' })
	for i, value := range values {
		if len(lines) > 0 && shownOr(value, lines[0]) != value {
			values[i], lines = shownOr(value, lines[0]), lines[1:]
		}
	}
	a.warned = strings.Join(lines, "\n")
	m.warned(a)
}
