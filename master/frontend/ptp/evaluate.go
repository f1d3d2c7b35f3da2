// Values, as AIF.

package ptp

import (
	"context"

	"sdm/protocol/ptp"
)

// evaluate is EVALUATE EXPRESSION: the whole value, of a pointer with its target.
func evaluate(ctx context.Context, j *action, args arguments) {
	j.evaluate(ctx, args[0], "", true)
}

// evaluatePartial is EVALUATE PARTIAL EXPR: without children, a structure and an array are sent
// empty, and a pointer without its target.
func evaluatePartial(ctx context.Context, j *action, args arguments) {
	whole := isTrue(args[2])
	j.evaluate(ctx, args[0], j.name(args[1], args[0], whole), whole)
}

func (j *action) evaluate(ctx context.Context, expr, name string, whole bool) {
	v := &valuer{action: j, whole: whole}
	values := v.values(ctx, expr, j.ranks, true)
	for _, x := range values {
		j.say(ptp.EventData, x.ranks, x.is.Format, x.is.Argument(), ptp.Latin1(x.name), name)
	}
	if name != "" { // a stop tells whether it has changed since
		now := shownBy(v.first)
		j.shown = append(j.shown, shown{name, append(now, sent(values, unseen(now, j.ranks))...)})
	}
}

const (
	// maxResolved bounds the names of types that are looked up for one value.
	maxResolved = 64
	// maxData bounds the bytes that are read of an array that is evaluated as a whole; it is
	// truncated to that, but not below a page.
	maxData = 32 << 10
	// pageOfArray is how many elements of an array Eclipse asks for at once.
	pageOfArray = 100
	// maxWhole bounds the bytes that are read of any other value. A larger one is sent as text.
	maxWhole = 1 << 20
)
