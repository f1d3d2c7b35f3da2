// Values that gdb could not show: what it warned of stands in their places.

package gdb

import "strings"

// shownOr gives a value, or what gdb said in its place: GDB/MI gives an empty value where a pretty-printer has failed,
// and the reason on the log stream.
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

// heard gives a value as it is shown. What gdb warned of beside a value that it could show is told.
func (m *machine) heard(a answer, value string) string {
	if a.failed() || a.warned == "" {
		return value
	}
	shown := shownOr(value, a.warned)
	if shown == value {
		m.warned(a)
	}
	return shown
}

// heardAll is heard for variables that one answer gives, each of which may have failed: the reasons come in their order.
func (m *machine) heardAll(a answer, values []string) {
	lines := strings.FieldsFunc(a.warned, func(r rune) bool { return r == '\n' })
	for i, value := range values {
		if len(lines) > 0 && shownOr(value, lines[0]) != value {
			values[i], lines = shownOr(value, lines[0]), lines[1:]
		}
	}
	a.warned = strings.Join(lines, "\n")
	m.warned(a)
}
