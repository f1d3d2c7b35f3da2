// Groups of equal answers.

package protocol

import (
	"encoding/json"

	"sdm/protocol/column"
	"sdm/protocol/rank"
	"sdm/protocol/stack"
	"sdm/protocol/wait"
)

// Group is one payload and the set of ranks that gave it.
//
// Two groups are merged if Kind and Body are equal byte for byte and their columns
// have the same names: the sets are joined and the columns merged. A Group is
// immutable once it has been passed on; its Body and Columns must not be modified.
type Group struct {
	Kind  Kind
	Ranks rank.Set
	// Body is canonical JSON (see package canonical); for output kinds, the bytes
	// that the ranks wrote.
	Body []byte
	// Columns are the values that differ between the ranks, sorted by name.
	Columns []column.Column
	// Stack is the merged stack tree of the ranks, or nil.
	Stack *stack.Tree
	// Waits is what the ranks wait for, or nil.
	Waits *wait.Graph
}

// RanksOf returns the ranks of the groups of a kind.
func RanksOf(groups []Group, kind Kind) (ranks rank.Set) {
	for _, g := range groups {
		if g.Kind == kind {
			ranks = ranks.Union(g.Ranks)
		}
	}
	return ranks
}

// HasFault reports whether the ranks answered with a fault of this kind.
func (g Group) HasFault(kind FaultKind) bool {
	var f Fault
	return g.Kind == KindFault && json.Unmarshal(g.Body, &f) == nil && f.Kind == kind
}

// HasNote reports whether this is a note with this text.
func (g Group) HasNote(text string) bool {
	var n Note
	return g.Kind == KindNote && json.Unmarshal(g.Body, &n) == nil && n.Text == text
}

// Column returns the column of a name; ok is false, and the column has no values, if there is none.
func (g Group) Column(name string) (c column.Column, ok bool) {
	for _, c := range g.Columns {
		if c.Name == name {
			return c, true
		}
	}
	return column.Column{}, false
}

// Size returns the approximate memory of the group, in bytes.
func (g *Group) Size() int {
	const bare = 40
	n := bare + g.Ranks.Size() + len(g.Body) + g.Stack.Size() + g.Waits.Size()
	for i := range g.Columns {
		n += g.Columns[i].Size()
	}
	return n
}

// Narrow returns the part of a group that concerns some ranks; false if there is
// none. Columns, stack and waits are restricted by their methods Only.
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
	out.Waits = g.Waits.Only(common)
	return out, true
}
