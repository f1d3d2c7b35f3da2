// The last value that was printed.

package values

import (
	"fmt"
	"strings"

	"sdm/backend/gdb/gdbtext"
	"sdm/backend/gdb/request"
	"sdm/protocol"
	"sdm/protocol/pattern"
	"sdm/protocol/sideeffect"
)

// printedLast is the last value that was printed. gdb keeps a history only of values
// printed by its command line, and numbers of values would differ between ranks.
type printedLast struct {
	group protocol.Group    // the answer
	expr  string            // "": nothing was printed yet
	at    request.Selection // where it was evaluated
	moved bool              // the rank has run since
}

// KeepPrinted keeps the answer to a print.
func (p *Printer) KeepPrinted(q *request.Request, g protocol.Group) {
	if q.Name == "print" && q.Args.Expr != "" && g.Kind == protocol.KindResult && q.Args.Last == 0 && q.Args.Thread == 0 &&
		q.Args.Frame == nil && q.Into == nil && !q.Args.Pure {
		p.last = printedLast{group: g, expr: q.Printing().Expr, at: p.Chosen()}
	}
}

// printAgain executes print without an expression.
func (p *Printer) printAgain(q *request.Request) {
	if p.last.expr == "" {
		p.Fail(q, noLast())
		return
	}
	g := p.last.group
	p.ReplyWith(q, g.Body, g.Columns)
}

func noLast() *protocol.Fault {
	return &protocol.Fault{Kind: protocol.FaultGDB, Message: "No value has been printed yet."}
}

// named matches expressions that need no parentheses in others.
var named = pattern.New(`^[A-Za-z_]\w*((\.|->)[A-Za-z_]\w*|\[\w+\])*$`)

// maxExpr bounds an expression after the replacement of $, in bytes.
const maxExpr = 4096

// WithLast replaces $ by the last printed expression. It answers with a fault and
// returns false if that might give another value: the rank has run, another frame is
// selected, or the evaluation has side effects.
func (p *Printer) WithLast(q *request.Request) bool {
	if !strings.Contains(q.Args.Expr, "$") {
		return true
	}
	out, used, numbered := lastIn(q.Args.Expr, p.last.expr)
	var f *protocol.Fault
	switch {
	case numbered:
		f = &protocol.Fault{Kind: protocol.FaultUsage, Message: "values have no numbers here, as they would differ between ranks", Hint: "$ is the last one; set $name = EXPR keeps one"}
	case used:
		f = p.lastUsable()
	}
	if f == nil && len(out) > maxExpr {
		f = &protocol.Fault{Kind: protocol.FaultUsage, Message: "$ has become too long an expression", Hint: "set $name = EXPR keeps a value"}
	}
	if f != nil {
		p.Fail(q, f)
		return false
	}
	if out != q.Args.Expr {
		q.Unshare()
		q.Args.Expr = out
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
func (p *Printer) lastUsable() *protocol.Fault {
	why := ""
	switch {
	case p.last.expr == "":
		return noLast()
	case p.last.moved:
		why = "the rank has run since it was printed"
	case p.last.at != p.Chosen():
		why = fmt.Sprintf("it was printed in frame %d of thread %d", p.last.at.Frame, p.last.at.Thread)
	case sideeffect.Of(p.last.expr, false):
		why = "it calls or changes something"
	default:
		return nil
	}
	return &protocol.Fault{Kind: protocol.FaultUsage, Message: fmt.Sprintf("$ would be %s again: %s", p.last.expr, why), Hint: "set $name = EXPR keeps a value; print alone shows the last one"}
}

// HasRun records that the rank has run since the last print.
func (p *Printer) HasRun() { p.last.moved = true }
