// Arrays as gdb's expressions reach them.

package debugger

import (
	"fmt"
	"strconv"
	"strings"

	"sdm/backend/gdb/gdbtext"
	"sdm/protocol"
)

// arrayOf finds out about the array that a request is about; refusal is nil
// then.
func (m *Machine) arrayOf(q *Request, then func(a gdbtext.Array, refusal *protocol.Fault)) {
	expr := q.printing().Expr
	k := m.ask(q, func(answered answer) {
		if answered.failed() {
			then(gdbtext.Array{}, &protocol.Fault{Kind: protocol.FaultGDB, Message: answered.Results.Str("msg")})
			return
		}
		a, ok := gdbtext.ParseArray(expr, answered.text)
		a.Kind = gdbtext.KindOf(strings.TrimPrefix(strings.TrimSpace(answered.text), "type = "))
		if a.Text {
			a.Kind = gdbtext.Characters
		}
		switch {
		case gdbtext.HasSideEffects(expr, a.Shape.Fortran):
			then(gdbtext.Array{}, &protocol.Fault{Kind: protocol.FaultGDB, Message: "the elements of " + expr + " would be got by evaluating it again"})
		case !ok:
			then(gdbtext.Array{Parts: strings.Contains(answered.text, "std::")}, &protocol.Fault{Kind: protocol.FaultGDB, Message: expr + " is not an array"})
		case a.Text:
			m.lengthOfText(q, a, then)
		case a.Count == "":
			m.placeArray(q, a, then)
		default:
			m.ask(q, func(c answer) {
				a.Shape.Dims[0].Count, _ = strconv.Atoi(c.Results.Str("value"))
				m.placeArray(q, a, then)
			}, "-data-evaluate-expression", append(m.at(q), gdbtext.Operand(a.Count))...)
		}
	}, "-interpreter-exec", append(m.at(q), "console", "ptype/mt "+expr)...)
	k.print = true
}

// placeArray asks where the first and the last element are.
func (m *Machine) placeArray(q *Request, a gdbtext.Array, then func(gdbtext.Array, *protocol.Fault)) {
	n := a.Shape.Elements()
	if n == 0 {
		then(a, &protocol.Fault{Kind: protocol.FaultGDB, Message: q.args.Expr + " has no elements"})
		return
	}
	var last uint64
	var bad *protocol.Fault
	ask := func(text string, with func(answer)) {
		m.ask(q, func(got answer) {
			if got.failed() && bad == nil {
				bad = &protocol.Fault{Kind: protocol.FaultGDB, Message: got.Results.Str("msg")}
			}
			with(got)
		}, "-data-evaluate-expression", append(m.at(q), gdbtext.Operand(text))...)
	}
	ask("&("+a.Item(0)+")", func(got answer) { a.Addr = gdbtext.AddressIn(got.Results.Str("value")) })
	ask("&("+a.Item(n-1)+")", func(got answer) { last = gdbtext.AddressIn(got.Results.Str("value")) })
	ask("sizeof ("+a.Item(0)+")", func(got answer) {
		a.Size, _ = strconv.Atoi(got.Results.Str("value"))
		if bad == nil && (a.Addr == 0 || a.Size < 1 || a.Size > gdbtext.MostElement) {
			bad = &protocol.Fault{Kind: protocol.FaultGDB, Message: fmt.Sprintf("gdb does not say where %s is", q.args.Expr)}
		}
		a.Scattered = last != a.Addr+uint64(n-1)*uint64(a.Size)
		then(a, bad)
	})
}
