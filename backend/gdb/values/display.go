// Expressions that are shown at every stop.

package values

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"sdm/backend/gdb/gdbtext"
	"sdm/backend/gdb/request"
	"sdm/protocol"
)

// Displays are the displays of one rank, by ascending number.
type Displays struct {
	*Values
	list []protocol.Display
	// scopes maps their numbers to the numbers of gdb's own displays; see scope.
	scopes map[int]int
}

// displayList is the body of display and info display; values are in columns
// "display.NUMBER".
type displayList struct {
	Displays []protocol.Display `json:"displays"`
}

// maxDisplays bounds the work at every stop.
const maxDisplays = 100

// display adds an expression and shows it at once, as gdb does; without an expression
// it shows all.
func (ds *Displays) display(q *request.Request) {
	all := ds.list
	if q.Args.Expr != "" {
		if !gdbtext.IsFormat(q.Args.Format) {
			ds.Fail(q, gdbtext.InvalidFormat(q.Args.Format))
			return
		}
		if len(all) >= maxDisplays {
			ds.Fail(q, &protocol.Fault{Kind: protocol.FaultUsage, Message: fmt.Sprintf("there are %d displays already", maxDisplays), Hint: "undisplay ends some"})
			return
		}
		d := protocol.Display{Number: q.Args.Display, Expr: q.Args.Expr, Format: q.Args.Format, Assert: q.Name == "assert"}
		if d.Number == 0 {
			d.Number = 1
			if n := len(all); n > 0 {
				d.Number = all[n-1].Number + 1
			}
		}
		ds.list = append(all[:len(all):len(all)], d)
		all = ds.list[len(all):]
	}
	if ds.StateNow().Refuse(protocol.NeedStopped) != nil { // it is shown at the next stop
		ds.Reply(q, displayList{append([]protocol.Display{}, all...)})
		return
	}
	ds.evaluateAll(q, all, func(shown []protocol.Display, values []string) {
		if q.Name == "assert" && len(shown) == 0 && !strings.HasPrefix(values[0], "A syntax error ") {
			shown = all // it may be parsed elsewhere
		}
		if len(shown) == 0 && q.Args.Expr != "" {
			message := values[0]
			if q.Name == "assert" {
				message = WithoutDenied(message)
			}
			ds.Fail(q, &protocol.Fault{Kind: protocol.FaultGDB, Message: message})
			ds.dropDisplay(q.Args.Display)
			return
		}
		c := ColumnsOf(ds.Process().Rank, q.Args.Limit)
		c.Displays(shown, values)
		ds.Reply(q, displayList{append([]protocol.Display{}, shown...)}, c.Sorted()...)
	})
}

// DropDisplays removes all displays.
func (ds *Displays) DropDisplays() {
	for _, d := range ds.list {
		ds.unscope(d.Number)
	}
	ds.list = nil
}

func (ds *Displays) dropDisplay(number int) {
	ds.unscope(number)
	ds.list = slices.DeleteFunc(slices.Clone(ds.list), func(d protocol.Display) bool { return d.Number == number })
}

func (ds *Displays) infoDisplay(q *request.Request) {
	all := append([]protocol.Display{}, ds.list...)
	if ds.StateNow().Refuse(protocol.NeedStopped) != nil {
		ds.Reply(q, displayList{all})
		return
	}
	ds.outside(q, func(is func(protocol.Display) bool) {
		for i := range all {
			all[i].Outside = is(all[i])
		}
		ds.Reply(q, displayList{all})
	})
}

func (ds *Displays) undisplay(q *request.Request) {
	for _, n := range q.Args.Displays {
		if !slices.ContainsFunc(ds.list, func(d protocol.Display) bool { return d.Number == n }) {
			ds.Fail(q, &protocol.Fault{Kind: protocol.FaultGDB, Message: fmt.Sprintf("No display number %d.", n)})
			return
		}
	}
	if len(q.Args.Displays) == 0 {
		ds.DropDisplays()
	}
	for _, n := range q.Args.Displays {
		ds.dropDisplay(n)
	}
	ds.Done(q)
}

// evaluateAll returns those displays that can be read here, as gdb shows them, and
// their values. If there are none, values is the error of the last.
func (ds *Displays) evaluateAll(q *request.Request, all []protocol.Display,
	then func(shown []protocol.Display, values []string)) {
	ds.outside(q, func(is func(protocol.Display) bool) {
		ds.evaluateThese(q, slices.DeleteFunc(slices.Clone(all), is), then)
	})
}

// evaluateThese is evaluateAll for those that are within their blocks.
func (ds *Displays) evaluateThese(q *request.Request, all []protocol.Display,
	then func(shown []protocol.Display, values []string)) {
	if len(all) == 0 {
		then(nil, []string{""})
		return
	}
	texts, has := make([]string, len(all)), make([]bool, len(all))
	left := len(all)
	for i, d := range all {
		if d.Assert {
			d.Expr = protocol.Denied(d.Expr)
		}
		ds.askDisplay(q, d, func(a request.Answer, value string) {
			received := func(text string, shown bool) {
				texts[i], has[i] = text, shown
				if left--; left == 0 {
					then(shownOf(all, texts, has))
				}
			}
			switch {
			case d.Assert && (!a.Failed() || !gdbtext.NotParsed.MatchString(a.Results.Str("msg"))):
				ds.scope(q, d, func() {})
				received(OutcomeOf(a, value), true)
				return
			case !a.Failed():
				ds.scope(q, d, func() {})
				received(value, true)
				return
			}
			ds.scope(q, d, func() { received(gdbtext.DisplayedError(a.Results.Str("msg"), ds.scopes[d.Number] != 0)) })
		})
	}
}

// shownOf returns the displays that gdb can read; if there are none, values is the last
// text.
func shownOf(all []protocol.Display, texts []string, has []bool) (shown []protocol.Display, values []string) {
	for i, d := range all {
		if has[i] {
			shown, values = append(shown, d), append(values, texts[i])
		}
	}
	if shown == nil {
		values = texts[len(texts)-1:]
	}
	return shown, values
}

// AskValue evaluates an expression that is shown with others. Without a format the
// value is taken from the result record: console output may be interrupted by messages
// about other threads.
func (ds *Displays) AskValue(q *request.Request, format, expr string, then func(a request.Answer, value string)) {
	bounded := func(a request.Answer, value string) {
		switch {
		case gdbtext.Examines(format):
			then(a, gdbtext.TruncateText(value, MaxShown))
			return
		case !a.Failed() || !tooLarge.MatchString(a.Results.Str("msg")):
			then(a, gdbtext.Listed(value))
			return
		}
		about := q.About("")
		about.Args.Format = format
		ds.Printer.beginning(about, expr, func(text string, bad *protocol.Fault) {
			if bad == nil {
				a.Name = "done"
			}
			then(a, text)
		})
	}
	if format == "" {
		ds.Printer.askPrint(q, gdbtext.Printing{}, expr, bounded)
		return
	}
	line := gdbtext.DisplayLine(protocol.Display{Expr: expr, Format: format})
	k := ds.Ask(q, func(a request.Answer) { bounded(a, displayed(a)) }, "-interpreter-exec", append(ds.At(q), "console", line)...)
	k.Print = true
}

func displayed(a request.Answer) string { return strings.TrimRight(a.Text, "\n") }

// Displays adds the values of displays.
func (c *Columns) Displays(shown []protocol.Display, values []string) {
	for i, d := range shown {
		c.Add("display."+strconv.Itoa(d.Number), values[i])
	}
}

// Any reports whether there are displays.
func (ds *Displays) Any() bool { return len(ds.list) > 0 }

// ShowAll is evaluateAll for all displays.
func (ds *Displays) ShowAll(q *request.Request, then func(shown []protocol.Display, values []string)) {
	ds.evaluateAll(q, ds.list, then)
}

// GDBEnded records that gdb has ended: the next gdb has no displays of its own yet.
func (ds *Displays) GDBEnded() { ds.scopes = nil }

// Forget removes all displays without telling gdb, which must not have any.
func (ds *Displays) Forget() { ds.list = nil }
