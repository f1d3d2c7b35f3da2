// The command expand.

package console

import (
	"sdm/master/session"
	"sdm/master/text"
	"sdm/protocol"
	"sdm/protocol/rank"
)

// folded is an answer that was truncated.
type folded struct {
	id     protocol.RequestID
	asked  text.Asked
	groups []protocol.Group
}

// keptFolded is how many of them expand can show; the servers keep as many.
const keptFolded = 8

// foldedAnswers are the truncated answers that expand can show, the last one last.
type foldedAnswers []folded

func (l *foldedAnswers) keep(f folded) {
	*l = append(*l, f)
	if len(*l) > keptFolded {
		*l = (*l)[1:]
	}
}

// expand writes the n-th last folded answer in full. If values were dropped on the way up the tree,
// it requests them again.
func (c *console) expand(n int, typed bool) error {
	if n > len(c.folded) {
		c.say(notFolded(len(c.folded))) // not an error, which would end a script
		return nil
	}
	f := c.folded[len(c.folded)-n]
	if args, ranks := f.nextPage(); !ranks.IsEmpty() {
		x := &call{asked: text.Asked{Command: f.asked.Command}, typed: typed, page: true}
		return c.beginAwaited(x, session.Call{Command: f.asked.Command, Ranks: c.setText(ranks), Wait: c.wait, Args: args})
	}
	was, _ := c.answersText(f.asked, f.groups, c.states)
	f.asked.Full = true
	if f.complete() && c.cfg.Format == Text {
		if s, _ := c.answersText(f.asked, f.groups, c.states); s != was {
			c.print(c.fitted(s))
		} else {
			c.say("there is no more to show of it") // the last page
		}
		return nil
	}
	ranks := protocol.RanksOf(f.groups, protocol.KindResult)
	x := &call{asked: f.asked, typed: typed}
	return c.beginAwaited(x, session.Call{Command: "expand", Ranks: c.setText(ranks), Wait: c.wait,
		Args: protocol.Args{Of: f.id, Limit: -1}})
}

// pageSize is how many elements of an array are requested at a time, as gdb prints at most.
const pageSize = 200

// nextPage returns the arguments that show further elements or members of what print or members has truncated, and the
// ranks that have some; no rank if there are none. The group with the most ranks determines where it continues.
func (f folded) nextPage() (args protocol.Args, ranks rank.Set) {
	most := 0
	for _, g := range f.groups {
		next, more := f.after(g)
		if g.Kind != protocol.KindResult || !more {
			continue
		}
		ranks = ranks.Union(g.Ranks)
		if g.Ranks.Len() > most {
			args, most = next, g.Ranks.Len()
		}
	}
	return args, ranks
}

// after returns the arguments for what follows one answer.
func (f folded) after(g protocol.Group) (next protocol.Args, more bool) {
	switch f.asked.Command {
	case "print":
		p := text.PageOf(g)
		next = protocol.Args{Expr: p.Array(), Format: p.Format, First: p.Last + 1, Last: p.Last + pageSize}
		return next, p.Elements > p.Last+1
	case "members":
		m := text.MembersOf(g)
		return protocol.Args{Expr: m.Expr, Path: m.Path, First: m.First + len(m.List), Count: len(m.List)}, m.More
	}
	return protocol.Args{}, false
}

func notFolded(have int) string {
	if have > 0 {
		return "only " + text.Plural(have, "folded answer") + " can be expanded"
	}
	return "no answer was folded"
}

func (f folded) complete() bool {
	for _, g := range f.groups {
		for _, col := range g.Columns {
			if !col.Complete() {
				return false
			}
		}
	}
	return true
}
