// Columns of answers, divided by ranks.

package ptp

import (
	"sdm/protocol"
	"sdm/protocol/rank"
)

// cell is a value and the ranks that have it.
type cell struct {
	ranks rank.Set
	value string
}

type cells []cell

// cellsOf returns the values of a column; ranks without a value have otherwise.
func cellsOf(g protocol.Group, name, otherwise string) cells {
	rest := g.Ranks
	var out cells
	c, _ := g.Column(name)
	for _, v := range c.Values() {
		if ranks := v.Ranks.Intersect(rest); !ranks.IsEmpty() {
			out = append(out, cell{ranks, v.Value})
			rest = rest.Minus(ranks)
		}
	}
	if !rest.IsEmpty() {
		out = append(out, cell{rest, otherwise})
	}
	return out
}

// in returns the cells of some ranks.
func (c cells) in(ranks rank.Set) cells {
	var out cells
	for _, x := range c {
		if common := x.ranks.Intersect(ranks); !common.IsEmpty() {
			out = append(out, cell{common, x.value})
		}
	}
	return out
}

// everyValue is the limit of columns that must be complete.
const everyValue = -1

// by divides the cells by the cells of another column and joins the values with a space.
func (c cells) by(other cells) cells {
	var out cells
	for _, x := range c {
		for _, y := range other.in(x.ranks) {
			out = append(out, cell{y.ranks, x.value + " " + y.value})
		}
	}
	return out
}
