// Calls of the session and their answers.

package dap

import (
	"encoding/json"
	"errors"
	"slices"

	"sdm/master/session"
	"sdm/master/text"
	"sdm/protocol"
	"sdm/protocol/column"
	"sdm/protocol/rank"
)

// call is a call of the session.
type call struct {
	command string
	request *request // that it is for; nil: for none alone
	groups  []protocol.Group
	end     session.Done
	then    func(*call)
}

// call makes a call; then is called when it is complete, unless the session ends before.
func (a *adapter) call(c session.Call, then func(*call)) error { return a.callFor(nil, c, then) }

func (a *adapter) callFor(r *request, c session.Call, then func(*call)) error {
	id, err := a.do(c)
	if err != nil {
		return err
	}
	a.calls[id] = &call{command: c.Command, request: r, then: then}
	return nil
}

// cancelCalls ends the calls that are for a request: what has not answered is not waited for, and ranks go on with what
// they do.
func (a *adapter) cancelCalls(r *request) {
	var ids []protocol.RequestID
	for id, x := range a.calls {
		if x.request == r {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	for _, id := range ids {
		a.calls[id].then = func(*call) {}
		// A call that has just ended needs no end.
		_ = a.call(session.Call{Command: "cancel", Args: protocol.Args{Of: id}}, func(*call) {})
	}
}

// ask makes a call for a request, which fails if the call is refused or no rank has a result.
func (a *adapter) ask(r *request, c session.Call, then func(*call)) error {
	return a.callFor(r, c, func(x *call) {
		a.guard(r, func() {
			if x.results().IsEmpty() {
				r.fail(x.failure())
				return
			}
			then(x)
		})
	})
}

// answered processes an answer.
func (a *adapter) answered(e session.Event) {
	x := a.calls[e.ID]
	if e.Command == "stacks" {
		e = a.verdict.Look(e)
	}
	switch {
	case x == nil || e.Late:
	case e.Done != nil:
		delete(a.calls, e.ID)
		x.end = *e.Done
		slices.SortStableFunc(x.groups, func(g, h protocol.Group) int { return h.Ranks.Len() - g.Ranks.Len() })
		x.then(x)
	default:
		x.groups = append(x.groups, e.Group)
	}
}

// results returns the ranks with results.
func (x *call) results() rank.Set { return protocol.RanksOf(x.groups, protocol.KindResult) }

// failure says which ranks have no result, and why; nil: all have.
func (x *call) failure() error {
	var bad []protocol.Group
	for _, g := range x.groups {
		switch g.Kind {
		case protocol.KindFault, protocol.KindMissing, protocol.KindLost:
			bad = append(bad, g)
		}
	}
	switch {
	case len(bad) > 0:
		var w text.Writer
		said, _ := w.Answers(text.Asked{Command: x.command}, bad)
		return errors.New(trim(said))
	case x.results().IsEmpty():
		return errors.New("no rank has answered")
	}
	return nil
}

// each calls f with each group of results, the greatest first, and its body as T.
func each[T any](x *call, f func(body T, g protocol.Group)) {
	for _, g := range x.groups {
		var body T
		if g.Kind == protocol.KindResult && json.Unmarshal(g.Body, &body) == nil {
			f(body, g)
		}
	}
}

// values returns a column of all results.
func (x *call) values(name string) (column.Column, bool) {
	var all column.Column
	found := false
	for _, g := range x.groups {
		if c, ok := g.Column(name); ok && g.Kind == protocol.KindResult {
			if found {
				c = all.Merge(c)
			}
			all, found = c, true
		}
	}
	return all, found
}
