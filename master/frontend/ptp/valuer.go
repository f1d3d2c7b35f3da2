// The parts of a value that gdb prints.

package ptp

import (
	"context"
	"encoding/json"
	"regexp"
	"strings"

	"sdm/protocol"
	"sdm/protocol/ptp"
	"sdm/protocol/rank"
	"sdm/protocol/sideeffect"
)

// value is the value of an expression on some ranks.
type value struct {
	ranks rank.Set
	is    ptp.Value
	name  string // of the type, as in the program
	none  bool   // it is a reason why there is no value
}

// valuer finds the values of one expression. An expression with side effects is evaluated once,
// except structures, arrays, and pointers with targets: for these gdb is also asked for an address.
type valuer struct {
	*action
	whole bool
	asked int // number of names that were resolved
	// What print shows of the expression, which is asked for with its type: values of most types can be
	// read from it.
	expr  string
	first []protocol.Group
	early *layout // what was asked for with the name of the type; nil: nothing
}

// failed is the value of ranks that have none: the reason, as text. After an ERROR for some ranks of a
// set Eclipse loses the values of the others, or fails to show the variable at the next stop.
func failed(g protocol.Group) value {
	x := value{ranks: g.Ranks, none: true}
	var fault protocol.Fault
	var missing protocol.Missing
	switch {
	case g.Kind != protocol.KindFault:
		_ = json.Unmarshal(g.Body, &missing) // without a cause if it cannot be read
		x.is = ptp.TextValue("no answer: " + missing.Cause)
	case json.Unmarshal(g.Body, &fault) != nil:
		x.is = ptp.TextValue(string(g.Body))
	default:
		x.is = ptp.TextValue(fault.Message)
	}
	return x
}

// printed reads the value from the output of print. What cannot be read is sent as text.
func (v *valuer) printed(ctx context.Context, expr string, ranks rank.Set, format string,
	read func(text string) (ptp.Value, error)) []value {
	out := v.readFirst(expr, ranks, format, read)
	for _, x := range out {
		ranks = ranks.Minus(x.ranks)
	}
	for _, g := range v.ask(ctx, "print", ranks, protocol.Args{Expr: expr, Format: format, Limit: everyValue}) {
		if g.Kind != protocol.KindResult {
			out = append(out, failed(g))
			continue
		}
		for _, c := range cellsOf(g, "value", "") {
			text := strings.TrimSpace(c.value)
			is, err := read(text)
			if err != nil {
				is = ptp.TextValue(text)
			}
			out = append(out, value{ranks: c.ranks, is: is})
		}
	}
	return out
}

// readFirst reads the value from what was asked for with the type. Ranks for which this is not possible
// are not in the result.
func (v *valuer) readFirst(expr string, ranks rank.Set, format string,
	read func(text string) (ptp.Value, error)) []value {
	plain := strings.TrimPrefix(expr, wholeText)
	if plain != v.expr {
		return nil
	}
	var out []value
	for _, g := range v.first {
		if g.Ranks = g.Ranks.Intersect(ranks); g.Kind != protocol.KindResult || g.Ranks.IsEmpty() {
			continue
		}
		for _, c := range cellsOf(g, "value", "") {
			text := strings.TrimSpace(c.value)
			if expr != plain && isShort.MatchString(text) {
				continue
			}
			if format == "d" {
				text = numberIn(text)
			}
			if is, err := read(text); err == nil {
				out = append(out, value{ranks: c.ranks, is: is})
			}
		}
	}
	return out
}

// isShort matches what gdb shows of a text or an array that is not all of it.
var isShort = regexp.MustCompile(`\.\.\.|<repeats `)

// text returns the output of print.
func (v *valuer) text(ctx context.Context, expr string, ranks rank.Set) []value {
	return v.printed(ctx, expr, ranks, "", textOf)
}

// show asks for what gdb shows of an expression.
func (j *action) show(ctx context.Context, expr string, ranks rank.Set) calls {
	if sideeffect.Of(expr, false) { // then only when Eclipse asks for it
		return nil
	}
	return j.post(ctx, "print", ranks, protocol.Args{Expr: expr, Limit: everyValue})
}
