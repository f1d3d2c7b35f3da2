// The command print.

package values

import (
	"sdm/backend/gdb/gdbtext"
	"sdm/backend/gdb/request"
	"sdm/protocol"
)

// Printed is the body of print; the value is in column "value".
type Printed struct {
	Expr string `json:"expr"`
	// Elements is the number of elements of an array of which only First to Last (from
	// 0) are shown; 0: all are shown.
	Elements int    `json:"elements,omitempty"`
	First    int    `json:"first,omitempty"`
	Last     int    `json:"last,omitempty"`
	Format   string `json:"format,omitempty"` // format of the values
	// Part is the expression of the array that this is about, if it is part of the
	// value.
	Part string `json:"part,omitempty"`
	// Members reports that Elements, First and Last count the members of a structure.
	Members bool `json:"members,omitempty"`
	// Shape describes the array, unless it is a plain array of C.
	Shape *protocol.Shape `json:"shape,omitempty"`
}

// evaluate executes print. Only gdb's command line knows formats and options (/x,
// -pretty --); other expressions are evaluated by GDB/MI.
func (p *Printer) evaluate(q *request.Request) {
	switch w := q.Printing(); {
	case w.Expr != "":
	case w.Format == "":
		p.printAgain(q)
		return
	default:
		q.Unshare()
		q.Args.Expr = "$"
	}
	if !p.WithLast(q) {
		return
	}
	w := q.Printing()
	switch {
	case !gdbtext.IsFormat(w.Format):
		p.Fail(q, gdbtext.InvalidFormat(w.Format))
		return
	case q.Args.Last > 0:
		p.page(q)
		return
	}
	p.askPrint(q, w, w.Expr, func(a request.Answer, value string) {
		if q.Printing().Plain() && p.Incomplete(a) {
			p.ReadLibraries()
			p.evaluate(q)
			return
		}
		p.qualified(q, w, w.Expr, a, func() { p.evaluated(q, a, value) })
	})
}

// ReplyExitCode answers a print of $_exitcode of a rank that has ended, as gdb does (GDB manual, Convenience Vars);
// its gdb has ended, too. false: the request is another one, or the value "", which is not known.
func (p *Printer) ReplyExitCode(q *request.Request, value string) bool {
	if w := q.Printing(); q.Name != "print" || w.Expr != "$_exitcode" || w.Format != "" || value == "" {
		return false
	}
	p.replyValue(q, Printed{Expr: q.Args.Expr}, value)
	return true
}

func (p *Printer) evaluated(q *request.Request, a request.Answer, value string) {
	if q.Args.Stat && (a.Failed() && tooLarge.MatchString(a.Results.Str("msg")) || !a.Failed() && mayHoldElements(value)) {
		p.countArray(q, func() { p.evaluatedOne(q, a, value) })
		return
	}
	p.evaluatedOne(q, a, value)
}

// evaluatedOne is evaluated without statistics.
func (p *Printer) evaluatedOne(q *request.Request, a request.Answer, value string) {
	switch {
	case a.Failed() && tooLarge.MatchString(a.Results.Str("msg")):
		p.evaluatedLarge(q, a)
	case a.Failed():
		p.Refused(q, a)
	default:
		q.Head = gdbtext.ReferenceHead(value)
		p.evaluatedWhole(q, value[len(q.Head):])
	}
}
