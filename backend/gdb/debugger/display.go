// Expressions that are shown at every stop.

package debugger

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"sdm/backend/gdb/gdbtext"
	"sdm/protocol"
)

// displays are the displays of one rank, by ascending number.
type displays struct {
	list []protocol.Display
	held *heldStop // a stop that waits for their values, or nil
	// scopes maps their numbers to those of gdb's own displays; see scope.
	scopes map[int]int
}

// heldStop is a stop that is reported when its displays have values, or after
// displayWait: an expression that takes long must not delay a stop.
type heldStop struct {
	until  time.Duration
	tell   func(shown []protocol.Display, values []string, s spoken)
	shown  []protocol.Display
	texts  []string
	spoken spoken // output of the commands of its breakpoint
}

// displayWait is how long a stop waits for the values of displays.
const displayWait = 2 * time.Second

// displayList is the body of display and info display; values are in columns
// "display.NUMBER".
type displayList struct {
	Displays []protocol.Display `json:"displays"`
}

// mostDisplays bounds the work at every stop.
const mostDisplays = 100

// display adds an expression and shows it at once, as gdb does; without an expression
// it shows all.
func (m *Machine) display(q *Request) {
	all := m.displays.list
	if q.args.Expr != "" {
		if !gdbtext.IsFormat(q.args.Format) {
			m.fail(q, gdbtext.InvalidFormat(q.args.Format))
			return
		}
		if len(all) >= mostDisplays {
			m.fail(q, &protocol.Fault{Kind: protocol.FaultUsage, Message: fmt.Sprintf("there are %d displays already", mostDisplays), Hint: "undisplay ends some"})
			return
		}
		d := protocol.Display{Number: q.args.Display, Expr: q.args.Expr, Format: q.args.Format}
		if d.Number == 0 {
			d.Number = 1
			if n := len(all); n > 0 {
				d.Number = all[n-1].Number + 1
			}
		}
		m.displays.list = append(all[:len(all):len(all)], d)
		all = m.displays.list[len(all):]
	}
	if m.stateNow().Refuse(protocol.NeedStopped) != nil { // it is shown at the next stop
		m.reply(q, displayList{append([]protocol.Display{}, all...)})
		return
	}
	m.evaluateAll(q, all, func(shown []protocol.Display, values []string) {
		if len(shown) == 0 && q.args.Expr != "" {
			m.fail(q, &protocol.Fault{Kind: protocol.FaultGDB, Message: values[0]})
			m.dropDisplay(q.args.Display)
			return
		}
		c := columnsOf(m.Target.Rank, q.args.Limit)
		c.displays(shown, values)
		m.reply(q, displayList{append([]protocol.Display{}, shown...)}, c.sorted()...)
	})
}

func (m *Machine) dropDisplays() {
	for _, d := range m.displays.list {
		m.unscope(d.Number)
	}
	m.displays.list = nil
}

func (m *Machine) dropDisplay(number int) {
	m.unscope(number)
	m.displays.list = slices.DeleteFunc(slices.Clone(m.displays.list), func(d protocol.Display) bool { return d.Number == number })
}

func (m *Machine) infoDisplay(q *Request) {
	all := append([]protocol.Display{}, m.displays.list...)
	if m.stateNow().Refuse(protocol.NeedStopped) != nil {
		m.reply(q, displayList{all})
		return
	}
	m.outside(q, func(is func(protocol.Display) bool) {
		for i := range all {
			all[i].Outside = is(all[i])
		}
		m.reply(q, displayList{all})
	})
}

func (m *Machine) undisplay(q *Request) {
	for _, n := range q.args.Displays {
		if !slices.ContainsFunc(m.displays.list, func(d protocol.Display) bool { return d.Number == n }) {
			m.fail(q, &protocol.Fault{Kind: protocol.FaultGDB, Message: fmt.Sprintf("No display number %d.", n)})
			return
		}
	}
	if len(q.args.Displays) == 0 {
		m.dropDisplays()
	}
	for _, n := range q.args.Displays {
		m.dropDisplay(n)
	}
	m.done(q)
}

// evaluateAll returns those displays that can be read here, as gdb shows them, and
// their values. If there are none, values is the error of the last.
func (m *Machine) evaluateAll(q *Request, all []protocol.Display, then func(shown []protocol.Display, values []string)) {
	m.outside(q, func(is func(protocol.Display) bool) {
		m.evaluateThese(q, slices.DeleteFunc(slices.Clone(all), is), then)
	})
}

// evaluateThese is evaluateAll for those that are within their blocks.
func (m *Machine) evaluateThese(q *Request, all []protocol.Display, then func(shown []protocol.Display, values []string)) {
	if len(all) == 0 {
		then(nil, []string{""})
		return
	}
	texts, has := make([]string, len(all)), make([]bool, len(all))
	left := len(all)
	for i, d := range all {
		m.askDisplay(q, d, func(a answer, value string) {
			came := func(text string, is bool) {
				texts[i], has[i] = text, is
				if left--; left == 0 {
					then(shownOf(all, texts, has))
				}
			}
			if !a.failed() {
				m.scope(q, d, func() {})
				came(value, true)
				return
			}
			m.scope(q, d, func() { came(gdbtext.DisplayedError(a.Results.Str("msg"), m.displays.scopes[d.Number] != 0)) })
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

// askValue evaluates an expression that is shown with others. Without a format the
// value is taken from the result record: console output may be interrupted by messages
// about other threads.
func (m *Machine) askValue(q *Request, format, expr string, then func(a answer, value string)) {
	bounded := func(a answer, value string) {
		switch {
		case gdbtext.Examines(format):
			then(a, gdbtext.TruncateText(value, mostShown))
			return
		case !a.failed() || !tooLarge.MatchString(a.Results.Str("msg")):
			then(a, gdbtext.Listed(value))
			return
		}
		about := q.about("")
		about.args.Format = format
		m.beginning(about, expr, func(text string, bad *protocol.Fault) {
			if bad == nil {
				a.Name = "done"
			}
			then(a, text)
		})
	}
	if format == "" {
		m.askPrint(q, gdbtext.Printing{}, expr, bounded)
		return
	}
	line := gdbtext.DisplayLine(protocol.Display{Expr: expr, Format: format})
	k := m.ask(q, func(a answer) { bounded(a, displayed(a)) }, "-interpreter-exec", append(m.at(q), "console", line)...)
	k.print = true
}

func displayed(a answer) string { return strings.TrimRight(a.text, "\n") }

func (c *columns) displays(shown []protocol.Display, values []string) {
	for i, d := range shown {
		c.add("display."+strconv.Itoa(d.Number), values[i])
	}
}

// withDisplays calls tell for a stop, with the output of the breakpoint's commands and
// the displays that have a value there.
func (m *Machine) withDisplays(t *thread, tell func(shown []protocol.Display, values []string, s spoken)) {
	var acting []*point
	for _, p := range m.points.reached(t.stop) {
		if ownReason(t.stop) && len(p.lines) > 0 {
			acting = append(acting, p)
		}
	}
	if len(m.displays.list) == 0 && len(acting) == 0 {
		tell(nil, nil, spoken{})
		return
	}
	h := &heldStop{until: m.now + displayWait, tell: tell}
	m.displays.held = h
	display := func() {
		m.evaluateAll(oursIn("display", t), m.displays.list, func(shown []protocol.Display, values []string) {
			h.shown, h.texts = shown, values
			m.releaseStop(h)
		})
	}
	m.speakAtAll(acting, t, func(s spoken) {
		h.spoken = s
		display()
	})
}

// speakAtAll calls speakAt for several breakpoints, one after another.
func (m *Machine) speakAtAll(points []*point, t *thread, then func(spoken)) {
	if len(points) == 0 {
		then(spoken{})
		return
	}
	m.speakAt(points[0], t, func(s spoken) {
		m.speakAtAll(points[1:], t, func(more spoken) {
			then(spoken{append(s.lines, more.lines...), append(s.texts, more.texts...)})
		})
	})
}

// releaseStop reports a held stop, once.
func (m *Machine) releaseStop(h *heldStop) {
	if m.displays.held != h {
		return
	}
	m.displays.held = nil
	h.tell(h.shown, h.texts, h.spoken)
}

// displaysOverdue reports a stop whose displays take too long, without them, and
// removes all displays.
func (m *Machine) displaysOverdue() {
	h := m.displays.held
	if h == nil || m.now < h.until {
		return
	}
	m.dropDisplays()
	m.Event(protocol.KindNote, protocol.Note{Text: fmt.Sprintf("the displayed expressions have no value after %s; they are shown no more", displayWait)})
	m.releaseStop(h)
}
