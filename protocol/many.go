// Columns and stacks of many ranks at once, for those who know sets.

package protocol

import (
	"slices"
	"strings"

	"sdm/protocol/rank"
)

// ColumnOf makes the column of ranks that all gave one value: what merging the
// columns that NewColumn makes for each of them gives, at the cost of one. The
// column of no ranks is empty.
func ColumnOf(name string, ranks rank.Set, value string, limit int) Column {
	lowest, ok := ranks.Min()
	if !ok {
		return Column{Name: name}
	}
	c := NewColumn(name, lowest, value, limit)
	c.values[0].Ranks = ranks
	return c
}

// ColumnOfValues makes the column of the ranks of several values, each of which
// is there once and has ranks of its own: what merging the columns of each of
// them gives, at the cost of one, but with all of the values, even beyond the
// limit. A server keeps such a column for expand and hands on what Folded gives;
// merging folds it as well. It takes the list over.
func ColumnOfValues(name string, values []ValueCount, limit int) Column {
	c := NewColumn(name, 0, "", limit)
	slices.SortFunc(values, func(a, b ValueCount) int { return strings.Compare(a.Value, b.Value) })
	c.values = values
	return c
}

// Folded gives the column without its values when there are more than it may
// keep.
func (c Column) Folded() Column {
	if c.summary != nil || c.limit < 0 || len(c.values) <= c.limit {
		return c
	}
	return Column{Name: c.Name, limit: c.limit, summary: summarize(c.values)}
}

// StackPart is a stack, outermost frame first, and the ranks that have one thread
// each there.
type StackPart struct {
	Frames []StackFrame
	Ranks  []rank.ID
}

// StackOfParts makes the tree of many stacks: what merging the trees of StackOf
// gives, at the cost of one. It sorts the list.
func StackOfParts(parts []StackPart) *Stack {
	for i := range parts {
		parts[i].Frames = validated(shortened(parts[i].Frames))
	}
	slices.SortFunc(parts, func(a, b StackPart) int {
		return slices.CompareFunc(a.Frames, b.Frames, func(f, g StackFrame) int { return f.compare(&g) })
	})
	return &Stack{roots: nodesOf(parts, 0)}
}

// validated gives frames that are as valid makes them, the list itself if they are
// already.
func validated(frames []StackFrame) []StackFrame {
	for i := range frames {
		if frames[i].valid() != frames[i] {
			frames = slices.Clone(frames)
			for i := range frames {
				frames[i] = frames[i].valid()
			}
			break
		}
	}
	return frames
}

// nodesOf makes the nodes of the frames at a depth of parts that are the same up
// to there.
func nodesOf(parts []StackPart, depth int) []*StackNode {
	for len(parts) > 0 && len(parts[0].Frames) == depth {
		parts = parts[1:] // shorter ones come first, and have been counted above
	}
	var out []*StackNode
	for len(parts) > 0 {
		frame := &parts[0].Frames[depth]
		n := 1
		for n < len(parts) && parts[n].Frames[depth].compare(frame) == 0 {
			n++
		}
		var ranks []rank.ID
		for _, p := range parts[:n] {
			ranks = append(ranks, p.Ranks...)
		}
		out = append(out, &StackNode{Frame: *frame, Ranks: rank.Of(ranks...), Threads: len(ranks), children: nodesOf(parts[:n], depth+1)})
		parts = parts[n:]
	}
	return out
}

// StackOf makes the tree of ranks that have one thread each, with the same
// frames, outermost first: what merging the trees that NewStack makes for each
// of them gives, at the cost of one.
func StackOf(ranks rank.Set, frames []StackFrame) *Stack {
	lowest, ok := ranks.Min()
	if !ok {
		return &Stack{}
	}
	s := NewStack(lowest, frames)
	n := ranks.Len()
	for nodes := s.roots; len(nodes) > 0; nodes = nodes[0].children {
		nodes[0].Ranks, nodes[0].Threads = ranks, n
	}
	return s
}
