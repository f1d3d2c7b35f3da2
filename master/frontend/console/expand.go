package console

import (
	"sdm/master/frontend/console/text"
	"sdm/master/session"
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

func (c *console) keep(f folded) {
	c.folded = append(c.folded, f)
	if len(c.folded) > keptFolded {
		c.folded = c.folded[1:]
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
	if paged, err := c.nextPage(f, typed); paged {
		return err
	}
	was, _ := c.answersText(f.asked, f.groups)
	f.asked.Full = true
	if f.complete() && c.cfg.Format == Text {
		if s, _ := c.answersText(f.asked, f.groups); s != was {
			c.print(s)
		} else {
			c.say("there is no more to show of it") // the last page
		}
		return nil
	}
	var ranks rank.Set
	for _, g := range f.groups {
		if g.Kind == protocol.KindResult {
			ranks = ranks.Union(g.Ranks)
		}
	}
	x := &call{asked: f.asked, typed: typed}
	s := session.Call{Command: "expand", Ranks: c.setText(ranks), Wait: c.wait, Args: protocol.Args{Of: f.id, Limit: -1}}
	if err := c.begin(x, s); err != nil {
		return err
	}
	c.await = await{call: x}
	return nil
}

// pageSize is how many elements of an array are requested at a time, as gdb prints at most.
const pageSize = 200

// nextPage shows further elements of arrays that print has truncated. It tells whether there are
// any. The group with the most ranks determines where it continues.
func (c *console) nextPage(f folded, typed bool) (bool, error) {
	var page text.Page
	var ranks rank.Set
	most := 0
	for _, g := range f.groups {
		p := text.PageOf(g)
		if g.Kind != protocol.KindResult || f.asked.Command != "print" || p.Elements <= p.Last+1 {
			continue
		}
		ranks = ranks.Union(g.Ranks)
		if g.Ranks.Len() > most {
			page, most = p, g.Ranks.Len()
		}
	}
	if most == 0 {
		return false, nil
	}
	x := &call{asked: text.Asked{Command: "print"}, typed: typed, page: true}
	args := protocol.Args{Expr: page.Array(), Format: page.Format, First: page.Last + 1, Last: page.Last + pageSize}
	if err := c.begin(x, session.Call{Command: "print", Ranks: c.setText(ranks), Wait: c.wait, Args: args}); err != nil {
		return true, err
	}
	c.await = await{call: x}
	return true, nil
}

func notFolded(have int) string {
	if have > 0 {
		return "only " + plural(have, "folded answer") + " can be expanded"
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
