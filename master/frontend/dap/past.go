// The ranks of a hang file as threads.

package dap

import (
	"slices"

	godap "github.com/google/go-dap"

	"sdm/master/session"
	"sdm/master/text"
	"sdm/protocol"
	"sdm/protocol/rank"
	"sdm/protocol/stack"
)

// past are the stacks that the ranks of a hang file had, by the group of ranks.
type past map[*group][]protocol.Frame

// recall asks the file for its stacks, and then goes on as with ranks that stand.
func (a *adapter) recall() {
	then := func(x *call) {
		a.past = past{}
		var seen rank.Set
		for _, g := range x.groups {
			if g.Kind == protocol.KindResult && g.Stack != nil {
				for _, root := range text.Roots(g.Stack) {
					seen = a.recallFrom(root, nil, seen)
				}
			}
		}
		slices.SortFunc(a.groups.listed, byRank)
		if len(a.groups.listed) > maxThreads {
			a.groups.cut(nil, rank.Set{})
		}
		a.given = true
		a.settle()
	}
	if bad := a.call(session.Call{Command: "stacks"}, then); bad != nil {
		then(&call{})
	}
}

// recallFrom makes groups of the ranks whose first thread ends in a part of the tree. seen are those that have one.
func (a *adapter) recallFrom(n *stack.Node, outer []protocol.Frame, seen rank.Set) rank.Set {
	f := n.Frame
	frames := append(slices.Clone(outer), protocol.Frame{Func: f.Func, File: f.File, Line: f.Line, From: f.From})
	here := n.Ranks
	for _, child := range n.Children() {
		here = here.Minus(child.Ranks)
		seen = a.recallFrom(child, frames, seen)
	}
	if here = here.Minus(seen); here.IsEmpty() {
		return seen
	}
	slices.Reverse(frames)
	key, at := placeOf(frames)
	for i := range frames {
		frames[i].Level = i
	}
	g := a.groups.all[key]
	if g == nil {
		g = &group{place: at}
		a.groups.number(g)
		if a.groups.all == nil {
			a.groups.all = map[place]*group{}
		}
		a.groups.all[key] = g
		a.groups.listed = append(a.groups.listed, g)
		a.past[g] = frames
	}
	g.ranks = g.ranks.Union(here)
	return seen.Union(here)
}

// placeOf returns the place of a stack, innermost frame first: that of its innermost frame with source, if there is
// one, as with ranks that have stopped in a library. Those with other callers are at another place, by its key.
func placeOf(frames []protocol.Frame) (key, at place) {
	i := max(0, slices.IndexFunc(frames, func(f protocol.Frame) bool { return f.File != "" }))
	at = place{state: session.Stopped, fn: frames[i].Func, where: session.Where(frames[i])}
	key = at
	for _, f := range frames[i:] {
		key.callers += f.Func + " " + session.Where(f) + "\n"
	}
	return key, at
}

// showPast tells the client that the ranks stand as the file has it.
func (a *adapter) showPast() {
	came, _ := a.groups.news()
	for _, id := range came {
		a.event("thread", godap.ThreadEventBody{Reason: "started", ThreadId: id})
	}
	if g := a.greatest(a.all, rank.Set{}); g != nil {
		a.event("stopped", godap.StoppedEventBody{
			Reason: "pause", Description: "as it was when the hang file was written", ThreadId: g.id, AllThreadsStopped: true,
		})
	}
}

// refresh derives the groups from the states of the ranks; those of a hang file stay.
func (a *adapter) refresh() {
	if !a.target.Past {
		a.groups.update(a.states, rank.Set{})
	}
}

// pastTrace answers with the stack of a group of a hang file.
func (a *adapter) pastTrace(r *request, g *group, args godap.StackTraceArguments) {
	frames := a.past[g]
	total := len(frames)
	list := []godap.StackFrame{}
	for _, f := range frames[min(args.StartFrame, total):] {
		if args.Levels > 0 && len(list) == args.Levels {
			break
		}
		list = append(list, a.stackFrame(f, g.ranks))
	}
	r.answer(godap.StackTraceResponseBody{StackFrames: list, TotalFrames: total})
}
