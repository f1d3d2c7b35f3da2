// What one rank says, and the groups that many say together.

package sim

import (
	"slices"
	"strings"

	"sdm/protocol"
	"sdm/protocol/rank"
)

// answer is what one rank says once: an answer to a request, or an event. The
// body is shared by all ranks that say the same.
type answer struct {
	kind  protocol.Kind
	body  []byte
	cells []cell // sorted by name
	stack *stack // nil: none
}

// cell is the rank's part of a column.
type cell struct{ name, value string }

// stack is a stack that many ranks may have; the pointer is its identity.
type stack struct{ frames []protocol.StackFrame }

// fold makes one group of all equal answers, in the order of first coming. The
// ranks come in any order, each once.
type fold struct {
	limit   int  // of the columns, as Args.Limit
	whole   bool // keep more values than that
	buckets []*bucket
	byBody  map[string][]*bucket
}

// bucket becomes a group.
type bucket struct {
	answer
	ranks   []rank.ID
	columns []map[string][]rank.ID // by value, one for each cell
	stacks  map[*stack][]rank.ID
}

func (f *fold) add(r rank.ID, a answer) {
	b := f.find(a)
	b.ranks = append(b.ranks, r)
	for i, c := range a.cells {
		b.columns[i][c.value] = append(b.columns[i][c.value], r)
	}
	if a.stack != nil {
		b.stacks[a.stack] = append(b.stacks[a.stack], r)
	}
}

func (f *fold) find(a answer) *bucket {
	for _, b := range f.byBody[string(a.body)] {
		if b.kind == a.kind && (b.stack == nil) == (a.stack == nil) && slices.EqualFunc(b.cells, a.cells, sameName) {
			return b
		}
	}
	b := &bucket{answer: a, stacks: map[*stack][]rank.ID{}}
	for range a.cells {
		b.columns = append(b.columns, map[string][]rank.ID{})
	}
	if f.byBody == nil {
		f.byBody = map[string][]*bucket{}
	}
	f.byBody[string(a.body)] = append(f.byBody[string(a.body)], b)
	f.buckets = append(f.buckets, b)
	return b
}

func sameName(a, b cell) bool { return a.name == b.name }

// groups gives what was folded.
func (f *fold) groups() []protocol.Group {
	var out []protocol.Group
	for _, b := range f.buckets {
		g := protocol.Group{Kind: b.kind, Ranks: rank.Of(b.ranks...), Body: b.body}
		for i, c := range b.cells {
			g.Columns = append(g.Columns, f.column(c.name, b.columns[i]))
		}
		if b.stack != nil {
			g.Stack = merged(b.stacks)
		}
		out = append(out, g)
	}
	return out
}

// column has all values of answers, even beyond the limit: whoever keeps answers
// has use for them.
func (f *fold) column(name string, values map[string][]rank.ID) protocol.Column {
	list := make([]protocol.ValueCount, 0, len(values))
	for v, ranks := range values {
		list = append(list, protocol.ValueCount{Value: v, Ranks: rank.Of(ranks...)})
	}
	c := protocol.ColumnOfValues(name, list, f.limit)
	if !f.whole {
		return c.Folded()
	}
	return c
}

func merged(stacks map[*stack][]rank.ID) *protocol.Stack {
	parts := make([]protocol.StackPart, 0, len(stacks))
	for s, ranks := range stacks {
		parts = append(parts, protocol.StackPart{Frames: s.frames, Ranks: ranks})
	}
	return protocol.StackOfParts(parts)
}

// sorted puts cells into the order of columns.
func sorted(cells []cell) []cell {
	slices.SortFunc(cells, func(a, b cell) int { return strings.Compare(a.name, b.name) })
	return cells
}
