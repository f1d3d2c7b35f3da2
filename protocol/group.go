package protocol

import (
	"sdm/protocol/column"
	"sdm/protocol/rank"
	"sdm/protocol/stack"
)

// Group is one payload and the set of ranks that gave it.
//
// Two groups merge when Kind and Body are equal byte for byte and their columns
// have the same names: the sets are joined and the columns merged. A Group is
// immutable once it has been handed on: nobody writes to its Body or Columns.
type Group struct {
	Kind  Kind
	Ranks rank.Set
	// Body is canonical JSON (see package canonical); for output kinds the bytes that
	// the ranks wrote.
	Body []byte
	// Columns is what differs between the ranks, sorted by name.
	Columns []column.Column
	// Stack is the merged stack tree of the ranks, or nil.
	Stack *stack.Tree
}

// Size is about what the group costs, in bytes.
func (g *Group) Size() int {
	const bare = 40
	n := bare + g.Ranks.Size() + len(g.Body) + g.Stack.Size()
	for i := range g.Columns {
		n += g.Columns[i].Size()
	}
	return n
}

// Narrow gives the part of a group that is about some ranks; false when there are
// none. Columns and stack are given as their
// methods Only do.
func (g Group) Narrow(ranks rank.Set) (Group, bool) {
	common := g.Ranks.Intersect(ranks)
	if common.IsEmpty() {
		return Group{}, false
	}
	if common.Equal(g.Ranks) {
		return g, true
	}
	out := Group{Kind: g.Kind, Ranks: common, Body: g.Body}
	for _, c := range g.Columns {
		out.Columns = append(out.Columns, c.Only(common))
	}
	if g.Stack != nil {
		out.Stack = g.Stack.Only(common)
	}
	return out, true
}
