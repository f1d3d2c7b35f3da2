// Requests about stacks and variables.

package dap

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	godap "github.com/google/go-dap"

	"sdm/master/session"
	"sdm/master/text"
	"sdm/protocol"
	"sdm/protocol/column"
	"sdm/protocol/rank"
)

// maxFrames bounds the frames of one answer.
const maxFrames = 1000

// stackBody is the result of backtrace.
type stackBody struct {
	Frames []protocol.Frame `json:"frames"`
	More   bool             `json:"more"`
}

// stackTrace answers with the stack that most ranks of a group have. Where others have other callers, a label says so.
func (a *adapter) stackTrace(_ time.Time, r *request) error {
	var args godap.StackTraceArguments
	if err := r.read(&args); err != nil {
		return err
	}
	g, err := a.standingGroup(args.ThreadId)
	switch {
	case err != nil:
		return err
	case args.StartFrame < 0 || args.Levels < 0:
		return errors.New("stackTrace: startFrame and levels cannot be negative")
	case g.place.beyondFirst:
		r.answer(godap.StackTraceResponseBody{StackFrames: []godap.StackFrame{label(g.name())}, TotalFrames: 1})
		return nil
	}
	if a.target.Past {
		a.pastTrace(r, g, args)
		return nil
	}
	n := args.StartFrame + min(args.Levels, maxFrames)
	if args.Levels == 0 {
		n = args.StartFrame + maxFrames
	}
	ranks := g.ranks
	return a.ask(r, session.Call{Command: "backtrace", Ranks: ranks.String(), Args: protocol.Args{Count: n}}, func(x *call) {
		var stacks []stackOf
		each(x, func(s stackBody, g protocol.Group) { stacks = append(stacks, stackOf{s, g}) })
		if len(stacks) == 0 {
			r.fail(errors.New("the answer to backtrace cannot be read"))
			return
		}
		all := a.frames(stacks, ranks, args.StartFrame)
		body := godap.StackTraceResponseBody{StackFrames: all, TotalFrames: args.StartFrame + len(all)}
		if stacks[0].More {
			body.TotalFrames += 20 // as DAP says: more than were asked for
		}
		r.answer(body)
	})
}

// stackOf is a stack and the ranks that have it.
type stackOf struct {
	stackBody
	group protocol.Group
}

// frames returns the frames of the first stack from a level on, and a label where the others differ.
func (a *adapter) frames(stacks []stackOf, ranks rank.Set, from int) []godap.StackFrame {
	main := stacks[0]
	var other rank.Set
	differ := len(main.Frames)
	for _, s := range stacks[1:] {
		other = other.Union(s.group.Ranks)
		for i := range min(differ, len(s.Frames)+1) {
			if i == len(s.Frames) || s.Frames[i].Func != main.Frames[i].Func || s.Frames[i].Line != main.Frames[i].Line {
				differ = i
				break
			}
		}
	}
	out := []godap.StackFrame{}
	for i, f := range main.Frames {
		if i < from {
			continue
		}
		if i == differ && !other.IsEmpty() {
			out = append(out, label(fmt.Sprintf("[%s] come from elsewhere (%s); from here on [%s]", text.Ranks(other),
				text.Plural(len(stacks)-1, "stack"), text.Ranks(main.group.Ranks))))
		}
		of := ranks
		if i >= differ {
			of = main.group.Ranks
		}
		out = append(out, a.stackFrame(f, of))
	}
	return out
}

// label is a line among the frames that is none.
func label(said string) godap.StackFrame {
	return godap.StackFrame{Name: said, PresentationHint: "label"}
}

func (a *adapter) stackFrame(f protocol.Frame, of rank.Set) godap.StackFrame {
	out := godap.StackFrame{
		Id: a.handles.frame(frame{of, f.Level}), Name: text.Clean(f.Func), Line: a.toClient(f.Line), Source: a.sourceOf(f),
		InstructionPointerReference: reference(frame{of, f.Level}, "$pc"),
	}
	if f.Func == "" {
		out.Name = "??"
	}
	if out.Source == nil {
		out.PresentationHint = "subtle"
		if f.From != "" {
			out.Name += " (" + filepath.Base(text.Clean(f.From)) + ")"
		}
	}
	return out
}

// sourceOf returns the source of a frame; nil: it has none. The path is that of the ranks' host.
func (a *adapter) sourceOf(f protocol.Frame) *godap.Source {
	path := f.Full
	if path == "" {
		path = f.File
	}
	if path == "" {
		return nil
	}
	s := &godap.Source{Name: filepath.Base(path)}
	if filepath.IsAbs(path) {
		s.Path, s.SourceReference = path, a.sources.number(path)
	}
	return s
}

// scopes answers with the sets of variables of a frame.
func (a *adapter) scopes(_ time.Time, r *request) error {
	var args godap.ScopesArguments
	if err := r.read(&args); err != nil {
		return err
	}
	f, err := a.handles.findFrame(args.FrameId)
	if err != nil {
		return err
	}
	if a.target.Past {
		r.answer(godap.ScopesResponseBody{Scopes: a.keptScopes(f)})
		return nil
	}
	r.answer(godap.ScopesResponseBody{Scopes: []godap.Scope{
		{Name: "Locals", PresentationHint: "locals", VariablesReference: a.handles.value(value{frame: f, scope: locals})},
		{Name: "Arguments", PresentationHint: "arguments", VariablesReference: a.handles.value(value{frame: f, scope: arguments})},
		{Name: "Registers", PresentationHint: "registers", Expensive: true,
			VariablesReference: a.handles.value(value{frame: f, scope: registers})},
	}})
	return nil
}

// on is a call about a frame.
func (f frame) on(command string, args protocol.Args) session.Call {
	level := f.level
	args.Frame = &level
	return session.Call{Command: command, Ranks: f.ranks.String(), Args: args}
}

// scopeCommands are the commands that show a set of variables.
var scopeCommands = map[scope]string{locals: "info locals", arguments: "info args", registers: "info registers"}

// variables answers with the variables of a scope, the values of several ranks, or the members of a value.
func (a *adapter) variables(_ time.Time, r *request) error {
	var args godap.VariablesArguments
	if err := r.read(&args); err != nil {
		return err
	}
	v, err := a.handles.findValue(args.VariablesReference)
	switch {
	case err != nil:
		return err
	case args.Start < 0 || args.Count < 0:
		return errors.New("variables: start and count cannot be negative")
	case v.kept != nil:
		return a.keptVariables(r, v, args)
	case v.members:
		return a.membersOf(r, v, args)
	case v.spread != nil:
		return a.byRanks(r, v, args)
	}
	return a.ask(r, v.frame.on(scopeCommands[v.scope], protocol.Args{}), func(x *call) {
		r.answer(godap.VariablesResponseBody{Variables: page(a.named(x, v), args)})
	})
}

// named returns the variables of an answer, those that most ranks have first.
func (a *adapter) named(x *call, v value) []godap.Variable {
	var names []string
	each(x, func(body struct{ Names []string }, _ protocol.Group) {
		for _, name := range body.Names {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	})
	list := make([]godap.Variable, 0, len(names))
	for _, name := range names {
		c, ok := x.values("value." + name)
		if !ok {
			continue
		}
		expr := name
		switch {
		case v.scope == registers:
			expr = "$" + name
		case a.target.Past, strings.Contains(name, "#"): // of an outer block, hidden by another one of this name
			expr = ""
		}
		out := a.variable(value{frame: v.frame, expr: expr}, c)
		out.Name = text.Clean(name)
		list = append(list, out)
	}
	if bad := x.failure(); bad != nil {
		list = append(list, godap.Variable{Name: "(no answer)", Value: bad.Error()})
	}
	return list
}

// variable returns a value as it is shown: what it is of, and its column. The name is the caller's.
func (a *adapter) variable(of value, c column.Column) godap.Variable {
	expr := of.expr
	if of.path != nil {
		expr = ""
	}
	out := godap.Variable{EvaluateName: expr, Value: text.Spread(c)}
	differs := false
	if n, _ := c.Distinct(); n > 1 {
		differs, of.spread = true, &c
	}
	if values := c.Values(); len(values) > 0 {
		if to := pointsTo(expr, values[0].Value); to != "" {
			out.MemoryReference = reference(of.frame, to)
		}
		null := len(values) == 1 && strings.HasSuffix(values[0].Value, "0x0")
		of.members = !null && (of.members || of.expr != "" && isCompound(values[0].Value))
	}
	switch {
	case of.members:
		out.VariablesReference = a.handles.value(of)
	case differs:
		out.VariablesReference = a.handles.value(of)
		out.IndexedVariables, _ = c.Distinct()
	}
	return out
}

// isCompound reports whether a value may have members: a structure, an array, a pointer, a reference to a structure.
func isCompound(value string) bool {
	return pointsTo("x", value) != "" || strings.HasPrefix(value, "@0x")
}

// byRanks answers with the values of several ranks, each with its ranks.
func (a *adapter) byRanks(r *request, v value, args godap.VariablesArguments) error {
	answer := func(c column.Column) {
		list := make([]godap.Variable, 0, len(c.Values()))
		for _, x := range c.Values() {
			out := godap.Variable{Name: "[" + text.Ranks(x.Ranks) + "]", Value: text.Clean(x.Value)}
			if v.expr != "" && isCompound(x.Value) {
				of := value{frame: frame{x.Ranks, v.frame.level}, expr: v.expr, path: v.path, members: true}
				out.VariablesReference = a.handles.value(of)
			}
			list = append(list, out)
		}
		r.answer(godap.VariablesResponseBody{Variables: page(list, args)})
	}
	if v.spread.Complete() || v.expr == "" || v.path != nil {
		answer(*v.spread)
		return nil
	}
	return a.ask(r, v.frame.on("print", protocol.Args{Expr: v.expr, Limit: -1, Pure: true}), func(x *call) {
		c, _ := x.values("value")
		answer(c)
	})
}

// membersOf answers with what a value consists of, a page of it.
func (a *adapter) membersOf(r *request, v value, args godap.VariablesArguments) error {
	ask := protocol.Args{Expr: v.expr, Path: v.path, Pure: true, First: v.from + args.Start,
		Count: protocol.DefaultMembers}
	if args.Count > 0 {
		ask.Count = min(args.Count, protocol.MaxMembers)
	}
	return a.ask(r, v.frame.on("members", ask), func(x *call) {
		list := []godap.Variable{}
		if v.spread != nil && ask.First == 0 && args.Filter != "indexed" {
			by := value{frame: v.frame, expr: v.expr, path: v.path, spread: v.spread}
			n, _ := v.spread.Distinct()
			list = append(list, godap.Variable{Name: "[by rank]", Value: text.Plural(n, "value"), IndexedVariables: n,
				VariablesReference: a.handles.value(by)})
		}
		exprs := map[string]string{}
		more, left := 0, false
		each(x, func(body protocol.Members, _ protocol.Group) {
			for _, m := range body.List {
				if _, known := exprs[m.Name]; known {
					continue
				}
				exprs[m.Name] = m.Expr
				list = append(list, a.member(x, v, m))
			}
			if body.More && !left {
				left, more = true, body.First+len(body.List)
			}
		})
		if left && args.Count == 0 {
			rest := value{frame: v.frame, expr: v.expr, path: v.path, members: true, from: more}
			list = append(list, godap.Variable{Name: fmt.Sprintf("[%d...]", more), Value: "further ones",
				VariablesReference: a.handles.value(rest)})
		}
		a.handles.remember(args.VariablesReference, exprs)
		r.answer(godap.VariablesResponseBody{Variables: list})
	})
}

// member returns a member as it is shown.
func (a *adapter) member(x *call, v value, m protocol.Member) godap.Variable {
	of := value{frame: v.frame, expr: m.Expr, members: m.Count != 0}
	if m.Expr == "" {
		of.expr, of.path = v.expr, append(slices.Clone(v.path), m.Name)
	}
	c, ok := x.values("value." + m.Name)
	out := godap.Variable{Value: "?"}
	if ok {
		out = a.variable(of, c)
	}
	out.Name = text.Clean(m.Name)
	if a.client.SupportsVariableType {
		out.Type = text.Clean(m.Type)
	}
	if m.Count > 0 {
		out.IndexedVariables = m.Count
	}
	return out
}

// page returns the part of a list that was asked for.
func page(list []godap.Variable, args godap.VariablesArguments) []godap.Variable {
	start := min(args.Start, len(list))
	end := len(list)
	if args.Count > 0 {
		end = min(end, start+args.Count)
	}
	return list[start:end]
}
