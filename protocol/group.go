package protocol

import "sdm/protocol/rank"

// Group is one payload and the set of ranks that gave it.
//
// Two groups merge when Kind and Body are equal byte for byte and their columns
// have the same names: the sets are joined and the columns merged. A Group is
// immutable once it has been handed on: nobody writes to its Body or Columns.
type Group struct {
	Kind  Kind
	Ranks rank.Set
	// Body is canonical JSON (see Canonical); for output kinds the bytes that
	// the ranks wrote.
	Body []byte
	// Columns is what differs between the ranks, sorted by name.
	Columns []Column
	// Stack is the merged stack tree of the ranks, or nil.
	Stack *Stack
}

// Size is about what the group costs, in bytes.
func (g *Group) Size() int {
	const bare = 40
	n := bare + g.Ranks.Size() + len(g.Body) + g.Stack.Size()
	for i := range g.Columns {
		n += g.Columns[i].size()
	}
	return n
}

func (c *Column) size() int {
	const each = 16
	n := each + len(c.Name)
	for _, v := range c.values {
		n += each + len(v.Value) + v.Ranks.Size()
	}
	if c.summary != nil {
		n += c.summary.size()
	}
	return n
}

// Narrow gives the part of a group that is about some ranks; false when there are
// none. A column whose values were dropped cannot be parted and stays whole; a
// stack is given as Only does.
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
		out.Columns = append(out.Columns, c.narrow(common))
	}
	if g.Stack != nil {
		out.Stack = g.Stack.Only(common)
	}
	return out, true
}

func (c Column) narrow(ranks rank.Set) Column {
	if !c.Complete() {
		return c
	}
	out := Column{Name: c.Name}
	for _, v := range c.values {
		out = out.Merge(ColumnOf(c.Name, v.Ranks.Intersect(ranks), v.Value, c.limit))
	}
	return out
}
