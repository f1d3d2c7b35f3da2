// The values that a hang file has.

package dap

import (
	"fmt"
	"strings"

	godap "github.com/google/go-dap"

	"sdm/master/session"
	"sdm/master/text"
)

// Kept is a command whose answers a hang file has.
type Kept struct {
	Line string // as it was typed
	Call session.Call
}

// keptScopes are the sets of variables of a frame of a hang file. What was asked without the number of a frame is of
// the frame that was selected then, and shown with each.
func (a *adapter) keptScopes(f frame) []godap.Scope {
	list := []godap.Scope{}
	add := func(name, hint string, kept ...int) {
		if len(kept) > 0 {
			ref := a.handles.value(value{frame: f, kept: kept})
			list = append(list, godap.Scope{Name: name, PresentationHint: hint, VariablesReference: ref})
		}
	}
	var prints []int
	for i, k := range a.target.Kept {
		at := k.Call.Args.Frame
		switch command := k.Call.Command; {
		case command == "print":
			prints = append(prints, i)
		case command != "info locals" && command != "info args", at != nil && *at != f.level:
		case at == nil:
			add(text.Clean(k.Line)+" (selected frame)", "", i)
		case command == "info locals":
			add("Locals", "locals", i)
		default:
			add("Arguments", "arguments", i)
		}
	}
	add("Values in the file", "", prints...)
	return list
}

// keptVariables answers with the variables of such a set.
func (a *adapter) keptVariables(r *request, v value, args godap.VariablesArguments) error {
	parts := make([][]godap.Variable, len(v.kept))
	owed := 1 // this function itself
	over := func() {
		if owed--; owed > 0 {
			return
		}
		list := []godap.Variable{}
		for _, part := range parts {
			list = append(list, part...)
		}
		r.answer(godap.VariablesResponseBody{Variables: page(list, args)})
	}
	for i, n := range v.kept {
		k := a.target.Kept[n]
		k.Call.Ranks = v.frame.ranks.String()
		owed++
		if a.callFor(r, k.Call, func(x *call) {
			parts[i] = a.keptPart(x, v.frame, k)
			over()
		}) != nil {
			over()
		}
	}
	over()
	return nil
}

// keptPart returns the variables in an answer of the file.
func (a *adapter) keptPart(x *call, f frame, k Kept) []godap.Variable {
	if k.Call.Command != "print" {
		return a.named(x, value{frame: f})
	}
	out := godap.Variable{Value: "(no answer)"}
	if c, ok := x.values("value"); ok {
		out = a.variable(value{frame: f}, c)
	} else if bad := x.failure(); bad != nil {
		out.Value = bad.Error()
	}
	out.Name = text.Clean(k.Call.Args.Expr)
	return []godap.Variable{out}
}

// keptPrint returns the call that the file answers with the values of an expression.
func (a *adapter) keptPrint(expr string) (session.Call, error) {
	var has []string
	for _, k := range a.target.Kept {
		if k.Call.Command != "print" {
			continue
		}
		if k.Call.Args.Expr == strings.TrimSpace(expr) {
			return k.Call, nil
		}
		has = append(has, k.Call.Args.Expr)
	}
	if len(has) == 0 {
		return session.Call{}, fmt.Errorf("the hang file has no values (sdm watch --also 'print %s' keeps them)", clip(expr))
	}
	return session.Call{}, fmt.Errorf("the hang file has no values of %s, only of %s", clip(expr), clip(strings.Join(has, ", ")))
}
