// Requests that DAP does not have, for extensions of editors: their names begin with sdm/.

package dap

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"sdm/master/language"
	"sdm/master/session"
	"sdm/master/text"
	"sdm/protocol"
	"sdm/protocol/rank"
)

// customArguments are those of all these requests.
type customArguments struct {
	// Ranks is the text of a set; "" is the focus.
	Ranks string `json:"ranks"`
	// Set is the new focus, of sdm/focus.
	Set        string `json:"set"`
	Expression string `json:"expression"`
	FrameId    int    `json:"frameId"`
	// By is "function" or "line", of sdm/stackTree.
	By string `json:"by"`
	// Samples are taken of running ranks, each of which stops for a moment.
	Samples int `json:"samples"`
}

// on returns the set that a request is about.
func (c customArguments) on(a *adapter) string {
	if c.Ranks != "" {
		return c.Ranks
	}
	return a.focus.String()
}

// stateRow is a row of sdm/states.
type stateRow struct {
	Ranks string `json:"ranks"`
	N     int    `json:"n"`
	session.Status
	ThreadId int `json:"threadId,omitempty"` // the group of the ranks, if it is listed
}

// sdmStates answers with all ranks by their states, ended ones too; without a call of the session.
func (a *adapter) sdmStates(_ time.Time, r *request) error {
	a.refresh()
	rows := []stateRow{}
	for _, s := range a.states.Groups(a.all) {
		row := stateRow{Ranks: s.Ranks.String(), N: s.Ranks.Len(), Status: s.Status}
		for _, g := range a.groups.listed {
			if s.Ranks.Minus(g.ranks).IsEmpty() {
				row.ThreadId = g.id
			}
		}
		rows = append(rows, row)
	}
	r.answer(struct {
		All    string     `json:"all"`
		Focus  string     `json:"focus"`
		States []stateRow `json:"states"`
	}{a.all.String(), a.focus.String(), rows})
	return nil
}

// sdmFocus shows the focus, or changes it, also that of the debug console.
func (a *adapter) sdmFocus(_ time.Time, r *request) error {
	var args customArguments
	if err := r.read(&args); err != nil {
		return err
	}
	if args.Set == "" {
		r.answer(focusBody(a.focus))
		return nil
	}
	return a.ask(r, session.Call{Command: "focus", Args: protocol.Args{Set: args.Set}}, func(x *call) {
		if !a.focusOn(x.results()) {
			r.fail(fmt.Errorf("sdm/focus: there are no ranks in %s", clip(args.Set)))
			return
		}
		a.typeFocus()
		r.answer(focusBody(a.focus))
	})
}

// setBody is a set of ranks.
type setBody struct {
	Ranks string `json:"ranks"`
	N     int    `json:"n"`
}

func focusBody(ranks rank.Set) setBody { return setBody{ranks.String(), ranks.Len()} }

// focusOn changes the focus and tells the client; false: no ranks of the view are in it.
func (a *adapter) focusOn(ranks rank.Set) bool {
	if ranks = ranks.Intersect(a.all); ranks.IsEmpty() {
		return false
	}
	if !ranks.Equal(a.focus) {
		a.focus = ranks
		a.event("sdm/focus", focusBody(ranks))
	}
	return true
}

// typeFocus makes the focus that of the debug console.
func (a *adapter) typeFocus() {
	if a.console.lines != nil {
		_ = a.typedLine(&request{a: a, answered: true}, "focus "+a.focus.String()) // it cannot fail
	}
}

// said is the text of answers, as the console writes it, and their groups.
type said struct {
	Text    string                       `json:"text"`
	Stack   []json.RawMessage            `json:"stack,omitempty"`
	Verdict []session.Finding            `json:"verdict,omitempty"`
	Columns []map[string]json.RawMessage `json:"columns,omitempty"`
}

// sdmStackTree answers with the merged stack tree.
func (a *adapter) sdmStackTree(_ time.Time, r *request) error {
	var args customArguments
	if err := r.read(&args); err != nil {
		return err
	}
	return a.tellStacks(r, args, text.Asked{Command: "stacks"}, protocol.Args{By: args.By, Samples: args.Samples})
}

// sdmWaits answers with why the ranks do not go on.
func (a *adapter) sdmWaits(_ time.Time, r *request) error {
	var args customArguments
	if err := r.read(&args); err != nil {
		return err
	}
	asked := text.Asked{Command: "stacks", Export: "waits"}
	return a.tellStacks(r, args, asked, protocol.Args{Samples: language.WaitSamples, Every: language.WaitEvery})
}

func (a *adapter) tellStacks(r *request, args customArguments, asked text.Asked, with protocol.Args) error {
	c := session.Call{Command: "stacks", Ranks: args.on(a), Args: with}
	if with.Samples > 0 {
		c.Wait = -1
	}
	return a.ask(r, c, func(x *call) {
		body := said{Verdict: x.end.Verdict}
		body.Text, _ = a.writer.Answers(asked, x.groups)
		for _, g := range x.groups {
			if g.Stack != nil {
				if b, err := g.Stack.MarshalJSON(); err == nil {
					body.Stack = append(body.Stack, b)
				}
			}
		}
		r.answer(body)
	})
}

// sdmStat answers with the statistics of an expression over the ranks.
func (a *adapter) sdmStat(_ time.Time, r *request) error {
	var args customArguments
	if err := r.read(&args); err != nil {
		return err
	}
	if args.Expression == "" {
		return errors.New("sdm/stat: which expression?")
	}
	c := session.Call{Command: "stat", Ranks: args.Ranks, Args: protocol.Args{Expr: args.Expression, Pure: true}}
	if args.FrameId != 0 {
		f, err := a.handles.findFrame(args.FrameId)
		if err != nil {
			return err
		}
		c.Args.Frame = &f.level
	}
	if c.Ranks == "" {
		c.Ranks = a.states.In(session.Stopped).Intersect(a.focus).String()
	}
	if c.Ranks == "" {
		return errors.New("no rank stands: there are no values")
	}
	return a.ask(r, c, func(x *call) {
		var body said
		body.Text, _ = a.writer.Answers(text.Asked{Command: "stat"}, x.groups)
		for _, g := range x.groups {
			columns := map[string]json.RawMessage{}
			for _, c := range g.Columns {
				if b, err := c.Described().MarshalJSON(); err == nil {
					columns[c.Name] = b
				}
			}
			if g.Kind == protocol.KindResult {
				body.Columns = append(body.Columns, columns)
			}
		}
		r.answer(body)
	})
}
