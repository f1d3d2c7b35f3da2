// The blocks in which displays are shown.

package debugger

import (
	"regexp"
	"strconv"
	"strings"

	"sdm/backend/gdb/gdbtext"
	"sdm/protocol"
)

// gdb shows a display only within the block of the variables that it was made for. Only
// gdb's own displays have that block. So for each display of sdm gdb has a disabled
// one, for which "info display" reports whether it is outside. It displays the sizeof
// of the expression, which gdb computes without evaluating the expression.

var (
	madeDisplay    = regexp.MustCompile(`^([0-9]+): `)
	outsideDisplay = regexp.MustCompile(`(?m)^([0-9]+): .*\s\(cannot be evaluated in the current context\)$`)
)

// scope creates gdb's own display for one of sdm's, in the frame of a request, if gdb
// can parse it there.
func (m *Machine) scope(q *Request, d protocol.Display, then func()) {
	if m.displays.scopes[d.Number] != 0 {
		then()
		return
	}
	about := ours("display")
	about.args.Thread, about.args.Frame = q.args.Thread, q.args.Frame
	k := m.ask(about, func(a answer) {
		defer then()
		found := madeDisplay.FindStringSubmatch(a.text)
		if a.failed() || found == nil {
			return
		}
		m.tell("display", "-interpreter-exec", "console", "disable display "+found[1])
		if m.displays.scopes == nil {
			m.displays.scopes = map[int]int{}
		}
		m.displays.scopes[d.Number], _ = strconv.Atoi(found[1])
	}, "-interpreter-exec", append(m.at(q), "console", "display sizeof ("+d.Expr+")")...)
	k.print, k.apart = true, true
}

// mostInlinedInto bounds the number of enclosing functions that are tried.
const mostInlinedInto = 8

// askDisplay evaluates a display that is within its block. In a function that is
// inlined into that block, its variables are found only in an outer frame.
func (m *Machine) askDisplay(q *Request, d protocol.Display, then func(a answer, value string)) {
	m.askValue(q, d.Format, d.Expr, func(a answer, value string) {
		if !a.failed() || m.displays.scopes[d.Number] == 0 || !gdbtext.NotRead.MatchString(a.Results.Str("msg")) {
			then(a, value)
			return
		}
		m.askOutside(q, d, 1, then, func() { then(a, value) })
	})
}

// askOutside evaluates a display out frames further out, or beyond; it calls failed if
// no frame has it.
func (m *Machine) askOutside(q *Request, d protocol.Display, out int, then func(a answer, value string), failed func()) {
	s := m.selected(q)
	level := s.frame + out
	outer := q.about(d.Expr)
	outer.args.Thread, outer.args.Frame = s.thread, &level
	m.askValue(outer, d.Format, d.Expr, func(a answer, value string) {
		switch {
		case !a.failed():
			then(a, value)
		case out == mostInlinedInto || !gdbtext.NotRead.MatchString(a.Results.Str("msg")) || strings.HasPrefix(a.Results.Str("msg"), "Invalid frame id"):
			failed()
		default:
			m.askOutside(q, d, out+1, then, failed)
		}
	})
}

// unscope deletes gdb's own display.
func (m *Machine) unscope(number int) {
	if n := m.displays.scopes[number]; n != 0 {
		m.tell("undisplay", "-interpreter-exec", "console", "undisplay "+strconv.Itoa(n))
		delete(m.displays.scopes, number)
	}
}

// outside reports which displays are outside of their blocks in the frame of a request.
func (m *Machine) outside(q *Request, then func(is func(d protocol.Display) bool)) {
	if len(m.displays.scopes) == 0 {
		then(func(protocol.Display) bool { return false })
		return
	}
	k := m.ask(q, func(a answer) {
		numbers := map[int]bool{}
		for _, found := range outsideDisplay.FindAllStringSubmatch(a.text, -1) {
			n, _ := strconv.Atoi(found[1])
			numbers[n] = true
		}
		then(func(d protocol.Display) bool { return numbers[m.displays.scopes[d.Number]] })
	}, "-interpreter-exec", append(m.at(q), "console", "info display")...)
	k.print, k.apart = true, true
}
