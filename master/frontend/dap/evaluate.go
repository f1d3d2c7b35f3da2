// Expressions, and lines of the debug console.

package dap

import (
	"errors"
	"strings"
	"time"

	godap "github.com/google/go-dap"

	"sdm/master/session"
	"sdm/protocol"
)

// evaluate carries out a line of the debug console, or shows a value without changing anything.
func (a *adapter) evaluate(_ time.Time, r *request) error {
	var args godap.EvaluateArguments
	if err := r.read(&args); err != nil {
		return err
	}
	if args.Context == "repl" {
		return a.typedLine(r, args.Expression)
	}
	f := frame{ranks: a.states.In(session.Stopped).Intersect(a.focus)}
	if a.target.Past {
		f.ranks = a.focus
	}
	if args.FrameId != 0 {
		var err error
		if f, err = a.handles.findFrame(args.FrameId); err != nil {
			return err
		}
	}
	switch {
	case strings.TrimSpace(args.Expression) == "":
		return errors.New("evaluate: no expression")
	case f.ranks.IsEmpty():
		return errors.New("no rank stands: there are no values")
	}
	ask, expr := f.on("print", protocol.Args{Expr: args.Expression, Pure: true}), args.Expression
	if a.target.Past {
		var err error
		if ask, err = a.keptPrint(expr); err != nil {
			return err
		}
		ask.Ranks, expr = f.ranks.String(), ""
	}
	return a.ask(r, ask, func(x *call) {
		c, ok := x.values("value")
		if !ok {
			r.fail(errors.New("there is no value"))
			return
		}
		v := a.variable(value{frame: f, expr: expr}, c)
		if bad := x.failure(); bad != nil {
			v.Value += "  (" + bad.Error() + ")"
		}
		r.answer(godap.EvaluateResponseBody{Result: v.Value, VariablesReference: v.VariablesReference,
			IndexedVariables: v.IndexedVariables, MemoryReference: v.MemoryReference})
	})
}
