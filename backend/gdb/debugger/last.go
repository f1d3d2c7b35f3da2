// The last value that was printed.

package debugger

import (
	"fmt"
	"regexp"
	"strings"

	"sdm/backend/gdb/gdbtext"
	"sdm/protocol"
)

// printedLast is the last value that was printed. gdb keeps a history only of values
// printed by its command line, and numbers of values would differ between ranks.
type printedLast struct {
	group protocol.Group // the answer
	expr  string         // "": nothing was printed yet
	at    selection      // where it was evaluated
	moved bool           // the rank has run since
}

// keepPrinted keeps the answer to a print.
func (m *Machine) keepPrinted(q *Request, g protocol.Group) {
	if q.Name == "print" && q.args.Expr != "" && g.Kind == protocol.KindResult && q.args.Last == 0 && q.args.Thread == 0 && q.args.Frame == nil && q.into == nil {
		m.last = printedLast{group: g, expr: q.printing().Expr, at: m.chosen}
	}
}

// printAgain executes print without an expression.
func (m *Machine) printAgain(q *Request) {
	if m.last.expr == "" {
		m.fail(q, noLast())
		return
	}
	g := m.last.group
	m.replyWith(q, g.Body, g.Columns)
}

func noLast() *protocol.Fault {
	return &protocol.Fault{Kind: protocol.FaultGDB, Message: "No value has been printed yet."}
}

// named matches expressions that need no parentheses in others.
var named = regexp.MustCompile(`^[A-Za-z_]\w*((\.|->)[A-Za-z_]\w*|\[\w+\])*$`)

// mostExpr bounds an expression after the replacement of $, in bytes.
const mostExpr = 4096

// withLast replaces $ by the last printed expression. It answers with a fault and
// returns false if that might give another value: the rank has run, another frame is
// selected, or the evaluation has side effects.
func (m *Machine) withLast(q *Request) bool {
	if !strings.Contains(q.args.Expr, "$") {
		return true
	}
	out, used, numbered := lastIn(q.args.Expr, m.last.expr)
	var f *protocol.Fault
	switch {
	case numbered:
		f = &protocol.Fault{Kind: protocol.FaultUsage, Message: "values have no numbers here, as they would differ between ranks", Hint: "$ is the last one; set $name = EXPR keeps one"}
	case used:
		f = m.lastUsable()
	}
	if f == nil && len(out) > mostExpr {
		f = &protocol.Fault{Kind: protocol.FaultUsage, Message: "$ has become too long an expression", Hint: "set $name = EXPR keeps a value"}
	}
	if f != nil {
		m.fail(q, f)
		return false
	}
	if out != q.args.Expr {
		q.apart()
		q.args.Expr = out
	}
	return true
}

// lastIn replaces each $ in expr that is not in a string or a name by last. used
// reports that there is one, numbered that there is a value of gdb's history ($1, $$).
func lastIn(expr, last string) (out string, used, numbered bool) {
	if !named.MatchString(last) {
		last = "(" + last + ")"
	}
	var b strings.Builder
	copied := 0
	for i, c := range protocol.Unquoted(expr) {
		rest := expr[i+1:]
		switch {
		case c != '$':
		case rest == "" || !gdbtext.IsNameByte(rest[0], false) && rest[0] != '$':
			used = true
			b.WriteString(expr[copied:i] + last)
			copied = i + 1
		case !gdbtext.IsNameByte(rest[0], true):
			numbered = true
		}
	}
	b.WriteString(expr[copied:])
	return b.String(), used, numbered
}

// lastUsable returns the reason why $ cannot be used, or nil.
func (m *Machine) lastUsable() *protocol.Fault {
	why := ""
	switch {
	case m.last.expr == "":
		return noLast()
	case m.last.moved:
		why = "the rank has run since it was printed"
	case m.last.at != m.chosen:
		why = fmt.Sprintf("it was printed in frame %d of thread %d", m.last.at.frame, m.last.at.thread)
	case gdbtext.HasSideEffects(m.last.expr, false):
		why = "it calls or changes something"
	default:
		return nil
	}
	return &protocol.Fault{Kind: protocol.FaultUsage, Message: fmt.Sprintf("$ would be %s again: %s", m.last.expr, why), Hint: "set $name = EXPR keeps a value; print alone shows the last one"}
}
