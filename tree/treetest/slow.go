// Simple reference implementations of the types in package aggregate.

package treetest

import (
	"bytes"
	"slices"

	"sdm/protocol"
	"sdm/protocol/column"
	"sdm/protocol/rank"
	"sdm/protocol/wire"
)

// SlowReplies does the same as aggregate.Replies, rank by rank and without a hash.
type SlowReplies struct {
	owed   map[rank.ID]bool
	groups []protocol.Group
}

// Expect is as in aggregate.Replies.
func (s *SlowReplies) Expect(ranks rank.Set) {
	if s.owed == nil {
		s.owed = make(map[rank.ID]bool)
	}
	for r := range ranks.All() {
		s.owed[r] = true
	}
}

// Add is as in aggregate.Replies.
func (s *SlowReplies) Add(g protocol.Group) bool {
	var fresh []rank.ID
	for r := range g.Ranks.All() {
		if s.owed[r] {
			fresh = append(fresh, r)
			delete(s.owed, r)
		}
	}
	if len(fresh) == 0 {
		return false
	}
	g.Ranks = rank.Of(fresh...)
	for i := range s.groups {
		if Alike(s.groups[i], g) {
			s.groups[i] = join(s.groups[i], g)
			return true
		}
	}
	s.groups = append(s.groups, g)
	return true
}

// Owed is as in aggregate.Replies.
func (s *SlowReplies) Owed() rank.Set {
	var ids []rank.ID
	for r := range s.owed {
		ids = append(ids, r)
	}
	return rank.Of(ids...)
}

// Take is as in aggregate.Replies.
func (s *SlowReplies) Take() []protocol.Group {
	groups := s.groups
	s.groups = nil
	slices.SortStableFunc(groups, func(a, b protocol.Group) int {
		x, _ := a.Ranks.Min()
		y, _ := b.Ranks.Min()
		return int(x) - int(y)
	})
	return groups
}

// SlowPending does the same as aggregate.Pending, as its documentation defines it.
type SlowPending struct{ groups []protocol.Group }

// Add is as in aggregate.Pending.
func (s *SlowPending) Add(g protocol.Group) {
	if g.Ranks.IsEmpty() {
		return
	}
	after := 0
	for i, other := range s.groups {
		for r := range g.Ranks.All() {
			if other.Ranks.Contains(r) {
				after = i + 1
			}
		}
	}
	for i := after; i < len(s.groups); i++ {
		if Alike(s.groups[i], g) {
			s.groups[i] = join(s.groups[i], g)
			return
		}
	}
	if g.Kind != protocol.KindRunning {
		after = len(s.groups)
	}
	s.groups = slices.Insert(s.groups, after, g)
}

// Take is as in aggregate.Pending.
func (s *SlowPending) Take() []protocol.Group {
	groups := s.groups
	s.groups = nil
	return groups
}

// Alike reports whether two groups can be merged.
func Alike(a, b protocol.Group) bool {
	names := func(g protocol.Group) (list []string) {
		for _, c := range g.Columns {
			list = append(list, c.Name)
		}
		return list
	}
	return a.Kind == b.Kind && bytes.Equal(a.Body, b.Body) && slices.Equal(names(a), names(b))
}

func join(a, b protocol.Group) protocol.Group {
	var columns []column.Column
	for i := range a.Columns {
		columns = append(columns, a.Columns[i].Merge(b.Columns[i]))
	}
	a.Ranks, a.Columns = a.Ranks.Union(b.Ranks), columns
	if a.Stack != nil || b.Stack != nil {
		a.Stack = SlowStack(a.Stack, b.Stack)
	}
	a.Waits = a.Waits.Merge(b.Waits)
	return a
}

// Bytes returns groups in wire format: equal groups have equal bytes.
func Bytes(groups []protocol.Group) []byte {
	return wire.Append(nil, &wire.Message{Kind: wire.Events, Groups: groups})
}

// Text returns groups as text, one in each line.
func Text(groups []protocol.Group) string {
	var b bytes.Buffer
	for _, g := range groups {
		b.WriteString(g.String() + "\n")
	}
	return b.String()
}
