// The blocks in which displays are shown.

package values

import (
	"strconv"
	"strings"

	"sdm/backend/gdb/gdbtext"
	"sdm/backend/gdb/request"
	"sdm/protocol"
	"sdm/protocol/pattern"
)

// gdb shows a display only within the block of the variables that it was made for. Only
// gdb's own displays have that block. So for each display of sdm gdb has a disabled
// one, for which "info display" reports whether it is outside. It displays the sizeof
// of the expression, which gdb computes without evaluating the expression.

var (
	madeDisplay    = pattern.New(`^([0-9]+): `)
	outsideDisplay = pattern.New(`(?m)^([0-9]+): .*\s\(cannot be evaluated in the current context\)$`)
)

// scope creates gdb's own display for one of sdm's, in the frame of a request, if gdb
// can parse it there.
func (ds *Displays) scope(q *request.Request, d protocol.Display, then func()) {
	if ds.scopes[d.Number] != 0 {
		then()
		return
	}
	about := request.Internal("display")
	about.Args.Thread, about.Args.Frame = q.Args.Thread, q.Args.Frame
	k := ds.Ask(about, func(a request.Answer) {
		defer then()
		found := madeDisplay.FindStringSubmatch(a.Text)
		if a.Failed() || found == nil {
			return
		}
		ds.Tell("display", "-interpreter-exec", "console", "disable display "+found[1])
		if ds.scopes == nil {
			ds.scopes = map[int]int{}
		}
		ds.scopes[d.Number], _ = strconv.Atoi(found[1])
	}, "-interpreter-exec", append(ds.At(q), "console", "display sizeof ("+d.Expr+")")...)
	k.Print, k.SeparateWarnings = true, true
}

// maxInlinedInto bounds the number of enclosing functions that are tried.
const maxInlinedInto = 8

// askDisplay evaluates a display that is within its block. In a function that is
// inlined into that block, its variables are found only in an outer frame.
func (ds *Displays) askDisplay(q *request.Request, d protocol.Display, then func(a request.Answer, value string)) {
	ds.AskValue(q, d.Format, d.Expr, func(a request.Answer, value string) {
		if !a.Failed() || ds.scopes[d.Number] == 0 || !gdbtext.NotParsed.MatchString(a.Results.Str("msg")) {
			then(a, value)
			return
		}
		ds.askOutside(q, d, 1, then, func() { then(a, value) })
	})
}

// askOutside evaluates a display in the frame that is out levels further out, or in the next one in which
// gdb can parse it; it calls failed if there is none within maxInlinedInto levels.
func (ds *Displays) askOutside(q *request.Request, d protocol.Display, out int,
	then func(a request.Answer, value string), failed func()) {
	s := ds.Selected(q)
	level := s.Frame + out
	outer := q.About(d.Expr)
	outer.Args.Thread, outer.Args.Frame = s.Thread, &level
	ds.AskValue(outer, d.Format, d.Expr, func(a request.Answer, value string) {
		switch {
		case !a.Failed():
			then(a, value)
		case out == maxInlinedInto || !gdbtext.NotParsed.MatchString(a.Results.Str("msg")) ||
			strings.HasPrefix(a.Results.Str("msg"), "Invalid frame id"):
			failed()
		default:
			ds.askOutside(q, d, out+1, then, failed)
		}
	})
}

// unscope deletes gdb's own display.
func (ds *Displays) unscope(number int) {
	if n := ds.scopes[number]; n != 0 {
		ds.Tell("undisplay", "-interpreter-exec", "console", "undisplay "+strconv.Itoa(n))
		delete(ds.scopes, number)
	}
}

// outside reports which displays are outside of their blocks in the frame of a request.
func (ds *Displays) outside(q *request.Request, then func(is func(d protocol.Display) bool)) {
	if len(ds.scopes) == 0 {
		then(func(protocol.Display) bool { return false })
		return
	}
	k := ds.Ask(q, func(a request.Answer) {
		numbers := map[int]bool{}
		for _, found := range outsideDisplay.FindAllStringSubmatch(a.Text, -1) {
			n, _ := strconv.Atoi(found[1])
			numbers[n] = true
		}
		then(func(d protocol.Display) bool { return numbers[ds.scopes[d.Number]] })
	}, "-interpreter-exec", append(ds.At(q), "console", "info display")...)
	k.Print, k.SeparateWarnings = true, true
}
