// Requests that change values, and those that few editors send.

package dap

import (
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf16"

	godap "github.com/google/go-dap"

	"sdm/master/language"
	"sdm/master/session"
	"sdm/master/text"
	"sdm/protocol"
	"sdm/protocol/rank"
)

// assign gives an expression a value on the ranks of a frame, and calls then with the new values.
func (a *adapter) assign(r *request, f frame, expr, text string, then func(godap.Variable)) error {
	if strings.TrimSpace(text) == "" {
		return errors.New(r.command + ": which value?")
	}
	set := f.on("set variable", protocol.Args{Expr: expr + " = " + text})
	return a.ask(r, set, func(x *call) {
		if bad := x.failure(); bad != nil {
			a.say("important", bad.Error())
		}
		shown := f.on("print", protocol.Args{Expr: expr})
		if bad := a.ask(r, shown, func(y *call) {
			c, _ := y.values("value")
			then(a.variable(value{frame: f, expr: expr}, c))
		}); bad != nil {
			r.fail(bad)
		}
	})
}

// setVariable gives a variable a value on all ranks of its frame, or on those of one of its values.
func (a *adapter) setVariable(_ time.Time, r *request) error {
	var args godap.SetVariableArguments
	if err := r.read(&args); err != nil {
		return err
	}
	v, err := a.handles.findValue(args.VariablesReference)
	if err != nil {
		return err
	}
	expr, f, err := v.variable(args.Name)
	if err != nil {
		return err
	}
	return a.assign(r, f, expr, args.Value, func(x godap.Variable) {
		r.answer(godap.SetVariableResponseBody{Value: x.Value, VariablesReference: x.VariablesReference,
			IndexedVariables: x.IndexedVariables})
	})
}

// variable returns the expression of a variable by the name under which it is shown, and the ranks that it is about.
func (v value) variable(name string) (expr string, f frame, err error) {
	f = v.frame
	switch {
	case v.spread != nil && !v.members:
		expr, f.ranks = v.expr, rank.Set{}
		for _, x := range v.spread.Values() {
			if "["+text.Ranks(x.Ranks)+"]" == name {
				f.ranks = x.Ranks
			}
		}
		if f.ranks.IsEmpty() {
			return "", f, fmt.Errorf("no ranks %s have a value of their own", clip(name))
		}
	case v.members:
		expr = v.exprs[name]
	case v.scope == registers:
		expr = "$" + name
	default:
		expr = name
	}
	if expr == "" || v.path != nil {
		return "", f, fmt.Errorf("there is no expression for %s", clip(name))
	}
	return expr, f, nil
}

// setExpression gives an expression a value on the ranks of a frame.
func (a *adapter) setExpression(_ time.Time, r *request) error {
	var args godap.SetExpressionArguments
	if err := r.read(&args); err != nil {
		return err
	}
	f, err := a.handles.findFrame(args.FrameId)
	if err != nil {
		return err
	}
	return a.assign(r, f, args.Expression, args.Value, func(x godap.Variable) {
		r.answer(godap.SetExpressionResponseBody{Value: x.Value, VariablesReference: x.VariablesReference,
			IndexedVariables: x.IndexedVariables})
	})
}

// maxSource bounds the lines of a source, as list does.
const maxSource = 10_000

// source answers with the text of a source, as the hosts of the ranks have it.
func (a *adapter) source(_ time.Time, r *request) error {
	var args godap.SourceArguments
	if err := r.read(&args); err != nil {
		return err
	}
	path := a.sources.path(args.SourceReference)
	if path == "" && args.Source != nil {
		path = args.Source.Path
	}
	if path == "" {
		return fmt.Errorf("there is no source %d", args.SourceReference)
	}
	one, ok := a.states.In(session.Stopped).Min()
	if !ok {
		return errors.New("no rank stands: sources cannot be read")
	}
	list := session.Call{Command: "list", Ranks: rank.Of(one).String(),
		Args: protocol.Args{Location: path + ":1", To: fmt.Sprintf("%s:%d", path, maxSource)}}
	return a.ask(r, list, func(x *call) {
		var b strings.Builder
		for _, g := range x.groups {
			listed, ok := text.ListedLines(g)
			if !ok {
				continue
			}
			for _, line := range listed.Lines {
				b.WriteString(line.Text + "\n")
			}
			break
		}
		r.answer(godap.SourceResponseBody{Content: b.String()})
	})
}

// sources are the sources that the client fetches from us.
type sources struct {
	fetched bool // Start.FetchSources
	numbers map[string]int
	paths   []string
}

// number returns the number of a source; 0: the client finds it by its path.
func (s *sources) number(path string) int {
	if !s.fetched {
		return 0
	}
	if n := s.numbers[path]; n != 0 {
		return n
	}
	if s.numbers == nil {
		s.numbers = map[string]int{}
	}
	s.paths = append(s.paths, path)
	s.numbers[path] = len(s.paths)
	return len(s.paths)
}

// path returns the path of a number; "": there is none.
func (s *sources) path(number int) string {
	if number < 1 || number > len(s.paths) {
		return ""
	}
	return s.paths[number-1]
}

// completions answers with the words that are possible at a place in a line of the debug console.
func (a *adapter) completions(_ time.Time, r *request) error {
	var args godap.CompletionsArguments
	if err := r.read(&args); err != nil {
		return err
	}
	column := args.Column
	if a.client.ColumnsStartAt1 {
		column--
	}
	units := utf16.Encode([]rune(args.Text))
	if column < 0 || column > len(units) {
		return fmt.Errorf("completions: there is no column %d", args.Column)
	}
	line := string(utf16.Decode(units[:column]))
	words, replaced := language.Complete(line, nil)
	n := len(utf16.Encode([]rune(line[len(line)-replaced:])))
	list := make([]godap.CompletionItem, 0, len(words))
	for _, word := range words {
		item := godap.CompletionItem{Label: word, Start: column - n, Length: n}
		if a.client.ColumnsStartAt1 {
			item.Start++
		}
		list = append(list, item)
	}
	r.answer(godap.CompletionsResponseBody{Targets: list})
	return nil
}

// restart starts the program again on the ranks that sdm has started.
func (a *adapter) restart(_ time.Time, r *request) error {
	args := protocol.Args{}
	ranks := ""
	if a.pinned {
		ranks = a.all.String()
	}
	if a.start.StopOnEntry {
		args.Location = "main"
	}
	return a.ask(r, session.Call{Command: "run", Ranks: ranks, Wait: -1, Args: args}, func(x *call) {
		if bad := x.failure(); bad != nil {
			a.say("important", bad.Error())
		}
		a.over, a.status = false, nil
		r.answer(nil)
	})
}

// exceptionInfo tells why the ranks of a group have stopped.
func (a *adapter) exceptionInfo(_ time.Time, r *request) error {
	var args godap.ExceptionInfoArguments
	if err := r.read(&args); err != nil {
		return err
	}
	g, err := a.standingGroup(args.ThreadId)
	if err != nil {
		return err
	}
	id := g.status.Signal
	if id == "" {
		id = g.status.Reason
	}
	r.answer(godap.ExceptionInfoResponseBody{ExceptionId: text.Clean(id), Description: g.name(), BreakMode: "always"})
	return nil
}

// terminateThreads kills the ranks of groups.
func (a *adapter) terminateThreads(_ time.Time, r *request) error {
	var args godap.TerminateThreadsArguments
	if err := r.read(&args); err != nil {
		return err
	}
	a.refresh()
	var ranks rank.Set
	for _, id := range args.ThreadIds {
		g, err := a.groups.find(id)
		if err != nil {
			return err
		}
		ranks = ranks.Union(g.ranks)
	}
	if ranks.IsEmpty() {
		return errors.New("terminateThreads: which threads?")
	}
	return a.ask(r, session.Call{Command: "kill", Ranks: ranks.String()}, func(*call) { r.answer(nil) })
}

// cancel ends a request: a launch or attach, and what it has started; a line of the debug console is interrupted; what
// else is asked for is not waited for.
func (a *adapter) cancel(_ time.Time, r *request) error {
	var args godap.CancelArguments
	if err := r.read(&args); err != nil {
		return err
	}
	x := a.open[args.RequestId]
	r.answer(nil)
	c := &a.console
	switch {
	case args.ProgressId == startProgress && a.opening != nil, x != nil && x == a.opening:
		a.cancelStart()
	case args.ProgressId != "" || x == nil || x == r:
	case len(c.queue) > 0 && c.queue[0].r == x:
		tell(c.lines.interrupts)
	default:
		for i := range c.queue {
			if c.queue[i].r == x {
				c.queue = append(c.queue[:i:i], c.queue[i+1:]...)
				break
			}
		}
		a.cancelCalls(x)
		x.fail(errCancelled)
	}
	return nil
}
