// Package aggregate merges equal groups: answers to a request in Replies; events
// and output, in order, in Pending.
//
// Two groups are equal if kind, body and names of the columns are equal. The hash
// (xxhash64) only finds candidates; a comparison of bytes decides. Neither type
// depends on time or on the order of a map.
package aggregate

import (
	"bytes"

	"sdm/protocol"
	"sdm/protocol/column"
	"sdm/protocol/digest"
)

// hasher computes hashes: equal groups have equal hashes. The zero value is used;
// tests can make all hashes equal.
type hasher struct{ blind bool }

// sum covers the same fields as equal. The columns are hashed one by one, so that
// nothing has to be concatenated in memory.
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

// equal reports whether two groups can be merged.
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

// merge merges b, which is equal, into a. It modifies nothing that a or b refers
// to, because groups are shared.
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
	a.Waits = a.Waits.Merge(b.Waits)
}
