// Arrays as gdb's expressions reach them.

package values

import (
	"fmt"
	"strconv"
	"strings"

	"sdm/backend/gdb/gdbtext"
	"sdm/backend/gdb/request"
	"sdm/protocol"
	"sdm/protocol/sideeffect"
)

// arrayOf calls then with the array that the expression of a request denotes, or with the reason why it
// cannot be treated as one.
func (ar *arrays) arrayOf(q *request.Request, then func(a gdbtext.Array, refusal *protocol.Fault)) {
	expr := q.Printing().Expr
	k := ar.Ask(q, func(answered request.Answer) {
		if answered.Failed() {
			then(gdbtext.Array{}, &protocol.Fault{Kind: protocol.FaultGDB, Message: answered.Results.Str("msg")})
			return
		}
		a, ok := gdbtext.ParseArray(expr, answered.Text)
		a.Kind = gdbtext.KindOf(strings.TrimPrefix(strings.TrimSpace(answered.Text), "type = "))
		if a.Text {
			a.Kind = gdbtext.Characters
		}
		switch {
		case sideeffect.Of(expr, a.Shape.Fortran):
			then(gdbtext.Array{}, &protocol.Fault{Kind: protocol.FaultGDB, Message: "the elements of " + expr + " would be got by evaluating it again"})
		case !ok:
			then(gdbtext.Array{OfObjects: strings.Contains(answered.Text, "std::")},
				&protocol.Fault{Kind: protocol.FaultGDB, Message: expr + " is not an array"})
		case a.Text:
			ar.lengthOfText(q, a, then)
		case a.Count == "":
			ar.placeArray(q, a, then)
		default:
			ar.Ask(q, func(c request.Answer) {
				a.Shape.Dims[0].Count, _ = strconv.Atoi(c.Results.Str("value"))
				ar.placeArray(q, a, then)
			}, "-data-evaluate-expression", append(ar.At(q), gdbtext.Operand(a.Count))...)
		}
	}, "-interpreter-exec", append(ar.At(q), "console", "ptype/mt "+expr)...)
	k.Print = true
}

// placeArray asks for the addresses of the first and the last element and for the size of one, and calls
// then.
func (ar *arrays) placeArray(q *request.Request, a gdbtext.Array, then func(gdbtext.Array, *protocol.Fault)) {
	n := a.Shape.Elements()
	if n == 0 {
		then(a, &protocol.Fault{Kind: protocol.FaultGDB, Message: q.Args.Expr + " has no elements"})
		return
	}
	var last uint64
	var bad *protocol.Fault
	ask := func(text string, with func(request.Answer)) {
		ar.Ask(q, func(got request.Answer) {
			if got.Failed() && bad == nil {
				bad = &protocol.Fault{Kind: protocol.FaultGDB, Message: got.Results.Str("msg")}
			}
			with(got)
		}, "-data-evaluate-expression", append(ar.At(q), gdbtext.Operand(text))...)
	}
	ask("&("+a.Item(0)+")", func(got request.Answer) { a.Addr = gdbtext.AddressIn(got.Results.Str("value")) })
	ask("&("+a.Item(n-1)+")", func(got request.Answer) { last = gdbtext.AddressIn(got.Results.Str("value")) })
	ask("sizeof ("+a.Item(0)+")", func(got request.Answer) {
		a.Size, _ = strconv.Atoi(got.Results.Str("value"))
		if bad == nil && (a.Addr == 0 || a.Size < 1 || a.Size > gdbtext.MaxElement) {
			bad = &protocol.Fault{Kind: protocol.FaultGDB, Message: fmt.Sprintf("gdb does not say where %s is", q.Args.Expr)}
		}
		a.Scattered = last != a.Addr+uint64(n-1)*uint64(a.Size)
		then(a, bad)
	})
}
