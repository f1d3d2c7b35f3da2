// Package aggregate provides the folding of equal groups into one: answers to a
// request in Replies, and what ranks do unasked, in order, in Pending.
//
// Two groups are equal when kind, body and names of the columns are. The hash
// (xxhash64) only finds the candidate; bytes decide. Neither machine knows time,
// and no order of a map can be seen in what they give.
package aggregate

import (
	"bytes"

	"sdm/protocol"
	"sdm/protocol/column"
	"sdm/protocol/digest"
)

// hasher gives equal groups equal numbers. The zero value is the one to use; in
// tests another may give the same number to all.
type hasher struct{ blind bool }

// sum covers all that equal looks at. The columns are mixed in one by one, so
// that nothing has to be put together in memory.
func (f hasher) sum(g *protocol.Group) uint64 {
	if f.blind {
		return 7
	}
	const odd = 0x9e3779b97f4a7c15
	h := digest.Of(g.Body) ^ uint64(g.Kind)*odd
	for i := range g.Columns {
		h = h*odd ^ digest.OfText(g.Columns[i].Name)
	}
	return h
}

// equal tells whether two groups are one but for their ranks.
func equal(a, b *protocol.Group) bool {
	if a.Kind != b.Kind || len(a.Columns) != len(b.Columns) || !bytes.Equal(a.Body, b.Body) {
		return false
	}
	for i := range a.Columns {
		if a.Columns[i].Name != b.Columns[i].Name {
			return false
		}
	}
	return true
}

// merge adds b, which is equal, to a. What both refer to stays as it is: groups
// that were handed on are not written to.
func merge(a *protocol.Group, b *protocol.Group) {
	a.Ranks = a.Ranks.Union(b.Ranks)
	if len(a.Columns) > 0 {
		columns := make([]column.Column, len(a.Columns))
		for i := range columns {
			columns[i] = a.Columns[i].Merge(b.Columns[i])
		}
		a.Columns = columns
	}
	if b.Stack != nil {
		a.Stack = a.Stack.Merge(b.Stack)
	}
}
